"""The rules of play a second time, from their words and by brute force, to check the library against.

Slow on purpose and sharing nothing with `baohuang.rules.cover` and `baohuang.rules.plays`: cards are tried in
every grouping. Only for tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from baohuang.rules.cards import Card, Hand
from baohuang.rules.ruleset import RuleSet

TWO, SMALL, BIG, TOP = 12, 13, 14, 15
Ranks = tuple[int, ...]
"""Ranks of the cards of a play, rising; fillers as the rank that they fill, called cards alone as `TOP`."""


def ranks_of_play(rules: RuleSet, cards: Hand, called: Card | None = None) -> Ranks | None:
    """What a play's cards count as (R3.1, R5.5, R10.2), None for what is no play."""
    plain = [card.rank for card in cards if card.rank < SMALL]
    jokers = [card.rank for card in cards if card.rank >= SMALL]
    if not cards:
        return None
    if rules.called_card_is_top and called is not None and all(card == called for card in cards):
        return (TOP,) * len(cards)
    kinds = set(plain)
    if len(kinds) == 2 and TWO in kinds and rules.twos_fill:
        other = min(kinds)
        plain = [other] * len(plain)
    elif len(kinds) > 1:
        return None
    return tuple(sorted(plain + jokers))


def covers(rules: RuleSet, attack: Ranks, table: Ranks) -> bool:
    """Whether `attack` can be cut into exactly one group for each card of `table` (R4.1), trying all."""
    big_pair = rules.kaopai or rules.two_big_beat_big
    return _covers(attack, table, big_pair, rules.kaopai, rules.three_twos_beat_big_joker)


@lru_cache(maxsize=1 << 18)
def _covers(attack: Ranks, table: Ranks, big_pair: bool, kaopai: bool, three_twos: bool) -> bool:
    if not table:
        return not attack
    if len(attack) < len(table):
        return False
    card, rest = table[-1], table[:-1]
    groups: list[Ranks] = [(rank,) for rank in set(attack) if rank > card]
    if card == BIG:
        groups += [(BIG, BIG)] if big_pair else []
        groups += [(SMALL, SMALL, SMALL)] if kaopai else []
        groups += [(TWO, TWO, TWO)] if three_twos else []
    if card == SMALL and kaopai:
        groups.append((SMALL, SMALL))
    return any(
        _covers(left, rest, big_pair, kaopai, three_twos)
        for group in groups
        if (left := _take(attack, group)) is not None
    )


def _take(attack: Ranks, group: Ranks) -> Ranks | None:
    left = list(attack)
    for rank in group:
        if rank not in left:
            return None
        left.remove(rank)
    return tuple(left)


def is_held_back(rules: RuleSet, hand: Hand, cards: Hand) -> bool:
    """Whether R7.1, R7.2 or R10.4 forbids to play `cards` from `hand`."""
    empties = len(cards) == len(hand)
    sixes = any(card.rank == 3 for card in cards)
    threes = any(card.rank == 0 for card in cards)
    if rules.hold_back_sixes and sixes:
        jokers = any(card.rank >= SMALL for card in cards)
        return not empties or (jokers and not rules.jokers_with_last_sixes)
    if rules.hold_back_threes and threes:
        return not empties or any(card.rank != 0 for card in cards)
    return False


def is_legal_play(rules: RuleSet, hand: Hand, cards: Hand, table: Hand | None, called: Card | None) -> bool:
    """Whether who holds `hand` may play `cards`, all of them his, on `table` (None: he leads)."""
    ranks = ranks_of_play(rules, cards, called)
    if ranks is None or is_held_back(rules, hand, cards):
        return False
    if table is None:
        return True
    against = ranks_of_play(rules, table, called)
    return against is not None and covers(rules, ranks, against)


def sub_hands(hand: Hand) -> Iterator[Hand]:
    """Every choice of one or more cards of `hand`, equal ones once."""
    kinds = sorted(Counter(hand).items())
    for numbers in product(*(range(count + 1) for _, count in kinds)):
        if any(numbers):
            yield tuple(card for (card, _), number in zip(kinds, numbers, strict=True) for _ in range(number))
