"""The throne step: keep or yield, take or decline (R5.1 to R5.4, R10.1)."""

from __future__ import annotations

from typing import Final

from baohuang.rules import events as ev
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import Hand
from baohuang.rules.flow import Flow
from baohuang.rules.opening import (
    MOST_REDEALS,
    MOST_YIELDS,
    ROUND,
    bottom_card,
    laid_by_yield,
    next_offered,
)
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import Seat, downstream, upstream
from baohuang.rules.ruleset import AllRefuse, Throne
from baohuang.rules.scoring import refused_outcome, void_outcome
from baohuang.rules.state import known


def open_throne(flow: Flow) -> None:
    """After the deal: a fixed throne needs no answer (R5.4)."""
    public = flow.state.public
    if public.rules.throne is Throne.FIXED:
        flow.emit(ev.Enthroned(known(public.first_holder)))


def answer_throne(flow: Flow, seat: Seat, action: Action) -> bool:
    """Follows a legal answer; gives back whether the cards must be dealt again (R5.14)."""
    return _ANSWER[flow.state.public.rules.throne](flow, seat, action.kind)


def _answered(
    flow: Flow, seat: Seat, kind: ActionKind, asked: Seat | None, laid: Hand = (), carried: Hand = ()
) -> None:
    flow.emit(
        ev.ThroneAnswered(
            seat=seat,
            answer=kind,
            asked=asked,
            laid=laid,
            laid_count=len(laid),
            carried=carried,
            carried_count=len(carried),
        )
    )


def _offered(flow: Flow, seat: Seat, kind: ActionKind) -> bool:
    public = flow.state.public
    giver = known(public.first_holder)
    if kind is ActionKind.KEEP:
        _answered(flow, seat, kind, None)
        flow.emit(ev.Enthroned(seat))
        return False
    if kind is ActionKind.TAKE:
        _answered(flow, seat, kind, None)
        flow.emit(ev.Enthroned(seat))
        flow.emit(ev.GuardRevealed(seat, giver))
        return False
    asked = next_offered(flow.state)
    _answered(flow, seat, kind, asked)
    if asked is None:
        _all_refused(flow, giver)
    return False


def _all_refused(flow: Flow, giver: Seat) -> None:
    match flow.state.public.rules.all_refuse:
        case AllRefuse.MUST_PLAY:
            flow.emit(ev.Enthroned(giver))
            flow.emit(ev.GuardRevealed(giver, giver))
        case AllRefuse.VOID:
            end_hand(flow, void_outcome(flow.state.public))
        case _:
            end_hand(flow, refused_outcome(flow.state.public, giver))


def _upstream(flow: Flow, seat: Seat, kind: ActionKind) -> bool:
    state = flow.state
    public = state.public
    if kind is not ActionKind.YIELD:
        _answered(flow, seat, kind, None, carried=state.hidden.carried)
        flow.emit(ev.Enthroned(seat))
        return False
    laid = laid_by_yield(state, seat)
    yields = public.yields + 1
    if yields == MOST_YIELDS:
        _answered(flow, seat, kind, None, laid)
        return _no_emperor(flow)
    if public.redeal == MOST_REDEALS and yields == ROUND:
        _answered(flow, seat, kind, None, laid)
        end_hand(flow, void_outcome(flow.state.public))
        return False
    _answered(flow, seat, kind, upstream(seat), laid, carried=(*state.hidden.carried, *laid))
    return False


def _bottom_cards(flow: Flow, seat: Seat, kind: ActionKind) -> bool:
    state = flow.state
    public = state.public
    if kind is ActionKind.TAKE:
        _answered(flow, seat, kind, None, carried=state.hidden.carried)
        flow.emit(ev.Enthroned(seat))
        return False
    laid = bottom_card(state.hidden.hands[seat], first_asked=seat == public.first_drawer)
    asked = downstream(seat)
    if asked == public.first_drawer:
        _answered(flow, seat, kind, None, laid)
        return _no_emperor(flow)
    _answered(flow, seat, kind, asked, laid)
    return False


def _no_emperor(flow: Flow) -> bool:
    """A deal found no emperor: True to deal again; where that cannot be, the hand ends (R5.14)."""
    public = flow.state.public
    if public.redeal == MOST_REDEALS or public.given_deal:
        end_hand(flow, void_outcome(public))
        return False
    return True


def end_hand(flow: Flow, outcome: Outcome) -> None:
    """The last event of a hand, with the seed and salt that prove the deal."""
    hidden = flow.state.hidden
    flow.emit(ev.HandEnded(outcome, seed=hidden.seed, salt=hidden.salt))


_ANSWER: Final = {
    Throne.OFFER: _offered,
    Throne.UPSTREAM: _upstream,
    Throne.BOTTOM_CARDS: _bottom_cards,
}
