"""Which cards make a play, and which plays a hand allows (R3, R5.5, R7, R10.2, R10.4, R11.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import product
from typing import Final

from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import BIG_JOKER, SMALL_JOKER, THREE, TWO, Card, Hand, format_cards
from baohuang.rules.cover import NO_PLAIN, TOP, Counts, Shape
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.ruleset import RuleSet

_PLAY: Final = ActionKind.PLAY
_make: Final[Callable[[tuple[ActionKind, Hand]], Action]] = partial(tuple.__new__, Action)
"""An `Action` of its fields, made fast: a leader may have a thousand plays."""


def find_shape(rules: RuleSet, cards: Hand, called: Card | None = None) -> Shape | None:
    """The shape of `cards` (in deck order), or None if they are no play (R3.1, R10.2).

    `called` is the called card where one is in force; it matters only under `called_card_is_top`.
    """
    if cards and cards[-1] < SMALL_JOKER and cards[0] >> 2 == cards[-1] >> 2:  # nearly every play
        top = rules.called_card_is_top and cards[0] == cards[-1] == called
        return Shape(TOP if top else cards[0] >> 2, len(cards), 0, 0)
    plain = [card for card in cards if card < SMALL_JOKER]
    big = sum([card >= BIG_JOKER for card in cards])
    small = len(cards) - len(plain) - big
    if not plain:
        return Shape(NO_PLAIN, 0, small, big) if cards else None
    lowest, highest = plain[0] >> 2, plain[-1] >> 2
    if lowest != highest:
        fills = rules.twos_fill and highest == TWO and all(card >> 2 in (lowest, TWO) for card in plain)
        return Shape(lowest, len(plain), small, big) if fills else None
    return Shape(lowest, len(plain), small, big)


def require_shape(rules: RuleSet, cards: Hand, called: Card | None = None) -> Shape:
    """The shape of `cards`; raises `RuleError` (`NOT_A_PLAY`) if they are no play."""
    shape = find_shape(rules, cards, called)
    if shape is None:
        fill = "R10.2" if rules.twos_fill else "R3.1"
        raise RuleError(
            Reason.NOT_A_PLAY,
            f"{format_cards(cards) or 'no card'} is no play: cards of one rank with any jokers, or jokers",
            clause=fill,
            cards=format_cards(cards),
        )
    return shape


def check_held_back(rules: RuleSet, hand: Hand, cards: Hand) -> None:
    """Raises `RuleError` (`CARDS_HELD_BACK`) if playing `cards` from `hand` breaks R7.1, R7.2 or R10.4."""
    held = rules.held_back
    if held is None or not any(card >> 2 == held for card in cards):
        return
    clause, problem = "", ""
    if held == THREE and any(card >> 2 != held for card in cards):
        clause, problem = "R10.4", "a play with a three holds threes only"
    elif len(cards) != len(hand):
        name = "threes" if held == THREE else "sixes"
        clause, problem = (
            "R10.4" if held == THREE else "R7.1",
            f"{name} are held back: they must be the last set",
        )
    elif cards[-1].is_joker and not rules.jokers_with_last_sixes:
        clause, problem = "R7.2", "no jokers with the last sixes"
    if problem:
        raise RuleError(
            Reason.CARDS_HELD_BACK,
            f"{format_cards(cards)}: {problem}",
            clause=clause,
            cards=format_cards(cards),
        )


def legal_plays(
    rules: RuleSet,
    hand: Hand,
    table: Shape | None,
    *,
    called: Card | None = None,
    revealing: Card | None = None,
) -> list[Action]:
    """The plays that `hand` allows on `table` (None: it leads), equal ones listed once (R11.4).

    `called` is the called card in force. `revealing` is the kind of card whose number in a play can tell
    something: plays that differ in it are listed apart, each with the first other cards in deck order.
    """
    by_rank, small, big = _sort_out(hand)
    top = called if rules.called_card_is_top else None
    mark = top if top is not None else revealing
    if mark not in hand:
        mark = top = None
    held = rules.held_back
    twos = by_rank[TWO] if rules.twos_fill else ()
    plays: list[Action] = []
    if table is None:
        jokers = _joker_sets(small, big, mark)
        fillings = ((), *_sets(twos, mark)) if twos else ()
        for rank, cards in enumerate(by_rank):
            if cards and rank != held:
                sets: Iterable[Hand] = _sets(cards, mark)
                if fillings and rank != TWO:
                    sets = [kept + fill for kept in sets for fill in fillings]
                plays += [_make((_PLAY, plain + each)) for plain in sets for each in jokers]
        plays += [_make((_PLAY, each)) for each in jokers[1:]]
    elif len(hand) >= table.size and table.strength != TOP:
        # Plain cards of no higher rank beat nothing, but for the twos of an option.
        lowest = min(table.strength + 1, TWO) if table.plain else TWO
        answers = _affordable(rules.cover.answers(table, lowest), small, big)
        for rank in range(lowest, TWO + 1):
            cards = by_rank[rank]
            if rank == TWO and rules.three_twos_beat_big_joker:
                answers = _affordable(rules.cover.answers(table, TWO), small, big)
            if cards and rank != held:
                fillers = twos if rank != TWO else ()
                most = len(cards) + len(fillers)
                for counts in answers:
                    if 0 < counts[0] <= most:
                        plays += _with_counts(cards, fillers, small, big, mark, top, counts)
        for counts in answers:
            if not counts[0]:
                plays += _with_counts((), (), small, big, mark, top, counts)
        if top is not None and hand.count(top) >= table.size and top.rank != held:
            plays.append(Action(_PLAY, (top,) * table.size))
    if held is not None and by_rank[held] and len(by_rank[held] + twos + small + big) == len(hand):
        plays += _last_set(rules, hand, table, called)
    return plays


def _affordable(answers: tuple[Counts, ...], small: Hand, big: Hand) -> list[Counts]:
    """Those of `answers` that take no more jokers than there are."""
    smalls, bigs = len(small), len(big)
    return [counts for counts in answers if counts[1] <= smalls and counts[2] <= bigs]


def _last_set(rules: RuleSet, hand: Hand, table: Shape | None, called: Card | None) -> list[Action]:
    """The one play that may hold held-back cards, the whole hand, if it is legal."""
    shape = find_shape(rules, hand, called)
    if shape is None or (table is not None and not rules.cover.beats(shape, table)):
        return []
    try:
        check_held_back(rules, hand, hand)
    except RuleError:
        return []
    return [Action(_PLAY, hand)]


@lru_cache(maxsize=1 << 6)
def _sort_out(hand: Hand) -> tuple[tuple[Hand, ...], Hand, Hand]:
    """Plain cards by rank, small jokers, big jokers, each in deck order."""
    by_rank: list[list[Card]] = [[] for _ in range(14)]
    for card in hand:
        by_rank[card >> 2].append(card)
    jokers = by_rank.pop()
    small = tuple([card for card in jokers if card < BIG_JOKER])
    return tuple(map(tuple, by_rank)), small, tuple(jokers[len(small) :])


@lru_cache(maxsize=1 << 6)
def _joker_sets(small: Hand, big: Hand, mark: Card | None) -> tuple[Hand, ...]:
    """Every choice of any number of jokers, the empty one first."""
    return tuple([few + many for few in ((), *_sets(small, mark)) for many in ((), *_sets(big, mark))])


@lru_cache(maxsize=1 << 10)
def _sets(cards: Hand, mark: Card | None) -> tuple[Hand, ...]:
    """Every choice of one or more of `cards`, equal ones once (R11.4)."""
    return tuple([chosen for number in range(1, len(cards) + 1) for chosen in _choices(cards, number, mark)])


def _with_counts(
    cards: Hand, fillers: Hand, small: Hand, big: Hand, mark: Card | None, top: Card | None, counts: Counts
) -> list[Action]:
    """Every play with exactly `counts` cards, at least one of them of `cards` if these are given."""
    plain, smalls, bigs = counts
    if not fillers and mark is None:
        return [Action(_PLAY, cards[:plain] + small[:smalls] + big[:bigs])]
    sets = [
        kept + fill
        for number in range(max(min(1, plain), plain - len(fillers)), min(plain, len(cards)) + 1)
        for kept in _choices(cards, number, mark)
        for fill in _choices(fillers, plain - number, mark)
    ]
    if top is not None and not smalls and not bigs:
        # A play of called cards alone is of another strength.
        sets = [each for each in sets if each[0] != top or each[-1] != top]
    jokers = product(_choices(small, smalls, mark), _choices(big, bigs, mark))
    return [_make((_PLAY, plain + few + many)) for few, many in jokers for plain in sets]


@lru_cache(maxsize=1 << 10)
def _choices(cards: Hand, number: int, mark: Card | None) -> tuple[Hand, ...]:
    """`number` of `cards` once for each possible number of `mark` among them, first others first (R11.4)."""
    marks = cards.count(mark) if mark is not None else 0
    if not marks:
        return (cards[:number],)
    others = tuple([card for card in cards if card != mark])
    chosen = cards[cards.index(mark)]
    return tuple(
        [
            tuple(sorted(others[: number - among] + (chosen,) * among))
            for among in range(max(0, number - len(others)), min(marks, number) + 1)
        ]
    )
