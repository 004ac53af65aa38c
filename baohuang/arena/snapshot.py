"""Rows from readable states, and back to what can be read: how the two engines meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.kernels import layout
from baohuang.arena.kernels.layout import NONE, Row
from baohuang.arena.tables import DUE_KINDS, SOLOS
from baohuang.rules.actions import ActionKind
from baohuang.rules.cards import CARDS, RANK_OF, Hand
from baohuang.rules.cover import Shape
from baohuang.rules.errors import Reason, RuleError, RuleSetError
from baohuang.rules.events import Step
from baohuang.rules.outcome import Due, Outcome, Termination
from baohuang.rules.roles import SEATS, Role, Seat
from baohuang.rules.state import SIMULTANEOUS, HiddenState, PublicState, State

STEPS: Final = {
    Step.TRIBUTE: layout.STEP_TRIBUTE,
    Step.THRONE: layout.STEP_THRONE,
    Step.CALL: layout.STEP_CALL,
    Step.CLAIM: layout.STEP_CLAIM,
    Step.DECLARE: layout.STEP_DECLARE,
    Step.COUNTER: layout.STEP_COUNTER,
    Step.RECOUNTER: layout.STEP_RECOUNTER,
    Step.PLAY: layout.STEP_PLAY,
    Step.OVER: layout.STEP_OVER,
}
TERMINATIONS: Final = {
    Termination.PLAYED: layout.TERMINATION_PLAYED,
    Termination.REFUSED: layout.TERMINATION_REFUSED,
    Termination.VOID: layout.TERMINATION_VOID,
}
ROLES: Final = {
    Role.EMPEROR: layout.ROLE_EMPEROR,
    Role.GUARD: layout.ROLE_GUARD,
    Role.REBEL: layout.ROLE_REBEL,
}


def row_of(state: State) -> Row:
    """The row of a readable state; equal futures give equal rows.

    Redeals of such a row come from a stream of their own: the seed of a readable game shuffles otherwise.
    Auto-play and penalties, which are the platform's, are not in it. Raises `RuleError` before the deal, and
    `RuleSetError` for more dues than a row holds.
    """
    public, hidden = state.public, state.hidden
    if public.step is Step.NONCES:
        raise RuleError(Reason.NOT_STARTED, "the cards are not dealt yet")
    row = np.zeros(layout.ROW, np.int16)
    if hidden.carried:
        row[layout.CARRIED : layout.CARRIED + layout.KINDS] = count_kinds(hidden.carried)
    row[layout.DECK : layout.DECK + layout.KINDS] = _counts(public.deck)[0]
    put_hands(row, hidden.hands)
    row[layout.DEALS] = layout.DEALS_GIVEN if public.given_deal else layout.DEALS_FROM_KEY
    row[layout.FIRST_DRAWER] = public.first_drawer
    _put_dues(row, layout.DUE_COUNT, public.dues)
    row[layout.REDEAL] = public.redeal
    row[layout.STEP] = STEPS[public.step]
    if public.step in SIMULTANEOUS:
        row[layout.PENDING] = seat_set(hidden.pending)
        row[layout.DECLARED] = _declared(hidden) if public.step is not Step.TRIBUTE else 0
    row[layout.SEAT] = state.to_act[0] if state.to_act else NONE
    _put_opening(row, public, hidden)
    _put_table(row, public)
    _put_gifts(row, hidden, tribute=public.step is Step.TRIBUTE)
    row[layout.PLACES : layout.PLACES + 5] = [place or 0 for place in public.places]
    row[layout.PLAYING] = seat_set([seat for seat in SEATS if not public.places[seat]])
    row[layout.MULTIPLIER] = 1
    row[layout.NEXT_FIRST] = NONE
    row[layout.ROLES : layout.ROLES + 5] = NONE
    if public.outcome is not None:
        _put_outcome(row, public.outcome)
    return row


def count_kinds(cards: Iterable[int]) -> NDArray[np.int16]:
    """How many of each of the 56 kinds."""
    return np.bincount(np.fromiter(cards, np.int64), minlength=layout.KINDS).astype(np.int16)


def put_hands(row: Row, hands: Sequence[Hand]) -> None:
    """Writes the five hands with what is counted of them."""
    for seat, hand in enumerate(hands):
        kinds, ranks, levels = _counts(hand)
        for field, counts in ((layout.HANDS, kinds), (layout.RANKS, ranks), (layout.LEVELS, levels)):
            start = field + seat * len(counts)
            row[start : start + len(counts)] = counts
    row[layout.SIZES : layout.SIZES + 5] = [len(hand) for hand in hands]


@lru_cache(maxsize=1 << 10)
def _counts(hand: Hand) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.int16]]:
    """Of a hand its kinds, its ranks, and for 1 … 16 cards the set of ranks with so many."""
    ranks = np.bincount([RANK_OF[card] for card in hand], minlength=layout.RANKS_STRIDE).astype(np.int16)
    plain = ranks[: layout.TWO + 1]
    enough = plain > np.arange(layout.MOST_OF_RANK)[:, np.newaxis]
    levels = (enough << np.arange(layout.TWO + 1)).sum(axis=1).astype(np.int16)
    return count_kinds(hand), ranks, levels


def hand_of(row: Row, seat: Seat) -> Hand:
    """The cards that a seat holds, in deck order."""
    counts = row[layout.HANDS + seat * layout.KINDS :][: layout.KINDS].tolist()
    return tuple(card for card in CARDS for _ in range(counts[card]))


def seat_set(seats: Iterable[Seat]) -> int:
    """A set of seats as the kernels write it."""
    return sum([1 << seat for seat in seats])


def seats_of(number: int) -> tuple[Seat, ...]:
    """The seats of such a set."""
    return tuple(seat for seat in SEATS if number >> seat & 1)


def _or_none(seat: int | None) -> int:
    return NONE if seat is None else seat


def _declared(hidden: HiddenState) -> int:
    return seat_set(
        seat
        for seat, actions in enumerate(hidden.answers)
        if any(action.kind is not ActionKind.NO for action in actions)
    )


def _put_opening(row: Row, public: PublicState, hidden: HiddenState) -> None:
    row[layout.FIRST_HOLDER] = _or_none(public.first_holder)
    row[layout.HOLDER] = _or_none(public.holder)
    row[layout.YIELDS] = public.yields
    row[layout.EMPEROR] = _or_none(public.emperor)
    row[layout.GUARD] = _or_none(hidden.guard)
    row[layout.SHOWN] = public.guard is not None
    row[layout.CALLED] = _or_none(public.called)
    row[layout.OPEN_SOLO] = public.open_solo
    row[layout.OPEN_GUARD] = public.open_guard
    row[layout.REBELS] = seat_set(public.rebels)
    row[layout.REBELLION] = public.rebellion
    row[layout.COUNTERS] = seat_set(public.counters)
    row[layout.COUNTER] = public.counter
    row[layout.RECOUNTERS] = seat_set(public.recounters)
    row[layout.RECOUNTER] = public.recounter


def _put_table(row: Row, public: PublicState) -> None:
    table = public.table
    row[layout.OWNER] = row[layout.STRENGTH] = row[layout.SHAPE] = NONE
    if table is not None:
        row[layout.OWNER] = table.seat
        put_shape(row, table.shape)
    row[layout.PASSES] = public.passes
    row[layout.CLEARED_COUNT] = len(public.cleared)
    for number, debt in enumerate(public.cleared):
        row[layout.CLEARED + 2 * number :][:2] = debt


def put_shape(row: Row, shape: Shape) -> None:
    """Writes the shape of the play to beat."""
    row[layout.STRENGTH : layout.STRENGTH + 4] = shape
    if shape.strength != layout.TOP and shape.plain <= layout.MOST_PLAIN:
        row[layout.SHAPE] = layout.JOKER_CHOICES * shape.plain + 5 * shape.small + shape.big


def _put_gifts(row: Row, hidden: HiddenState, *, tribute: bool) -> None:
    gifts = [gift for gift in hidden.gifts if not gift.returned]
    row[layout.GIFT_COUNT] = len(gifts)
    for number, gift in enumerate(gifts):
        row[layout.GIFTS + 2 * number :][:2] = gift.giver, gift.receiver
    if tribute:
        for seat, actions in enumerate(hidden.answers):
            row[layout.RETURN_COUNTS + seat] = len(actions)
            for number, action in enumerate(actions):
                row[layout.RETURNS + seat * layout.MOST_DUES + number] = action.cards[0]


def _put_outcome(row: Row, outcome: Outcome) -> None:
    row[layout.SCORES : layout.SCORES + 5] = outcome.scores
    if outcome.roles is not None:
        row[layout.ROLES : layout.ROLES + 5] = [ROLES[role] for role in outcome.roles]
    row[layout.TERMINATION] = TERMINATIONS[outcome.termination]
    row[layout.SOLO] = SOLOS[outcome.solo]
    row[layout.MULTIPLIER] = outcome.multiplier
    row[layout.NEXT_FIRST] = outcome.next_first_drawer
    _put_dues(row, layout.OWED_COUNT, outcome.dues)


def dues_array(dues: Iterable[Due]) -> NDArray[np.int64]:
    """Dues as 8 × 3 numbers (kind, giver, receiver), −1 after the last.

    Raises `RuleSetError` for more than eight, or for one that is not between two seats.
    """
    array = np.full((layout.MOST_DUES, 3), -1, np.int64)
    for number, due in enumerate(dues):
        if number == layout.MOST_DUES:
            raise RuleSetError(
                Reason.BAD_DEAL, f"the simulator takes at most {layout.MOST_DUES} dues", clause="R10.6"
            )
        if due.giver not in SEATS or due.receiver not in SEATS or due.giver == due.receiver:
            raise RuleSetError(
                Reason.BAD_DEAL, f"seat {due.giver} cannot owe seat {due.receiver} a card", clause="R10.6"
            )
        array[number] = DUE_KINDS[due.kind], due.giver, due.receiver
    return array


def dues_of(row: Row) -> tuple[Due, ...]:
    """What a finished hand hands on to the next (R10.4, R10.5)."""
    kinds = list(DUE_KINDS)
    owed = row[layout.OWED :][: 3 * row[layout.OWED_COUNT]].reshape(-1, 3).tolist()
    return tuple(Due(kinds[kind], giver, receiver) for kind, giver, receiver in owed)


def _put_dues(row: Row, field: int, dues: tuple[Due, ...]) -> None:
    """Writes the number of dues to a field and the dues behind it."""
    if dues:
        row[field] = len(dues)
        row[field + 1 : field + 1 + 3 * len(dues)] = dues_array(dues)[: len(dues)].ravel()
