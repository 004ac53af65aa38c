"""Answers in the steps before the first card (R5)."""

from __future__ import annotations

from typing import Final

from baohuang.rules import events as ev
from baohuang.rules.actions import SOLO, Action, ActionKind
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.events import Step
from baohuang.rules.evolve import needed_to_counter, rebellion_stands
from baohuang.rules.flow import Flow
from baohuang.rules.opening import legal_answers
from baohuang.rules.roles import SEATS, Seat, upstream
from baohuang.rules.ruleset import Rebellion, Throne
from baohuang.rules.setup import deal_hands
from baohuang.rules.state import PublicState, known
from baohuang.rules.throne import answer_throne, open_throne


def answer(flow: Flow, seat: Seat, action: Action) -> None:
    """The answer of `seat`, which is awaited; raises `RuleError` if it is not offered to it."""
    public = flow.state.public
    if action not in legal_answers(flow.state, seat):
        raise _refusal(public, action)
    if public.step is Step.THRONE:
        if answer_throne(flow, seat, action):
            deal_hands(flow, redeal=public.redeal + 1)
    elif public.step is Step.CALL:
        flow.emit(ev.CallAnswered(seat, None if action == SOLO else action.cards[0]))
        if action == SOLO:
            flow.emit(ev.GuardRevealed(seat, seat))
    else:
        flow.emit(ev.Answered(seat, public.step, action))
        if not flow.state.hidden.pending:
            _CLOSE[public.step](flow)


def _declared(flow: Flow) -> tuple[tuple[Seat, ActionKind], ...]:
    answers = flow.state.hidden.answers
    return tuple(
        (seat, action.kind) for seat in SEATS for action in answers[seat] if action.kind is not ActionKind.NO
    )


def _close_tribute(flow: Flow) -> None:
    hidden = flow.state.hidden
    given = {seat: list(actions) for seat, actions in enumerate(hidden.answers)}
    for gift in hidden.gifts:
        card = given[gift.receiver].pop(0).cards[0]
        flow.emit(ev.CardGiven(gift.receiver, gift.giver, gift.kind, returned=True, card=card))
    flow.emit(ev.StepClosed(Step.TRIBUTE, (), stands=True))
    open_throne(flow)


def _close_claim(flow: Flow) -> None:
    emperor = known(flow.state.public.emperor)
    declared = _declared(flow)
    claimants = {seat for seat, _ in declared}
    flow.emit(ev.StepClosed(Step.CLAIM, declared, stands=bool(claimants)))
    if claimants:
        # The emperor first, then upstream from him (R5.7).
        winner = next(upstream(emperor, steps) for steps in SEATS if upstream(emperor, steps) in claimants)
        flow.emit(ev.Enthroned(winner))
        flow.emit(ev.GuardRevealed(winner, winner))


def _close_declare(flow: Flow) -> None:
    public, guard = flow.state.public, known(flow.state.hidden.guard)
    emperor = known(public.emperor)
    declared = _declared(flow)
    rebels = sum(kind is ActionKind.REBEL for _, kind in declared)
    rebellion = rebellion_stands(public.rules.rebellion, rebels)
    open_guard = len(declared) > rebels
    flow.emit(ev.StepClosed(Step.DECLARE, declared, stands=rebellion or open_guard))
    doubles = rebellion and public.rules.rebellion is Rebellion.DOUBLES
    all_rebels = rebels == len(SEATS) - len({emperor, guard})
    if public.guard is None and (open_guard or doubles or all_rebels):
        flow.emit(ev.GuardRevealed(emperor, guard))


def _close_counter(flow: Flow) -> None:
    public, guard = flow.state.public, flow.state.hidden.guard
    declared = _declared(flow)
    stands = len(declared) >= needed_to_counter(public, guard, public.step)
    flow.emit(ev.StepClosed(public.step, declared, stands=stands))


_CLOSE: Final = {
    Step.TRIBUTE: _close_tribute,
    Step.CLAIM: _close_claim,
    Step.DECLARE: _close_declare,
    Step.COUNTER: _close_counter,
    Step.RECOUNTER: _close_counter,
}

_OFFERED: Final = {
    Step.TRIBUTE: ({ActionKind.GIVE}, "R10.6"),
    Step.THRONE: ({ActionKind.KEEP, ActionKind.TAKE, ActionKind.YIELD, ActionKind.DECLINE}, "R5.1"),
    Step.CALL: ({ActionKind.CALL, ActionKind.SOLO}, "R5.5"),
    Step.CLAIM: ({ActionKind.SOLO, ActionKind.NO}, "R5.7"),
    Step.DECLARE: ({ActionKind.GUARD, ActionKind.REBEL, ActionKind.NO}, "R5.8"),
    Step.COUNTER: ({ActionKind.COUNTER, ActionKind.NO}, "R5.11"),
    Step.RECOUNTER: ({ActionKind.COUNTER, ActionKind.NO}, "R5.11"),
}
_THRONE_CLAUSE: Final = {Throne.OFFER: "R5.1", Throne.UPSTREAM: "R5.2", Throne.BOTTOM_CARDS: "R10.1"}


def _refusal(public: PublicState, action: Action) -> RuleError:
    """Why `action` is not among the legal answers."""
    kinds, clause = _OFFERED[public.step]
    rules, step = public.rules, public.step
    if action.kind not in kinds:
        wanted = ", ".join(sorted(kinds))
        return RuleError(
            Reason.WRONG_STEP,
            f"{action}: the step is {step}, which asks for {wanted}",
            clause="R5.0",
            action=str(action),
        )
    reason, why = Reason.NOT_OFFERED, f"{action} is not offered to this seat"
    if step is Step.THRONE:
        clause = "R5.3" if rules.throne is Throne.UPSTREAM and rules.calls else _THRONE_CLAUSE[rules.throne]
        if action.kind in (ActionKind.YIELD, ActionKind.DECLINE):
            reason, why = Reason.CANNOT_YIELD, f"{action}: this seat may not hand the throne on now"
        else:
            reason, why = Reason.CANNOT_TAKE, f"{action}: this seat may not take the throne like this now"
    elif step is Step.CALL:
        reason, why = (
            Reason.CANNOT_CALL,
            f"{action}: a card is called by who holds three or four copies of all four",
        )
    elif step is Step.TRIBUTE:
        reason, why = Reason.CARDS_NOT_HELD, f"{action}: that card is not held"
    elif action.kind is ActionKind.REBEL:
        clause, why = "R5.9", f"{action}: only rebels declare rebellion, where the rule set has it"
    elif action.kind is ActionKind.GUARD:
        why = f"{action}: only a guard who is not emperor may declare, where the rule set has it"
    else:
        why = f"{action}: without grab_solo only the emperor of a hidden solo may claim"
    return RuleError(reason, why, clause=clause, action=str(action))
