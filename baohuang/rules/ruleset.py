"""Rule sets as data: five presets, their parts and options, validated (R2)."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, Final, Self, get_args, get_type_hints

from baohuang.rules.cards import DECKS, SIX, THREE, Card, Hand, Rank, parse_ranked_cards
from baohuang.rules.cover import CoverTable, Shape
from baohuang.rules.errors import CardError, Reason, RuleSetError
from baohuang.rules.shapes import find_shape, no_play


class Throne(StrEnum):
    """How the throne may change hands before play (§5.1)."""

    FIXED = "fixed"
    """The holder of the emperor joker is emperor (R5.4)."""
    OFFER = "offer"
    """A holder of both marked jokers may offer it round the table (R5.1)."""
    UPSTREAM = "upstream"
    """It may be yielded upstream (R5.2, R5.3)."""
    BOTTOM_CARDS = "bottom_cards"
    """All are asked in turn, who declines lays a bottom card (R10.1)."""


class GuardBy(StrEnum):
    """What makes a player the guard (R5.5)."""

    GUARD_JOKER = "guard_joker"
    CALLED_CARD = "called_card"


class OpenGuard(StrEnum):
    """What an open guard's declaration does (R5.8)."""

    NONE = "none"
    SHOWS = "shows"
    DOUBLES = "doubles"


class Rebellion(StrEnum):
    """What rebels' declarations do (R5.9)."""

    NONE = "none"
    SHOWS = "shows"
    """Each shows that he is a rebel, alone too."""
    DOUBLES = "doubles"
    """Two or more reveal the guard and double the score."""


class AllRefuse(StrEnum):
    """What happens when nobody takes an offered throne (R5.1)."""

    LOSE = "lose"
    VOID = "void"
    MUST_PLAY = "must_play"


class ShowCounts(StrEnum):
    """When others see how many cards a player holds (R11.1)."""

    ALWAYS = "always"
    AT_MOST_10 = "at_most_10"
    NEVER = "never"


OptionValue = bool | int | StrEnum | None
"""A value of a part or option of a rule set."""


