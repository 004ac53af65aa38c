"""Which cards make a play, and of what shape (R3.1, R5.5, R10.2)."""

from __future__ import annotations

from baohuang.rules.cards import BIG_JOKER, SMALL_JOKER, TWO, Card, Hand, format_cards
from baohuang.rules.cover import NO_PLAIN, TOP, Shape
from baohuang.rules.errors import Reason, RuleError


def find_shape(cards: Hand, twos_fill: bool, top: Card | None = None) -> Shape | None:
    """The shape of `cards` (in deck order), or None if they are no play.

    `top` is the called card where copies of it alone rank above big jokers.
    """
    if cards and cards[-1] < SMALL_JOKER and cards[0] >> 2 == cards[-1] >> 2:  # nearly every play
        return Shape(TOP if cards[0] == cards[-1] == top else cards[0] >> 2, len(cards), 0, 0)
    plain = [card for card in cards if card < SMALL_JOKER]
    big = sum([card >= BIG_JOKER for card in cards])
    small = len(cards) - len(plain) - big
    if not plain:
        return Shape(NO_PLAIN, 0, small, big) if cards else None
    lowest, highest = plain[0] >> 2, plain[-1] >> 2
    if lowest != highest:
        fills = twos_fill and highest == TWO and all(card >> 2 in (lowest, TWO) for card in plain)
        return Shape(lowest, len(plain), small, big) if fills else None
    return Shape(lowest, len(plain), small, big)


def no_play(cards: Hand, twos_fill: bool) -> RuleError:
    """The error for cards that are no play."""
    return RuleError(
        Reason.NOT_A_PLAY,
        f"{format_cards(cards) or 'no card'} is no play: cards of one rank with any jokers, or jokers",
        clause="R10.2" if twos_fill else "R3.1",
        cards=format_cards(cards),
    )
