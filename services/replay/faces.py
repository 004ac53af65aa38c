"""Cards as a page shows them: a suit is a symbol and a letter, never a colour alone."""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from baohuang.rules.cards import GUARD_JOKER, SMALL_JOKER, Card, Hand
from baohuang.words import Language

_SYMBOLS = {"s": "♠", "h": "♥", "c": "♣", "d": "♦"}
_RED = frozenset("hd")


class Style(NamedTuple):
    """How cards are drawn: in which language, and whether the guard joker makes the guard.

    Where a called card does, it is a small joker like the others (R5.5).
    """

    language: Language
    has_guard_joker: bool


class Kind(StrEnum):
    """How a card stands out; it is also the name of its class in the style sheet."""

    PLAIN = ""
    RED = "red"
    SMALL_JOKER = "small-joker"
    BIG_JOKER = "big-joker"
    GUARD_JOKER = "guard-joker"
    EMPEROR_JOKER = "emperor-joker"


_JOKERS = {
    "SJ": (Kind.SMALL_JOKER, ("SJ", "小"), ("small joker", "小王")),
    "GJ": (Kind.GUARD_JOKER, ("GJ", "保"), ("guard joker", "保牌")),
    "BJ": (Kind.BIG_JOKER, ("BJ", "大"), ("big joker", "大王")),
    "EJ": (Kind.EMPEROR_JOKER, ("EJ", "皇"), ("emperor joker", "皇牌")),
}


class Face(NamedTuple):
    """One card: its rank as printed (10 for a ten), its suit, and the name of a joker beside its sign."""

    rank: str
    symbol: str
    letter: str
    kind: Kind
    name: str


class Group(NamedTuple):
    """The cards of a hand that count as one: of one rank, marked and called ones apart."""

    face: Face
    cards: Hand
    is_called: bool


def face_of(card: Card, style: Style) -> Face:
    """How a card is drawn."""
    name = str(_drawn(card, style))
    if card.is_joker:
        kind, sign, words = _JOKERS[name]
        return Face(style.language.say(*sign), "", "", kind, style.language.say(*words))
    rank, suit = name[0], name[1]
    return Face(
        "10" if rank == "T" else rank,
        _SYMBOLS[suit],
        suit.upper(),
        Kind.RED if suit in _RED else Kind.PLAIN,
        "",
    )


def groups_of(hand: Hand, called: Card | None, style: Style) -> tuple[Group, ...]:
    """A hand by rank, the highest first."""

    def kind(card: Card) -> tuple[int, int]:
        if card.is_joker:
            return card.rank, int(_drawn(card, style))
        return card.rank, card == called

    ordered = sorted(hand, key=kind, reverse=True)
    groups = [tuple(sorted(same, reverse=True)) for _, same in groupby(ordered, key=kind)]
    return tuple([Group(face_of(cards[0], style), cards, cards[0] == called) for cards in groups])


def _drawn(card: Card, style: Style) -> Card:
    return SMALL_JOKER if card == GUARD_JOKER and not style.has_guard_joker else card
