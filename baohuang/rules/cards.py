"""Cards, ranks and decks (R2.1, R2.3, R2.6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from baohuang.rules.errors import CardError, Reason

RANK_NAMES: Final = "3456789TJQKA2"
SUIT_NAMES: Final = "cdhs"

THREE: Final = 0
SIX: Final = 3
TWO: Final = 12
SMALL: Final = 13
"""Rank of a small joker, the guard joker included."""
BIG: Final = 14
"""Rank of a big joker, the emperor joker included."""

Rank = int
"""0 (a three) … 12 (a two), 13 small joker, 14 big joker: R2.3 upwards."""


class Card(int):
    """One card of the 56 kinds, as a number in deck order (R2.6): 3c … 2s, SJ, GJ, BJ, EJ.

    The number is the order among equals everywhere, so hands are plain sorted tuples. The four copies of a
    kind are equal. `Card(0)` is the three of clubs; `str(card)` the two-letter text. Raises `CardError` for
    a number that is none of a card.
    """

    __slots__ = ()

    def __new__(cls, number: int) -> Self:
        if type(number) not in (int, cls) or not 0 <= number < len(CARD_NAMES):
            raise CardError(
                Reason.MALFORMED_CARD,
                f"{str(number)[:20]!r} is no card: they count from 0 to {len(CARD_NAMES) - 1}",
            )
        return super().__new__(cls, number)

    @property
    def rank(self) -> Rank:
        """0 … 12 for 3 … 2, 13 small joker, 14 big joker; marked jokers equal plain ones (R2.3)."""
        return RANK_OF[self]

    @property
    def is_joker(self) -> bool:
        return self >= SMALL_JOKER

    def __str__(self) -> str:
        return CARD_NAMES[self]

    def __repr__(self) -> str:
        return CARD_NAMES[self]


CARD_NAMES: Final = (*(rank + suit for rank in RANK_NAMES for suit in SUIT_NAMES), "SJ", "GJ", "BJ", "EJ")
RANK_OF: Final = (*(rank for rank in range(13) for _ in SUIT_NAMES), SMALL, SMALL, BIG, BIG)
CARDS: Final = tuple(Card(number) for number in range(len(CARD_NAMES)))
SMALL_JOKER, GUARD_JOKER, BIG_JOKER, EMPEROR_JOKER = CARDS[52:]

Hand = tuple[Card, ...]
"""Cards in deck order."""

_BY_NAME: Final = {name: CARDS[number] for number, name in enumerate(CARD_NAMES)}
_RANK_BY_NAME: Final = {name: rank for rank, name in enumerate(RANK_NAMES)}


def parse_card(text: str) -> Card:
    """The card of a two-letter text such as `7h`, `Td` or `EJ`; raises `CardError`."""
    card = _BY_NAME.get(text)
    if card is None:
        raise CardError(
            Reason.MALFORMED_CARD,
            f"{text[:20]!r} is no card: rank {RANK_NAMES} with suit {SUIT_NAMES}, or SJ GJ BJ EJ",
            text=text[:20],
        )
    return card


def parse_cards(text: str) -> Hand:
    """Cards of a text separated by spaces, in deck order; `""` gives no cards. Raises `CardError`."""
    if not isinstance(text, str):
        raise CardError(Reason.MALFORMED_CARD, f"{str(text)[:20]!r} is no text of cards")
    return tuple(sorted([parse_card(word) for word in text.split()]))


def parse_ranked_cards(text: str) -> Hand:
    """As `parse_cards`, but a bare rank (`8`) is accepted and stands for its card of clubs.

    For questions where suits do not matter, such as `RuleSet.beats`.
    """
    return tuple(sorted([_parse_ranked_card(word) for word in text.split()]))


def _parse_ranked_card(word: str) -> Card:
    rank = _RANK_BY_NAME.get(word)
    return CARDS[4 * rank] if rank is not None else parse_card(word)


def format_cards(cards: Iterable[Card]) -> str:
    """The texts of cards, separated by spaces: `parse_cards` reads them back. Raises `CardError`."""
    try:
        return " ".join([CARD_NAMES[card] for card in cards])
    except (TypeError, IndexError):
        raise CardError(Reason.MALFORMED_CARD, "only Cards have texts of cards") from None


def build_deck(low_rank: Rank, missing: Hand, *, marked: bool) -> Hand:
    """Four packs from `low_rank` up less `missing`; `marked` marks one joker of each kind (R2.1)."""
    cards = [card for card in CARDS[:SMALL_JOKER] if card.rank >= low_rank for _ in range(4)]
    for card in missing:
        cards.remove(card)
    if marked:
        cards += [*[SMALL_JOKER] * 3, GUARD_JOKER, *[BIG_JOKER] * 3, EMPEROR_JOKER]
    else:
        cards += [SMALL_JOKER] * 4 + [BIG_JOKER] * 4
    return tuple(cards)


DECKS: Final = {
    165: build_deck(SIX, parse_cards("6c 6d 6h"), marked=True),
    168: build_deck(SIX, (), marked=True),
    216: build_deck(THREE, (), marked=False),
}
"""The three decks by size, in deck order."""


def without(hand: Hand, cards: Iterable[Card]) -> Hand:
    """`hand` less one copy of each of `cards`, all of which it must hold."""
    left = list(hand)
    for card in cards:
        left.remove(card)
    return tuple(left)


def holds(hand: Hand, cards: Hand) -> bool:
    """Whether `hand` holds every one of `cards`, copies counted."""
    if len(cards) == 1:
        return cards[0] in hand
    return all(hand.count(card) >= cards.count(card) for card in set(cards))
