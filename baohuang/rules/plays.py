"""Which plays a hand allows (R3, R5.5, R7, R10.2, R10.4, R11.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from typing import Final, NamedTuple

from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import BIG_JOKER, SMALL_JOKER, THREE, TWO, Card, Hand, Rank, format_cards
from baohuang.rules.cover import TOP, Counts, Shape
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.ruleset import RuleSet

_PLAY: Final = ActionKind.PLAY
_make: Final[Callable[[tuple[ActionKind, Hand]], Action]] = partial(tuple.__new__, Action)
"""An `Action` of its fields, made fast: a leader may have a thousand plays."""


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
    top = called if rules.called_card_is_top else None
    mark = top if top is not None else revealing
    sorted_out = _sort_out(hand)
    if mark is not None and not sorted_out.has(mark):
        mark = top = None
    if table is None:
        plays = _leads(rules, sorted_out, mark)
    elif len(hand) >= table.size and table.strength != TOP:
        plays = _answers(rules, sorted_out, table, mark, top)
    else:
        plays = []
    held = rules.held_back
    if held is not None and sorted_out.by_rank[held] and sorted_out.can_be_last_set(held):
        plays += _last_set(rules, hand, table, called)
    return plays


class _SortedOut(NamedTuple):
    """A hand's plain cards by rank, and its jokers, each in deck order."""

    by_rank: tuple[Hand, ...]
    small: Hand
    big: Hand
    ranks: int
    """How many ranks of plain cards it has."""

    def has(self, card: Card) -> bool:
        """Whether it has that plain card or small joker; no big one ever tells something."""
        return card in (self.by_rank[card >> 2] if card < SMALL_JOKER else self.small)

    def can_be_last_set(self, held: Rank) -> bool:
        """Whether it has only cards held back and what may fill or hang on them."""
        return self.ranks == 1 + bool(self.by_rank[TWO])


@lru_cache(maxsize=1 << 6)
def _sort_out(hand: Hand) -> _SortedOut:
    by_rank: list[list[Card]] = [[] for _ in range(14)]
    for card in hand:
        by_rank[card >> 2].append(card)
    jokers = by_rank.pop()
    small = tuple([card for card in jokers if card < BIG_JOKER])
    return _SortedOut(tuple(map(tuple, by_rank)), small, tuple(jokers[len(small) :]), 13 - by_rank.count([]))


def _leads(rules: RuleSet, hand: _SortedOut, mark: Card | None) -> list[Action]:
    """Every play that holds no card held back."""
    by_rank, held = hand.by_rank, rules.held_back
    jokers = _tails((), hand.small, hand.big, mark)
    tails = _tails(by_rank[TWO], hand.small, hand.big, mark) if rules.twos_fill else jokers
    plays: list[Action] = []
    for rank, cards in enumerate(by_rank):
        if cards and rank != held:
            if rank == TWO:
                tails = jokers
            plays += [_make((_PLAY, plain + tail)) for plain in _sets(cards, mark) for tail in tails]
    plays += [_make((_PLAY, alone)) for alone in jokers[1:]]
    return plays


def _answers(
    rules: RuleSet, hand: _SortedOut, table: Shape, mark: Card | None, top: Card | None
) -> list[Action]:
    """Every play that beats `table` and holds no card held back."""
    by_rank, small, big, _ = hand
    held = rules.held_back
    fillers = by_rank[TWO] if rules.twos_fill else ()
    # Plain cards of no higher rank beat nothing, but for the twos of an option.
    lowest = min(table.strength + 1, TWO) if table.plain else TWO
    answers = _affordable(rules.cover.answers(table, lowest), small, big)
    plays: list[Action] = []
    for rank in range(lowest, TWO + 1):
        if rank == TWO:
            fillers = ()
            if rules.three_twos_beat_big_joker:
                answers = _affordable(rules.cover.answers(table, TWO), small, big)
        cards = by_rank[rank]
        if cards and rank != held:
            most = len(cards) + len(fillers)
            for number, smalls, bigs in answers:
                if not 0 < number <= most:
                    continue
                if mark is None and (number == 1 or not fillers):
                    plays.append(_make((_PLAY, cards[:number] + small[:smalls] + big[:bigs])))
                    continue
                sets = _filled(cards, number, fillers, mark)
                if top is not None and not smalls and not bigs:
                    # A play of called cards alone is of another strength.
                    sets = [each for each in sets if each[0] != top or each[-1] != top]
                jokers = _jokers(small, smalls, big, bigs, mark)
                plays += [_make((_PLAY, plain + hung)) for hung in jokers for plain in sets]
    for number, smalls, bigs in answers:
        if not number:
            plays += [_make((_PLAY, jokers)) for jokers in _jokers(small, smalls, big, bigs, mark)]
    if top is not None and top.rank != held and by_rank[top.rank].count(top) >= table.size:
        plays.append(Action(_PLAY, (top,) * table.size))
    return plays


def _affordable(answers: tuple[Counts, ...], small: Hand, big: Hand) -> list[Counts]:
    """Those of `answers` that take no more jokers than there are."""
    smalls, bigs = len(small), len(big)
    return [counts for counts in answers if counts[1] <= smalls and counts[2] <= bigs]


def _last_set(rules: RuleSet, hand: Hand, table: Shape | None, called: Card | None) -> list[Action]:
    """The one play that may hold held-back cards, the whole hand, if it is legal."""
    shape = rules.find_shape(hand, called)
    if shape is None or (table is not None and not rules.cover.beats(shape, table)):
        return []
    try:
        check_held_back(rules, hand, hand)
    except RuleError:
        return []
    return [Action(_PLAY, hand)]


@lru_cache(maxsize=1 << 8)
def _tails(fillers: Hand, small: Hand, big: Hand, mark: Card | None) -> tuple[Hand, ...]:
    """What can follow plain cards in a play: every choice of `fillers` and jokers, the empty one first."""
    choices = (((), *_sets(cards, mark)) for cards in (fillers, small, big))
    return tuple([fill + few + many for fill, few, many in product(*choices)])


@lru_cache(maxsize=1 << 10)
def _sets(cards: Hand, mark: Card | None) -> tuple[Hand, ...]:
    """Every choice of one or more of `cards`, equal ones once (R11.4)."""
    return tuple([chosen for number in range(1, len(cards) + 1) for chosen in _choices(cards, number, mark)])


def _filled(cards: Hand, number: int, fillers: Hand, mark: Card | None) -> list[Hand]:
    """Every choice of `number` cards, at least one of `cards` and the rest of `fillers`."""
    return [
        kept + fill
        for own in range(max(1, number - len(fillers)), min(number, len(cards)) + 1)
        for kept in _choices(cards, own, mark)
        for fill in _choices(fillers, number - own, mark)
    ]


def _jokers(small: Hand, smalls: int, big: Hand, bigs: int, mark: Card | None) -> list[Hand]:
    """Every choice of `smalls` small and `bigs` big jokers."""
    return [few + big[:bigs] for few in _choices(small, smalls, mark)]


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
