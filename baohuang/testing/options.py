"""Sets of options: every one that a preset takes, and a few that together hold every pair of values."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product

from baohuang.rules.errors import RuleSetError
from baohuang.rules.ruleset import PRESETS, OptionValue, RuleSet

OPTIONS = (
    "kaopai",
    "three_twos_beat_big_joker",
    "called_card_is_top",
    "grab_solo",
    "hold_back_sixes",
    "jokers_with_last_sixes",
    "hold_back_threes",
    "all_refuse",
    "tribute",
    "tribute_return",
    "show_counts",
)
"""The options of R2.5; what else a rule set has are the parts that make up the presets."""

Choice = tuple[tuple[str, OptionValue], ...]


@lru_cache
def options_of(preset: str) -> dict[str, tuple[OptionValue, ...]]:
    """The options that can be changed in a preset, each with the values that it takes there by itself."""
    found: dict[str, tuple[OptionValue, ...]] = {}
    for name in OPTIONS:
        values = RuleSet.values_of(name)
        taken = tuple(value for value in values if _takes(preset, ((name, value),)))
        # Holding back sixes in the folk rules asks to give up the threes first (R7.4).
        if name == "hold_back_sixes" and PRESETS[preset].hold_back_threes:
            taken = values
        if len(taken) > 1:
            found[name] = taken
    return found


def _takes(preset: str, choice: Choice) -> bool:
    try:
        RuleSet.preset(preset, **dict(choice))
    except RuleSetError:
        return False
    return True


@lru_cache
def all_choices(preset: str) -> tuple[Choice, ...]:
    """Every combination of a preset's options that can work."""
    options = options_of(preset)
    choices = [tuple(zip(options, values, strict=True)) for values in product(*options.values())]
    return tuple(choice for choice in choices if _takes(preset, choice))


@lru_cache
def pairwise(preset: str) -> tuple[RuleSet, ...]:
    """Rule sets that together hold every pair of option values that can go together in `preset`."""
    choices = all_choices(preset)
    wanted = {pair for choice in choices for pair in combinations(choice, 2)}
    chosen: list[RuleSet] = []
    while wanted:
        best = max(choices, key=lambda choice: len(wanted.intersection(combinations(choice, 2))))
        wanted.difference_update(combinations(best, 2))
        chosen.append(RuleSet.preset(preset, **dict(best)))
    return tuple(chosen)
