"""`baohuang rules`: the rule sets and their options."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from baohuang.cli.files import LanguageOption
from baohuang.cli.words import text
from baohuang.rules.errors import RuleSetError
from baohuang.rules.ruleset import PRESETS, OptionValue, RuleSet, option_text
from baohuang.words import Language, preset_name

app = typer.Typer(help="The rule sets and their options.", rich_markup_mode=None)

MEANINGS: Final = {
    "deck_size": ("cards in the deck: 165, 168 or 216", "牌数"),
    "throne": ("how the throne may change hands before play", "皇位如何易手"),
    "guard_by": ("what makes a player the guard", "侍卫如何产生"),
    "adds_cards": ("who passes a yielded throne on adds a card", "接手后再让位须贴牌"),
    "solo_claims": ("all are asked whether they play an open solo", "询问各家是否明独"),
    "open_guard": ("what a guard's declaration does", "明保的作用"),
    "rebellion": ("what rebels' declarations do", "造反的作用"),
    "counters": ("counter and recounter", "扭和踢"),
    "twos_fill": ("a two played with another rank counts as that rank", "2可当配牌"),
    "two_big_beat_big": ("two big jokers beat one", "两张大王管一张大王"),
    "kaopai": ("extended joker comparison", "烤牌：可多挂王来管王"),
    "three_twos_beat_big_joker": ("three twos beat a big joker", "三张2管一张大王"),
    "called_card_is_top": ("the called card alone ranks above big jokers", "单出所叫的牌最大"),
    "grab_solo": ("anyone may take the throne to play an open solo", "各家可抢独"),
    "hold_back_sixes": ("sixes must be the last set", "憋6：6须最后一手出完"),
    "jokers_with_last_sixes": ("jokers may be hung on the last sixes", "最后的6可挂王"),
    "hold_back_threes": ("threes must be the last set", "憋三：3须最后一手出完"),
    "all_refuse": ("what follows when nobody takes an offered throne", "无人接皇位时"),
    "tribute": ("the next hand's tribute", "下一局进贡"),
    "tribute_return": ("receivers of tribute give cards back", "收贡者还贡"),
    "show_counts": ("when others see how many cards a player holds", "何时显示剩余牌数"),
}
"""What each part and option of a rule set means, English and Chinese."""


@app.command("list")
def list_rules(lang: LanguageOption = Language.ENGLISH) -> None:
    """List the rule sets."""
    for name, rules in PRESETS.items():
        print(f"{name:<18} {_headline(rules, lang)}")


@app.command("show")
def show(
    preset: Annotated[str, typer.Argument(metavar="PRESET", help=f"One of {', '.join(PRESETS)}.")],
    lang: LanguageOption = Language.ENGLISH,
) -> None:
    """Show a rule set: each option with its default, its meaning, and what it alone may be set to."""
    rules = RuleSet.preset(preset)
    print(f"{preset:<18} {_headline(rules, lang)}")
    for name, (english, chinese) in MEANINGS.items():
        value = _word(getattr(rules, name))
        told = text(
            lang, "rules_option", meaning=lang.say(english, chinese), choices=_choices(rules, name, lang)
        )
        print(f"  {f'{name}={value}':<33} {told}")


def _choices(rules: RuleSet, name: str, lang: Language) -> str:
    allowed = [_word(value) for value in _allowed(rules, name)]
    if len(allowed) == 1:
        return text(lang, "fixed")
    return f"{text(lang, 'may_be')} {text(lang, 'separator').join(allowed)}"


def _headline(rules: RuleSet, lang: Language) -> str:
    summary = text(lang, "comma").join(
        [
            text(lang, "rules_deck", size=rules.deck_size),
            text(lang, f"rules_throne_{rules.throne}"),
            text(lang, f"rules_guard_{rules.guard_by}"),
        ]
    )
    return text(lang, "rules_name", name=preset_name(rules.name, lang), summary=summary)


def _allowed(rules: RuleSet, name: str) -> list[OptionValue]:
    """The values of one option with which the rule set, otherwise unchanged, can work."""
    allowed = []
    for value in RuleSet.values_of(name):
        try:
            rules.replace(**{name: value})
        except RuleSetError:
            continue
        allowed.append(value)
    return allowed


def _word(value: OptionValue) -> str:
    return "–" if value is None else option_text(value)
