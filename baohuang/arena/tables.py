"""A rule set compiled into one array of numbers, by asking the readable rules.

Every number here is an answer of a function of `baohuang.rules`; the kernels hold none of their own. The
header (options, strides, offsets of the sections) and the sections are described in
`baohuang.arena.kernels.layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.kernels import layout
from baohuang.arena.kernels.layout import Tables
from baohuang.rules import opening, scoring
from baohuang.rules.cards import CARDS, SIX, TWO, Hand
from baohuang.rules.cover import NO_PLAIN, CoverTable, Shape
from baohuang.rules.events import Step
from baohuang.rules.evolve import countering_side, needed_to_counter, rebellion_stands
from baohuang.rules.outcome import Due, DueKind
from baohuang.rules.roles import SEATS, Solo
from baohuang.rules.ruleset import AllRefuse, OpenGuard, Rebellion, RuleSet, Throne
from baohuang.rules.state import HiddenState, PublicState, State
from baohuang.rules.views import view

THRONES: Final = {
    Throne.FIXED: layout.THRONE_FIXED,
    Throne.OFFER: layout.THRONE_OFFER,
    Throne.UPSTREAM: layout.THRONE_UPSTREAM,
    Throne.BOTTOM_CARDS: layout.THRONE_BOTTOM_CARDS,
}
REFUSALS: Final = {
    None: layout.REFUSE_LOSE,  # never asked
    AllRefuse.LOSE: layout.REFUSE_LOSE,
    AllRefuse.VOID: layout.REFUSE_VOID,
    AllRefuse.MUST_PLAY: layout.REFUSE_MUST_PLAY,
}
DECLARES: Final[dict[OpenGuard | Rebellion, int]] = {
    OpenGuard.NONE: layout.DECLARES_NONE,
    OpenGuard.SHOWS: layout.DECLARES_SHOWS,
    OpenGuard.DOUBLES: layout.DECLARES_DOUBLES,
    Rebellion.NONE: layout.DECLARES_NONE,
    Rebellion.SHOWS: layout.DECLARES_SHOWS,
    Rebellion.DOUBLES: layout.DECLARES_DOUBLES,
}
SOLOS: Final = {
    Solo.NONE: layout.SOLO_NONE,
    Solo.HIDDEN: layout.SOLO_HIDDEN,
    Solo.OPEN: layout.SOLO_OPEN,
}
DUE_KINDS: Final = {DueKind.DEBT: layout.DUE_DEBT, DueKind.TRIBUTE: layout.DUE_TRIBUTE}


@lru_cache(maxsize=64)
def compile_tables(rules: RuleSet) -> Tables:
    """The tables of a rule set, read-only; equal rule sets share them."""
    header = dict(_options(rules))
    sections = list(_sections(rules))
    offset = layout.HEADER
    for name, values in sections:
        header[name] = offset
        offset += len(values)
    tables = np.zeros(offset, np.int32)
    for index, value in header.items():
        tables[index] = value
    tables[layout.HEADER :] = np.concatenate([np.asarray(values, np.int32) for _, values in sections])
    tables.flags.writeable = False
    return tables


def _options(rules: RuleSet) -> Iterator[tuple[int, int]]:
    yield layout.T_LOW, rules.deck[0].rank
    yield layout.T_DECK_SIZE, len(rules.deck)
    yield layout.T_THRONE, THRONES[rules.throne]
    yield layout.T_CALLS, rules.calls
    yield layout.T_ADDS, rules.adds_cards
    yield layout.T_ASKS_CLAIMS, rules.asks_claims
    yield layout.T_GRAB, rules.grab_solo
    yield layout.T_OPEN_GUARD, DECLARES[rules.open_guard]
    yield layout.T_REBELLION, DECLARES[rules.rebellion]
    yield layout.T_COUNTERS, rules.counters
    yield layout.T_FILL, rules.twos_fill
    yield layout.T_THREE_TWOS, rules.three_twos_beat_big_joker
    yield layout.T_TOP, rules.called_card_is_top
    yield layout.T_HELD, layout.NONE if rules.held_back is None else rules.held_back
    yield layout.T_LAST_JOKERS, rules.jokers_with_last_sixes
    yield layout.T_HOLD_THREES, rules.hold_back_threes
    yield layout.T_REFUSE, REFUSALS[rules.all_refuse]
    yield layout.T_TRIBUTE, rules.tribute
    yield layout.T_RETURN, rules.tribute_return
    yield layout.T_MOST_REDEALS, opening.MOST_REDEALS
    yield layout.T_MOST_YIELDS, opening.MOST_YIELDS
    yield layout.T_ROUND, opening.ROUND
    marks = 1 + most_marked(rules)
    yield layout.T_MARKS, marks
    filler = layout.JOKER_CHOICES * marks
    yield layout.T_FILLER_STRIDE, filler
    kept = filler * (1 + most_fillers(rules))
    yield layout.T_KEPT_STRIDE, kept
    yield layout.T_RANK_STRIDE, kept * layout.MOST_OF_RANK
    ranks = TWO + 1 - rules.deck[0].rank
    yield layout.T_JOKER_PLAYS, layout.PLAY + ranks * kept * layout.MOST_OF_RANK
    giver, other, *_ = scoring.refused_outcome(_public(rules), 0).scores
    yield layout.T_REFUSED_GIVER, giver
    yield layout.T_REFUSED_OTHER, other
    yield layout.T_COUNTS_SHOWN, most_shown(rules)


def most_shown(rules: RuleSet) -> int:
    """Up to how many cards of another seat their number is seen (`show_counts`, R11.1); −1 for never."""
    size = len(rules.deck)
    hidden = HiddenState(seed=None, salt=None)
    for count in range(size + 1):
        public = _public(rules, counts=(0, count, 0, 0, 0))
        if view(State(0, public, hidden), None).public.counts[1] is None:
            return count - 1
    return size


def most_marked(rules: RuleSet) -> int:
    """The most revealing cards in a play: copies of the called card, or the guard joker (R11.4)."""
    return 4 if rules.calls else 1


def most_fillers(rules: RuleSet) -> int:
    """The most twos that can fill a play (R10.2)."""
    return layout.MOST_OF_RANK if rules.twos_fill else 0


def _sections(rules: RuleSet) -> Iterator[tuple[int, Sequence[int] | NDArray[np.int32]]]:
    deck = rules.deck
    yield layout.S_DECK, [*deck]
    yield layout.S_RANK_OF, [card.rank for card in CARDS]
    yield layout.S_CALLABLE, _callable()
    yield layout.S_HIGHEST, _order(lambda hand: (opening.highest(hand),))
    yield layout.S_ADDED, _order(opening.added_card)
    yield layout.S_BOTTOM_FIRST, _order(lambda hand: opening.bottom_card(hand, first_asked=True))
    yield layout.S_BOTTOM_OTHER, _order(lambda hand: opening.bottom_card(hand, first_asked=False))
    yield layout.S_OFFERED, _offered(rules)
    yield layout.S_REBELLION_STANDS, [rebellion_stands(rules.rebellion, rebels) for rebels in range(6)]
    yield layout.S_COUNTER_SIDE, [rebels for rebels, _ in _counters(rules)]
    yield layout.S_COUNTER_NEEDS, [needed for _, needed in _counters(rules)]
    yield layout.S_MULTIPLIER, [_multiplier(rules, solo, flags) for solo in SOLOS for flags in _FLAGS]
    yield layout.S_PAIR, list(_pair_scores(rules))
    yield layout.S_SOLO, list(_solo_scores(rules))
    yield layout.S_TRIBUTE, list(_tribute())
    yield layout.S_COVER, _cover(rules.cover).ravel()
    yield layout.S_LEAST, _least(rules.cover)
    yield layout.S_COUNTS, np.bincount(rules.deck, minlength=layout.KINDS).tolist()
    yield layout.S_CODES, play_codes(rules)


def _callable() -> list[int]:
    """For 0 … 4 copies in the deck and 0 … 4 in the hand: whether the card may be called (R5.5)."""
    card = CARDS[4 * SIX]
    return [
        bool(opening.callable_cards((card,) * held, (card,) * dealt))
        for dealt, held in product(range(5), repeat=2)
    ]


def _order(choose: Callable[[Hand], Hand]) -> list[int]:
    """In which order `choose` takes cards from a hand that holds one of each."""
    hand, order = list(CARDS), []
    while hand and (chosen := choose(tuple(hand))):
        order.append(int(chosen[0]))
        hand.remove(chosen[0])
    return [*order, *[layout.NONE] * (layout.ORDER - len(order))]


def _public(rules: RuleSet, **fields: object) -> PublicState:
    return PublicState(rules, first_drawer=0, dues=(), commitment=None, **fields)  # type: ignore[arg-type]


def _offered(rules: RuleSet) -> list[int]:
    """After how many refusals the throne is offered how far downstream of its giver; then `NONE` (R5.1)."""
    hidden = HiddenState(seed=None, salt=None)
    states = [State(0, _public(rules, first_holder=0, yields=yields), hidden) for yields in range(5)]
    offered = [opening.next_offered(state) for state in states]
    return [layout.NONE if seat is None else seat for seat in offered]


def _counters(rules: RuleSet) -> Iterator[tuple[bool, int]]:
    """By who declared (rebels, royals) and step: whether the rebels answer, and how many it takes (R5.11)."""
    for royals_declared, step in product((False, True), (Step.COUNTER, Step.RECOUNTER)):
        public = _public(rules, emperor=0, open_guard=royals_declared)
        yield 2 in countering_side(public, 1, step), needed_to_counter(public, 1, step)


_FLAGS: Final = tuple(
    {
        "open_guard": bool(bits & 1),
        "rebellion": bool(bits & 2),
        "counter": bool(bits & 4),
        "recounter": bool(bits & 8),
    }
    for bits in range(16)
)
"""Which declarations stand, by the number that the kernels make of them."""


def _multiplier(rules: RuleSet, solo: Solo, flags: dict[str, bool]) -> int:
    return scoring.multiplier(rules, solo, **flags)


def _pair_scores(rules: RuleSet) -> Iterator[int]:
    for flags, emperor, guard in product(_FLAGS, range(1, 6), range(1, 6)):
        times = _multiplier(rules, Solo.NONE, flags)
        yield from scoring.pair_scores(emperor, guard, times, split=flags["counter"])


def _solo_scores(rules: RuleSet) -> Iterator[int]:
    for solo, flags, place, cleared in product((Solo.HIDDEN, Solo.OPEN), _FLAGS, range(1, 6), (False, True)):
        times = _multiplier(rules, solo, flags)
        yield from scoring.solo_scores(solo, place, times, cleared=cleared)


def _tribute() -> Iterator[int]:
    """For each pair of places of emperor and guard: how many cards, then giver and receiver of three.

    These are 0 the emperor, 1 the guard, 2 … 4 the rebels from best to worst (R10.5, R10.6).
    """
    for emperor, guard in product(range(1, 6), repeat=2):
        dues: tuple[Due, ...] = ()
        if emperor != guard:
            rebels = sorted({1, 2, 3, 4, 5} - {emperor, guard})
            dues = scoring.tribute_dues((emperor, guard, *rebels), SEATS[0], SEATS[1])
        pairs = [seat for due in dues for seat in (due.giver, due.receiver)]
        yield from (len(dues), *pairs, *[0] * (6 - len(pairs)))


@lru_cache(maxsize=16)
def _cover(cover: CoverTable) -> NDArray[np.int32]:
    """All answers to every table (R4.1): by variant, shape of the table and jokers of the attack, which
    numbers of plain cards beat it, as a bit mask.

    Variants: +1 where the attack's plain cards are of higher rank than the table's, +2 where they are twos.
    """
    masks = np.zeros((4, layout.COVER_SHAPES, layout.JOKER_CHOICES), np.int32)
    for twos, higher in product((False, True), repeat=2):
        attack = TWO if twos else SIX
        table = attack - 1 if higher else TWO
        shapes = product(range(layout.MOST_PLAIN + 1), range(5), range(5))
        for number, (plain, small, big) in enumerate(shapes):
            shape = Shape(table if plain else NO_PLAIN, plain, small, big)
            for p, s, b in cover.answers(shape, attack) if shape.size else ():
                if p <= layout.MOST_PLAIN:
                    masks[2 * twos + higher, number, 5 * s + b] |= 1 << p
    masks.flags.writeable = False
    return masks


@lru_cache(maxsize=16)
def _least(cover: CoverTable) -> NDArray[np.int32]:
    """By shape of the table and jokers held: the least number of plain cards in a play that beats it, all of
    them higher or twos; 0 if jokers alone can do it, `NEVER` if nothing can.
    """
    masks = np.bitwise_or(*_cover(cover)[[1, 3]]).reshape(layout.COVER_SHAPES, 5, 5)
    for jokers in (1, 2):  # of those held any number may be played
        masks = np.bitwise_or.accumulate(masks, axis=jokers)
    least = np.full(masks.shape, layout.NEVER, np.int32)
    for plain in range(layout.MOST_PLAIN, -1, -1):
        least[masks >> plain & 1 > 0] = plain
    return least.ravel()


def play_codes(rules: RuleSet) -> NDArray[np.int32]:
    """The parts of every play of the rule set's action space, by id from `layout.PLAY` on; −1 for ids that no
    play has.

    See `layout.CODE_…` for where each part stands.
    """
    low, marks, fillers = rules.deck[0].rank, most_marked(rules), most_fillers(rules)
    ranks, kept, filled, small, big, marked = np.ogrid[
        low : TWO + 1, 1 : layout.MOST_OF_RANK + 1, 0 : fillers + 1, 0:5, 0:5, 0 : marks + 1
    ]
    codes = (
        ranks
        | kept << layout.CODE_KEPT
        | filled << layout.CODE_FILLERS
        | small << layout.CODE_SMALL
        | big << layout.CODE_BIG
        | marked << layout.CODE_MARKED
    )
    # The marked cards are all of one kind: plain, fillers or small jokers.
    among = np.maximum(kept, filled) if rules.calls else small
    possible = (marked <= among) & ((ranks < TWO) | (filled == 0))
    plays = np.where(possible, codes, layout.NONE).ravel()

    small, big, marked = np.ogrid[0:5, 0:5, 0 : marks + 1]
    jokers = small << layout.CODE_SMALL | big << layout.CODE_BIG
    codes = layout.NO_RANK | jokers | marked << layout.CODE_MARKED
    possible = (small + big > 0) & ((marked == 0) if rules.calls else (marked <= small))
    joker_plays = np.where(possible, codes, layout.NONE).ravel()
    return np.concatenate([plays, joker_plays]).astype(np.int32)


def space_size(rules: RuleSet) -> int:
    """How many action ids the rule set has, impossible ones counted."""
    return layout.PLAY + len(play_codes(rules))