@dataclass(frozen=True)
class RuleSet:
    """The rules of one game. Independent parts; `preset` names the one that it started from.

    Make one with `RuleSet.preset`, or `replace(**changes)` on another; both refuse, with the reason, what
    cannot work. Equal rule sets are equal values and may be shared.
    """

    name: str
    """The preset that it was made from."""
    deck_size: int
    throne: Throne
    guard_by: GuardBy
    adds_cards: bool = False
    """Who passes a yielded throne on adds a card (R5.2)."""
    solo_claims: bool = True
    """All five are asked whether they claim an open solo (R5.7), also without `grab_solo`."""
    open_guard: OpenGuard = OpenGuard.NONE
    rebellion: Rebellion = Rebellion.NONE
    counters: bool = False
    """Counter and recounter (R5.11)."""
    twos_fill: bool = False
    """A two played with another rank counts as that rank (R10.2)."""
    two_big_beat_big: bool = False
    """Two big jokers beat one (R10.3); `kaopai` has it too."""
    kaopai: bool = False
    three_twos_beat_big_joker: bool = False
    called_card_is_top: bool = False
    grab_solo: bool = False
    hold_back_sixes: bool = False
    jokers_with_last_sixes: bool = True
    hold_back_threes: bool = False
    all_refuse: AllRefuse | None = None
    tribute: bool = False
    tribute_return: bool = False
    show_counts: ShowCounts = ShowCounts.ALWAYS

    @classmethod
    def preset(cls, preset: str, /, **options: object) -> Self:
        """The preset of that name with some parts or options changed.

        Values may be of the field's type or its text (`"true"`, `"must_play"`). Raises `RuleSetError` for
        an unknown preset or option, a value of another kind, or a combination that cannot work.
        """
        base = PRESETS.get(str(preset))
        if base is None:
            known = ", ".join(PRESETS)
            raise RuleSetError(
                Reason.UNKNOWN_PRESET,
                f"no rule set {str(preset)[:40]!r}; there are {known}",
                clause="R2",
                preset=str(preset)[:40],
            )
        return base.replace(**options)  # type: ignore[return-value]

    def replace(self, /, **options: object) -> RuleSet:
        """This rule set with some parts or options changed; raises `RuleSetError` as `preset` does."""
        changes: dict[str, Any] = {name: _parse_option(name, value) for name, value in options.items()}
        changed = replace(self, **changes)
        _check(changed)
        return changed

    def options(self) -> dict[str, bool | int | str]:
        """What differs from the preset, as plain values: `RuleSet.preset(name, **options)` is equal."""
        base = PRESETS[self.name]
        changed = {}
        for name in self.option_names():
            value = getattr(self, name)
            if value != getattr(base, name):
                changed[name] = value if type(value) in (bool, int) else option_text(value)
        return changed

    @staticmethod
    def option_names() -> tuple[str, ...]:
        """The names of all parts and options."""
        return tuple(_values())

    @staticmethod
    def values_of(option: str) -> tuple[OptionValue, ...]:
        """All values of a part or option; which of them go together `preset` and `replace` tell.

        Raises `RuleSetError` for an unknown name.
        """
        values = _values().get(option)
        if values is None:
            known = ", ".join(_values())
            raise RuleSetError(
                Reason.UNKNOWN_OPTION,
                f"no option {str(option)[:40]!r}; there are {known}",
                clause="R2.5",
                option=str(option)[:40],
            )
        return values

    @cached_property
    def deck(self) -> Hand:
        """All cards in deck order."""
        return DECKS[self.deck_size]

    @property
    def has_marked_jokers(self) -> bool:
        """Whether the deck has an emperor and a guard joker (R2.1)."""
        return self.deck_size != 216

    @property
    def calls(self) -> bool:
        """Whether the emperor calls a card (R5.5)."""
        return self.guard_by is GuardBy.CALLED_CARD

    @property
    def asks_claims(self) -> bool:
        """Whether the solo claim is asked: with `grab_solo`, and where the rule set has open solo (R5.7)."""
        return self.solo_claims or self.grab_solo

    @property
    def held_back(self) -> Rank | None:
        """The rank that must be the last set (R7, R10.4), if any."""
        if self.hold_back_sixes:
            return SIX
        return THREE if self.hold_back_threes else None

    @cached_property
    def cover(self) -> CoverTable:
        """What beats what (R4.1), compiled for this rule set."""
        return CoverTable.compile(
            big_pair=self.kaopai or self.two_big_beat_big,
            kaopai=self.kaopai,
            three_twos=self.three_twos_beat_big_joker,
        )

    def beats(self, attack: str | tuple[Card, ...], table: str | tuple[Card, ...]) -> bool:
        """Whether the play `attack` beats the play `table` by R3.1 and R4.1 alone (R4.5).

        Texts may use bare ranks. An `attack` that is no play gives False; a `table` that is none raises
        `RuleError`. Which card was called is not known here, so `called_card_is_top` plays no part.
        """
        attack_cards, table_cards = _cards(attack), _cards(table)
        against = self.require_shape(table_cards)
        shape = self.find_shape(attack_cards)
        return shape is not None and self.cover.beats(shape, against)

    def find_shape(self, cards: Hand, called: Card | None = None) -> Shape | None:
        """The shape of `cards` (in deck order) by these rules, or None if they are no play (R3.1, R10.2).

        `called` is the called card where one is in force; it matters only under `called_card_is_top`.
        """
        return find_shape(cards, self.twos_fill, called if self.called_card_is_top else None)

    def require_shape(self, cards: Hand, called: Card | None = None) -> Shape:
        """As `find_shape`; raises `RuleError` (`NOT_A_PLAY`) if they are no play."""
        shape = self.find_shape(cards, called)
        if shape is None:
            raise no_play(cards, self.twos_fill)
        return shape

    def __str__(self) -> str:
        options = " ".join(f"{name}={str(value).lower()}" for name, value in self.options().items())
        return f"{self.name} {options}".rstrip()


def _cards(play: object) -> Hand:
    if isinstance(play, str):
        return parse_ranked_cards(play)
    if not isinstance(play, Iterable) or any(type(card) is not Card for card in play):
        raise CardError(Reason.MALFORMED_CARD, "a play is a text, or Cards")
    return tuple(sorted(play))


_PRESETS: Final = (
    RuleSet(
        "jiaodong",
        deck_size=165,
        throne=Throne.OFFER,
        guard_by=GuardBy.GUARD_JOKER,
        open_guard=OpenGuard.DOUBLES,
        rebellion=Rebellion.DOUBLES,
        counters=True,
        grab_solo=True,
        hold_back_sixes=True,
        all_refuse=AllRefuse.LOSE,
    ),
    RuleSet(
        "marked-guard",
        deck_size=168,
        throne=Throne.FIXED,
        guard_by=GuardBy.GUARD_JOKER,
        open_guard=OpenGuard.SHOWS,
        rebellion=Rebellion.SHOWS,
    ),
    RuleSet(
        "lianzhong-simple",
        deck_size=168,
        throne=Throne.UPSTREAM,
        guard_by=GuardBy.GUARD_JOKER,
        adds_cards=True,
        open_guard=OpenGuard.DOUBLES,
        rebellion=Rebellion.DOUBLES,
    ),
    RuleSet(
        "lianzhong-classic",
        deck_size=168,
        throne=Throne.UPSTREAM,
        guard_by=GuardBy.CALLED_CARD,
        open_guard=OpenGuard.DOUBLES,
    ),
    RuleSet(
        "shandong-folk",
        deck_size=216,
        throne=Throne.BOTTOM_CARDS,
        guard_by=GuardBy.CALLED_CARD,
        solo_claims=False,
        twos_fill=True,
        two_big_beat_big=True,
        hold_back_threes=True,
        tribute=True,
        tribute_return=True,
    ),
)
PRESETS: Final[Mapping[str, RuleSet]] = types.MappingProxyType({preset.name: preset for preset in _PRESETS})
"""The five rule sets by name (§2)."""

