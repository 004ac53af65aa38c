"""`baohuang rules`: the rule sets and their options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, get_args, get_type_hints

import typer

from baohuang.cli.files import LanguageOption
from baohuang.cli.words import text
from baohuang.rules.cards import DECKS
from baohuang.rules.errors import RuleSetError
from baohuang.rules.ruleset import PRESETS, RuleSet
from baohuang.words import Language, preset_name

app = typer.Typer(help="The rule sets and their options.", rich_markup_mode=None)

MEANINGS: Final = {
    "deck_size": ("cards in the deck: 165, 168 or 216", "牌数"),
    "throne": ("how the throne may change hands before play", "皇位如何易手"),
    "guard_by": ("what makes a player the guard", "侍卫由什么决定"),
    "adds_cards": ("who passes a yielded throne on adds a card", "让位者加牌"),
    "solo_claims": ("all are asked whether they play an open solo", "询问明独"),
    "open_guard": ("what a guard's declaration does", "明保的作用"),
    "rebellion": ("what rebels' declarations do", "造反的作用"),
    "counters": ("counter and recounter", "扭和踢"),
    "twos_fill": ("a two played with another rank counts as that rank", "2可配牌"),
    "two_big_beat_big": ("two big jokers beat one", "两张大王管一张"),
    "kaopai": ("extended joker comparison", "烤牌"),
    "three_twos_beat_big_joker": ("three twos beat a big joker", "三张2管一张大王"),
    "called_card_is_top": ("the called card alone ranks above big jokers", "叫的牌最大"),
    "grab_solo": ("anyone may take the throne to play an open solo", "抢独"),
    "hold_back_sixes": ("sixes must be the last set", "憋6"),
    "jokers_with_last_sixes": ("jokers may be hung on the last sixes", "最后的6可挂王"),
    "hold_back_threes": ("threes must be the last set", "憋三"),
    "all_refuse": ("what follows when nobody takes an offered throne", "无人接皇位时"),
    "tribute": ("the next hand's tribute", "进贡"),
    "tribute_return": ("receivers of tribute give cards back", "还贡"),
    "show_counts": ("when others see how many cards a player holds", "何时显示剩余牌数"),
}
"""What each part and option of a rule set means, English and Chinese."""


@app.command("list")
def list_rules(lang: LanguageOption = Language.ENGLISH) -> None:
    """List the rule sets."""
    for name, rules in PRESETS.items():
        print(f"{name:<18} {preset_name(name, lang)}: {_summary(rules, lang)}")


@app.command("show")
def show(
    preset: Annotated[str, typer.Argument(metavar="PRESET", help=f"One of {', '.join(PRESETS)}.")],
    lang: LanguageOption = Language.ENGLISH,
) -> None:
    """Show a rule set: each option with its default, its meaning, and what it alone may be set to."""
    rules = RuleSet.preset(preset)
    print(f"{preset}: {preset_name(preset, lang)}; {_summary(rules, lang)}")
    for name, (english, chinese) in MEANINGS.items():
        value = _word(getattr(rules, name))
        print(f"  {f'{name}={value}':<33} {lang.say(english, chinese)} ({_choices(rules, name, lang)})")


def _choices(rules: RuleSet, name: str, lang: Language) -> str:
    allowed = [_word(value) for value in _allowed(rules, name)]
    if len(allowed) == 1:
        return text(lang, "fixed")
    return f"{text(lang, 'may_be')} {text(lang, 'separator').join(allowed)}"


def _summary(rules: RuleSet, lang: Language) -> str:
    return text(lang, "separator").join(
        [
            text(lang, "rules_deck", size=rules.deck_size),
            text(lang, f"rules_throne_{rules.throne}"),
            text(lang, f"rules_guard_{rules.guard_by}"),
        ]
    )


def _allowed(rules: RuleSet, name: str) -> list[Any]:
    """The values of one option with which the rule set, otherwise unchanged, can work."""
    allowed = []
    for value in _values(name):
        try:
            rules.replace(**{name: value})
        except RuleSetError:
            continue
        allowed.append(value)
    return allowed


def _values(name: str) -> list[Any]:
    hint = get_type_hints(RuleSet)[name]
    kind = (get_args(hint) or (hint,))[0]
    if kind is bool:
        return [True, False]
    return list(kind) if issubclass(kind, StrEnum) else list(DECKS)


def _word(value: object) -> str:
    return "–" if value is None else str(value).lower()
