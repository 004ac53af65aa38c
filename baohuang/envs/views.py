"""What was trained in the environments, used elsewhere: observations and action ids from a player's view.

A bot gets a `View` and a list of `Action`s; this makes of them what the environments would show its seat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.encoding import ActionSpace
from baohuang.arena.kernels.observe import BY_RANK, PLANES, Observation
from baohuang.arena.snapshot import STEPS
from baohuang.rules.actions import Action
from baohuang.rules.cards import GUARD_JOKER, RANK_OF, Card
from baohuang.rules.cover import NO_PLAIN, TOP
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.roles import Seat
from baohuang.rules.state import PublicState, SeatState, View

_KINDS: Final = 56
_STEPS: Final = tuple(STEPS)


def observe_view(view: View) -> Observation:
    """What the environments show the seat of a view, by `PLANES`.

    Raises `RuleError` for a spectator's view, and before the deal.
    """
    public, own = view.public, _own(view)
    order = [(own.seat + steps) % 5 for steps in range(5)]
    planes = {**_of_cards(public, own, order), **_of_seats(public, own, order)}
    return np.concatenate(
        [np.asarray(planes[plane.name], np.int8).ravel() for plane in PLANES], dtype=np.int8
    )


def legal_ids(view: View, legal_actions: Sequence[Action]) -> dict[int, Action]:
    """The legal actions of a view's seat by their ids in the rule set's `ActionSpace`."""
    space, mark = ActionSpace.of(view.public.rules), marked_in(view)
    return {space.encode(action, mark): action for action in legal_actions}


def marked_in(view: View) -> Card | None:
    """As `baohuang.arena.marked_card`, for the seat of a view."""
    public, own = view.public, _own(view)
    if public.rules.calls:
        mark = public.called if public.guard is None or public.rules.called_card_is_top else None
    else:
        mark = GUARD_JOKER if public.guard is None else None
    return mark if mark in own.hand else None


def _own(view: View) -> SeatState:
    if view.own is None:
        raise RuleError(Reason.BAD_SEAT, "a spectator has no seat from which to observe")
    if view.public.step not in STEPS:
        raise RuleError(Reason.NOT_STARTED, "the cards are not dealt yet")
    return view.own


def _by_rank(cards: Iterable[Card]) -> NDArray[np.int64]:
    return np.bincount([RANK_OF[card] for card in cards], minlength=BY_RANK)


def _of_cards(public: PublicState, own: SeatState, order: list[Seat]) -> dict[str, object]:
    played = np.zeros((5, BY_RANK), np.int64)
    for trick in (*public.tricks, public.trick):
        for seat, cards in trick:
            played[seat] += _by_rank(cards)
    table = np.zeros(BY_RANK, np.int64)
    is_top = False
    if public.table is not None:
        strength, plain, small, big = public.table.shape
        is_top = strength == TOP
        if strength != NO_PLAIN:
            table[RANK_OF[public.table.cards[0]]] = plain
        table[-2:] = small, big
    called_rank, called_suit = np.zeros(BY_RANK, np.int64), np.zeros(4, np.int64)
    if public.called is not None:
        called_rank[RANK_OF[public.called]] = called_suit[public.called & 3] = 1
    hand = _by_rank(own.hand)
    return {
        "cards": np.bincount(own.hand, minlength=_KINDS),
        "hand": hand,
        "unseen": _by_rank(public.deck) - hand - played.sum(axis=0),
        "played": played[order],
        "table": table,
        "table_is_top": is_top,
        "called_rank": called_rank,
        "called_suit": called_suit,
    }


def _of_seats(public: PublicState, own: SeatState, order: list[Seat]) -> dict[str, object]:
    def marks(*seats: Seat | None) -> list[int]:
        return [int(seat in seats) for seat in order]

    counts = [public.counts[seat] for seat in order]
    return {
        "owner": marks(None if public.table is None else public.table.seat),
        "passes": public.passes,
        "counts": [-1 if count is None else count for count in counts],
        "places": [public.places[seat] or 0 for seat in order],
        "emperor": marks(public.emperor),
        "guard": marks(own.guard),
        "open_solo": public.open_solo,
        "open_guard": public.open_guard,
        "rebels": marks(*public.rebels),
        "rebellion": public.rebellion,
        "counters": marks(*public.counters),
        "counter": public.counter,
        "recounters": marks(*public.recounters),
        "recounter": public.recounter,
        "step": [int(public.step is step) for step in _STEPS],
        "holder": marks(public.holder),
        "first_drawer": marks(public.first_drawer),
        "yields": public.yields,
        "redeals": public.redeal,
    }
