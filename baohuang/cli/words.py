"""What the command says besides the words of the game (baohuang.words), in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from baohuang.words import Language

TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "hidden": ("(hidden)", "（不可见）"),
    "separator": (", ", "、"),
    "comma": (", ", "，"),
    "column_bot": ("bot", "机器人"),
    "column_role": ("role", "身份"),
    "column_place": ("place", "名次"),
    "column_score": ("score", "得分"),
    "may_be": ("may be", "可取"),
    "fixed": ("fixed here", "此处不可改"),
    "played": ("{rules}  seed={seed}  {how}", "{rules}  种子：{seed}  {how}"),
    "rules": ("Rules: {rules}", "规则：{rules}"),
    "seed": ("Seed: {seed}", "种子：{seed}"),
    "commitment": ("Commitment: {commitment}", "承诺：{commitment}"),
    "first_drawer": ("First drawer: {seat}", "先摸牌：{seat}"),
    "due_debt": ("{giver} owes {receiver} his highest card", "{giver}被清三，须向{receiver}进贡最大的一张牌"),
    "due_tribute": ("{giver} owes {receiver} a tribute", "{giver}须向{receiver}进贡"),
    "nonce": ("{seat} adds the nonce {nonce}", "{seat}加入随机串 {nonce}"),
    "hand": ("{seat}: ", "{seat}："),
    "count": (" ({count})", "（{count}张）"),
    "deal": ("Deal", "发牌"),
    "redeal": ("Redeal {redeal}", "第{redeal}次重新发牌"),
    "opening": ("Opening", "开局"),
    "trick": ("Trick {number}: ", "第{number}轮："),
    "pass": ("pass", "过牌"),
    "leads_by_wind": ("{seat} has the wind", "{seat}接风"),
    "result": ("Result: {how}", "结果：{how}"),
    "penalty": ("penalty {points}", "罚分 {points}"),
    "unfinished": ("The record ends here; the hand is running.", "记录到此为止，本局尚未结束。"),
    "rules_name": ("{name}: {summary}", "{name}：{summary}"),
    "rules_option": ("{meaning} ({choices})", "{meaning}（{choices}）"),
    "rules_deck": ("{size} cards", "{size}张牌"),
    "rules_throne_fixed": ("no yielding of the throne", "不可让位"),
    "rules_throne_offer": ("a holder of both marked jokers may offer the throne", "兼有皇牌和保牌者可让位"),
    "rules_throne_upstream": ("the throne may be yielded upstream", "可向上家让位"),
    "rules_throne_bottom_cards": (
        "three of a kind in one suit take the throne",
        "有三张同花同点牌者可当皇帝",
    ),
    "rules_guard_guard_joker": ("the guard joker makes the guard", "持保牌者为侍卫"),
    "rules_guard_called_card": ("a called card makes the guard", "叫牌定侍卫"),
}
"""By key, English and Chinese."""


def text(language: Language, key: str, **values: object) -> str:
    """The text of `key` with `values` put in."""
    return language.say(*TEXTS[key]).format(**values)