_SAME: Final = {"on": "true", "yes": "true", "off": "false", "no": "false"}


@lru_cache(maxsize=1)
def _values() -> dict[str, tuple[OptionValue, ...]]:
    """For each part and option the values that its type allows."""
    return {
        name: tuple([value for each in get_args(kind) or (kind,) for value in _values_of_type(each)])
        for name, kind in get_type_hints(RuleSet).items()
        if name != "name"
    }


def _values_of_type(kind: type) -> Iterable[OptionValue]:
    if kind is bool:
        return False, True
    if kind is int:
        return DECKS  # The one number is a deck's size.
    return kind if issubclass(kind, StrEnum) else (None,)


def option_text(value: OptionValue) -> str:
    """A value of an option as text, such as `true` or `must_play`; `RuleSet.preset` reads it back."""
    return str(value).lower()


def _parse_option(name: str, value: object) -> OptionValue:
    """The value of an option given as such or as its text; raises `RuleSetError`."""
    choices = {option_text(each): each for each in RuleSet.values_of(name)}
    text = str(value).lower()
    text = _SAME.get(text, text)
    if text not in choices:
        raise RuleSetError(
            Reason.BAD_OPTION_VALUE,
            f"{name} cannot be {str(value)[:40]!r}; it is one of: {', '.join(choices)}",
            clause="R2.5",
            option=name,
            value=str(value)[:40],
        )
    return choices[text]


def _check(rules: RuleSet) -> None:
    """Raises `RuleSetError` with the first reason why these parts cannot work together."""

    def refuse_if(broken: bool, clause: str, why: str) -> None:
        if broken:
            raise RuleSetError(Reason.OPTIONS_CONFLICT, f"{rules}: {why}", clause=clause, rules=str(rules))

    marked, folk_throne = rules.has_marked_jokers, rules.throne is Throne.BOTTOM_CARDS
    refuse_if(
        not marked and not folk_throne,
        "R2.1",
        "the 216 deck has no emperor joker, so its throne is bottom_cards",
    )
    refuse_if(
        not marked and not rules.calls,
        "R2.1",
        "the 216 deck has no guard joker, so its guard is by called_card",
    )
    refuse_if(
        folk_throne and not rules.calls, "R10.1", "who takes the throne for three of a kind calls a card"
    )
    offer = rules.throne is Throne.OFFER
    refuse_if(
        offer and rules.calls,
        "R5.1",
        "only a holder of both marked jokers offers the throne, so the guard joker makes the guard",
    )
    refuse_if(offer and not rules.grab_solo, "R2.5", "grab_solo is fixed where the throne is offered")
    refuse_if(
        offer and rules.all_refuse is None,
        "R2.5",
        "all_refuse must say what follows when nobody takes an offered throne",
    )
    refuse_if(
        not offer and rules.all_refuse is not None,
        "R2.5",
        "all_refuse exists only where the throne is offered",
    )
    refuse_if(
        rules.adds_cards and rules.throne is not Throne.UPSTREAM,
        "R5.2",
        "cards are added only to a throne yielded upstream",
    )
    refuse_if(
        rules.three_twos_beat_big_joker and rules.twos_fill,
        "R2.5",
        "three_twos_beat_big_joker is refused where twos fill",
    )
    refuse_if(rules.called_card_is_top and not rules.calls, "R2.5", "called_card_is_top needs a called card")
    refuse_if(rules.hold_back_sixes and rules.hold_back_threes, "R7.4", "at most one rank is held back")
    held = rules.held_back
    refuse_if(
        held is not None and all(card.rank != held for card in DECKS[rules.deck_size]),
        "R7.4",
        "the deck lacks the rank that is held back",
    )
    for option in ("hold_back_threes", "tribute", "tribute_return"):
        refuse_if(getattr(rules, option) and not folk_throne, "R2.5", f"{option} belongs to shandong-folk")
    refuse_if(
        rules.counters and rules.rebellion is Rebellion.SHOWS,
        "R5.11",
        "only a rebellion that reveals the guard can be countered: who is asked would tell who he is",
    )
    refuse_if(
        rules.counters
        and rules.open_guard is not OpenGuard.DOUBLES
        and rules.rebellion is not Rebellion.DOUBLES
        and not rules.asks_claims,
        "R5.11",
        "there is nothing to counter",
    )
