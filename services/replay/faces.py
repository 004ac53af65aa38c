"""Cards as a page shows them: a suit is a symbol and a letter, never a colour alone."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from baohuang.rules.cards import BIG, SMALL, Card, Hand
from baohuang.words import Language

_SYMBOLS = {"s": "♠", "h": "♥", "c": "♣", "d": "♦"}
_RED = frozenset("hd")
_MARKED = {"EJ": ("emperor joker", "皇牌"), "GJ": ("guard joker", "保牌")}


class Face(NamedTuple):
    """One card. `rank` as printed (10 for a ten); jokers have no suit and may be `marked`, with a name."""

    rank: str
    symbol: str
    letter: str
    is_red: bool
    marked: str


class RankGroup(NamedTuple):
    """All cards of one rank in a hand."""

    rank: str
    cards: Hand


def face_of(card: Card, language: Language) -> Face:
    """How a card is drawn."""
    name = str(card)
    if card.is_joker:
        marked = language.say(*_MARKED[name]) if name in _MARKED else ""
        return Face(_rank_name(card, language), "", "", card.rank == BIG, marked)
    suit = name[1]
    return Face(_rank_name(card, language), _SYMBOLS[suit], suit.upper(), suit in _RED, "")


def groups_of(hand: Hand, language: Language) -> tuple[RankGroup, ...]:
    """A hand by rank, the highest first."""
    return tuple(
        [
            RankGroup(_rank_name(cards[0], language), cards)
            for cards in [tuple(same) for _, same in groupby(reversed(hand), key=lambda card: card.rank)]
        ]
    )


def _rank_name(card: Card, language: Language) -> str:
    if card.rank == BIG:
        return language.say("Big", "大王")
    if card.rank == SMALL:
        return language.say("Small", "小王")
    letter = str(card)[0]
    return "10" if letter == "T" else letter
