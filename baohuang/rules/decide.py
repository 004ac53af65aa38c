"""`decide`: what follows from a command, or why it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from baohuang.rules import events as ev
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.autoplay import LAST_START, auto_action
from baohuang.rules.commands import (
    Act,
    AddNonce,
    AutoAct,
    Command,
    Deal,
    Forfeit,
    Start,
    StartAutoPlay,
    StopAutoPlay,
)
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.events import AutoPlayReason, Event, ForfeitReason, Step
from baohuang.rules.flow import Flow
from baohuang.rules.play import pass_turn, play_cards
from baohuang.rules.roles import Seat, check_seat
from baohuang.rules.setup import add_nonce, deal_hands, start
from baohuang.rules.state import State
from baohuang.rules.steps import answer


def decide(state: State | None, command: Command) -> tuple[Event, ...]:
    """The events that follow from `command`, one or more; raises `RuleError` and leaves everything as it was.

    `state` is None before `Start`.
    """
    return execute(state, command)[0]


def execute(state: State | None, command: Command) -> tuple[tuple[Event, ...], State]:
    """As `decide`, with the state after those events."""
    if isinstance(command, Start):
        if state is not None:
            raise RuleError(Reason.ALREADY_STARTED, "the game has started")
        return start(command)
    if state is None:
        raise RuleError(Reason.NOT_STARTED, "the game has not started")
    flow = Flow(state)
    _EXECUTE[type(command)](flow, command)
    return tuple(flow.events), flow.state


def _act(flow: Flow, command: Act) -> None:
    state, seat = flow.state, command.seat
    check_seat(seat)
    _check_running(state)
    if state.public.auto_play[seat]:
        raise RuleError(
            Reason.ON_AUTO_PLAY,
            f"seat {seat} is on auto-play: take back control first",
            clause="R9.3",
            seat=seat,
        )
    _do(flow, seat, command.action)


def _auto_act(flow: Flow, command: AutoAct) -> None:
    state, seat = flow.state, command.seat
    check_seat(seat)
    _check_running(state)
    if not state.public.auto_play[seat]:
        raise RuleError(Reason.NOT_ON_AUTO_PLAY, f"seat {seat} is not on auto-play", clause="R9.1", seat=seat)
    _check_turn(state, seat)
    _do(flow, seat, auto_action(state, seat))


def _do(flow: Flow, seat: Seat, action: Action) -> None:
    state = flow.state
    if state.public.step is not _PLAY_STEP:
        _check_turn(state, seat)
        answer(flow, seat, action)
        return
    kind = action.kind
    if kind in _DECLARATIONS:
        raise RuleError(
            Reason.TOO_LATE_TO_DECLARE,
            f"{action}: nothing can be declared once play has begun",
            clause="R5.13",
            action=str(action),
        )
    _check_turn(state, seat)
    if kind is _PLAY:
        play_cards(flow, seat, action.cards)
    elif kind is _PASS:
        pass_turn(flow, seat)
    else:
        raise RuleError(Reason.WRONG_STEP, f"{action}: the step is play", clause="R5.0", action=str(action))


def _start_auto_play(flow: Flow, command: StartAutoPlay) -> None:
    seat = command.seat
    check_seat(seat)
    _check_running(flow.state)
    if flow.state.public.auto_play[seat]:
        raise RuleError(Reason.ON_AUTO_PLAY, f"seat {seat} is on auto-play already", clause="R9.1", seat=seat)
    if flow.state.public.forfeited[seat]:
        raise _forfeited(seat)
    _check_why(command.why, AutoPlayReason, "R9.1")
    flow.emit(ev.AutoPlayStarted(seat, command.why))


def _stop_auto_play(flow: Flow, command: StopAutoPlay) -> None:
    seat = command.seat
    check_seat(seat)
    _check_running(flow.state)
    public = flow.state.public
    if not public.auto_play[seat]:
        raise RuleError(Reason.NOT_ON_AUTO_PLAY, f"seat {seat} is not on auto-play", clause="R9.3", seat=seat)
    if public.auto_play_starts[seat] >= LAST_START:
        raise RuleError(
            Reason.AUTO_PLAY_FINAL,
            f"seat {seat} is on auto-play for the {public.auto_play_starts[seat]}th time and stays there",
            clause="R9.3",
            seat=seat,
        )
    flow.emit(ev.AutoPlayEnded(seat))


def _forfeit(flow: Flow, command: Forfeit) -> None:
    seat = command.seat
    check_seat(seat)
    _check_running(flow.state)
    if flow.state.public.forfeited[seat]:
        raise _forfeited(seat)
    _check_why(command.why, ForfeitReason, "R8.5")
    flow.emit(ev.SeatForfeited(seat, command.why))


def _add_nonce(flow: Flow, command: AddNonce) -> None:
    check_seat(command.seat)
    add_nonce(flow, command.seat, command.nonce)


def _deal(flow: Flow, _: Deal) -> None:
    if flow.state.public.step is not Step.NONCES:
        raise RuleError(Reason.ALREADY_DEALT, "the cards are dealt")
    deal_hands(flow, redeal=0)


_EXECUTE: Final[dict[type[Any], Callable[[Flow, Any], None]]] = {
    Act: _act,
    AutoAct: _auto_act,
    StartAutoPlay: _start_auto_play,
    StopAutoPlay: _stop_auto_play,
    Forfeit: _forfeit,
    AddNonce: _add_nonce,
    Deal: _deal,
}
_DECLARATIONS: Final = frozenset(
    {ActionKind.GUARD, ActionKind.REBEL, ActionKind.COUNTER, ActionKind.SOLO, ActionKind.NO}
)
_NOT_RUNNING: Final = frozenset({Step.NONCES, Step.OVER})
# Looking a member up in its enum takes longer than the comparison, and these are made in every move.
_PLAY_STEP, _PLAY, _PASS = Step.PLAY, ActionKind.PLAY, ActionKind.PASS


def _check_running(state: State) -> None:
    step = state.public.step
    if step not in _NOT_RUNNING:
        return
    if step is Step.OVER:
        raise RuleError(Reason.GAME_OVER, "the hand is over")
    raise RuleError(Reason.NOT_STARTED, "the cards are not dealt yet")


def _check_turn(state: State, seat: Seat) -> None:
    if seat in state.to_act:
        return
    public = state.public
    if seat in public.answered:
        raise RuleError(
            Reason.ALREADY_ANSWERED,
            f"seat {seat} has answered in the step {public.step}",
            clause="R5.0",
            seat=seat,
        )
    awaited = ", ".join(map(str, public.to_act))
    raise RuleError(
        Reason.NOT_YOUR_TURN,
        f"it is not the turn of seat {seat}; awaited in the step {public.step}: {awaited}",
        clause="R5.0" if public.step is not Step.PLAY else "R3.3",
        seat=seat,
        to_act=list(public.to_act),
    )


def _check_why(why: object, kind: type[AutoPlayReason | ForfeitReason], clause: str) -> None:
    if not isinstance(why, kind):
        raise RuleError(
            Reason.MALFORMED_ACTION,
            f"{str(why)[:40]!r} is no {kind.__name__}; there are {', '.join(kind)}",
            clause=clause,
        )


def _forfeited(seat: Seat) -> RuleError:
    return RuleError(
        Reason.ALREADY_FORFEITED, f"the player of seat {seat} has left", clause="R8.5", seat=seat
    )
