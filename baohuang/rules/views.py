"""What a seat or a spectator may know (R11)."""

from __future__ import annotations

from baohuang.rules.cards import Hand
from baohuang.rules.events import Step, Viewer, redact
from baohuang.rules.roles import Seat
from baohuang.rules.ruleset import ShowCounts
from baohuang.rules.state import PublicState, SeatState, State, View, change

_SHOWN_AT_MOST = 10


def view(state: State, viewer: Viewer) -> View:
    """What `viewer` (a seat, or None for a spectator) may know; equal for equal knowledge (R11.3)."""
    over = state.public.step is Step.OVER
    return View(
        viewer=viewer,
        public=_shown(state.public, viewer),
        own=None if viewer is None else _own(state, viewer),
        hands=state.hidden.hands if over else None,
    )


def _shown(public: PublicState, viewer: Viewer) -> PublicState:
    """The public state with the card counts that `show_counts` lets `viewer` see."""
    if public.rules.show_counts is ShowCounts.ALWAYS or public.step is Step.OVER:
        return public
    limit = _SHOWN_AT_MOST if public.rules.show_counts is ShowCounts.AT_MOST_10 else -1
    counts = tuple(
        count if seat == viewer or (count is not None and count <= limit) else None
        for seat, count in enumerate(public.counts)
    )
    return change(public, counts=counts)


def _own(state: State, seat: Seat) -> SeatState:
    public, hidden = state.public, state.hidden
    # Travelling cards are seen by each holder, bottom cards only by who has taken them (R11.5).
    sees_carried = seat == public.holder and (public.rules.adds_cards or public.emperor is not None)
    carried: Hand = hidden.carried if sees_carried else ()
    return SeatState(
        seat=seat,
        hand=hidden.hands[seat],
        to_act=seat in state.to_act,
        guard=hidden.guard if seat == hidden.guard else public.guard,
        carried=carried,
        laid=hidden.laid[seat],
        answers=hidden.answers[seat],
        gifts=tuple([gift for gift in hidden.gifts if redact(gift, seat) == gift]),
    )
