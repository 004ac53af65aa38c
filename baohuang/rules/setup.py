"""From nothing to five hands: start, nonces, deal, debts and tribute (R2.2, R10.6)."""

from __future__ import annotations

from typing import Final

from baohuang.rules import events as ev
from baohuang.rules.commands import Start
from baohuang.rules.errors import Reason, RuleError, RuleSetError
from baohuang.rules.events import Event, Step
from baohuang.rules.evolve import evolve
from baohuang.rules.flow import Flow
from baohuang.rules.given import check_given
from baohuang.rules.opening import highest
from baohuang.rules.outcome import Due, DueKind
from baohuang.rules.roles import SEATS, Opening, Seat, check_seat
from baohuang.rules.ruleset import Rebellion, RuleSet
from baohuang.rules.shuffle import MOST_NONCE_BYTES, commit, deal, seed_bytes
from baohuang.rules.state import State, known
from baohuang.rules.throne import open_throne

MOST_DUES: Final = 20
"""More than any hand can leave behind: four cleared players and three cards of tribute (R10.4, R10.6)."""


def start(command: Start) -> tuple[tuple[Event, ...], State]:
    """The first events of a game.

    Raises `RuleError` for a bad seed, salt or seat, `RuleSetError` for a bad deal (R2.7).
    """
    _check_rules(command.rules)
    check_seat(command.first_drawer)
    _check_dues(command)
    if command.hands is not None:
        check_given(command, command.hands)
    elif command.seed is None:
        raise RuleError(Reason.BAD_SEED, "a game needs a seed or given hands", clause="R2.2")
    elif command.opening is not None:
        raise RuleError(Reason.BAD_DEAL, "a hand starts at play only from given hands", clause="R2.7")
    else:
        seed_bytes(command.seed)
    commitment = None
    if command.salt is not None:
        if command.seed is None:
            raise RuleError(Reason.BAD_SEED, "a salt needs a seed")
        commitment = commit(command.seed, command.salt)
    first = ev.GameStarted(
        rules=command.rules,
        first_drawer=command.first_drawer,
        dues=command.dues,
        commitment=commitment,
        seed=command.seed,
        salt=command.salt,
    )
    flow = Flow(evolve(None, first))
    if command.hands is not None:
        hands = tuple(tuple(sorted(hand)) for hand in command.hands)
        deck = tuple(sorted([card for hand in hands for card in hand]))
        flow.emit(ev.Dealt(redeal=0, hands=hands, deck=deck))
        if command.opening is not None:
            _give_opening(flow, command.opening)
        else:
            _pay_dues(flow)
    elif not command.await_nonces:
        deal_hands(flow, redeal=0)
    return (first, *flow.events), flow.state


def add_nonce(flow: Flow, seat: Seat, nonce: str) -> None:
    """Adds a seat's nonce of 1 to 64 bytes; raises `RuleError` for another, a second, or a late one."""
    public = flow.state.public
    if public.step is not Step.NONCES:
        raise RuleError(Reason.ALREADY_DEALT, "the cards are dealt; a nonce comes before")
    if public.nonces[seat] is not None:
        raise RuleError(Reason.NONCE_REFUSED, f"seat {seat} has added its nonce", seat=seat)
    try:
        length = len(nonce.encode())
    except UnicodeEncodeError:
        length = 0
    if not 0 < length <= MOST_NONCE_BYTES:
        raise RuleError(
            Reason.NONCE_REFUSED, f"a nonce has 1 to {MOST_NONCE_BYTES} bytes of UTF-8", seat=seat
        )
    flow.emit(ev.NonceAdded(seat, nonce))


def deal_hands(flow: Flow, redeal: int) -> None:
    """Deals from the seed; redeal n shuffles with (seed, n) and repeats the payments (R5.14)."""
    public, seed = flow.state.public, known(flow.state.hidden.seed)
    hands = deal(public.rules, seed, nonces=public.nonces, redeal=redeal, first_drawer=public.first_drawer)
    flow.emit(ev.Dealt(redeal=redeal, hands=hands, deck=None))
    _pay_dues(flow)


def _pay_dues(flow: Flow) -> None:
    """Debts, then tribute, each the giver's highest card then (R10.6); a last card stays where it is."""
    for due in flow.state.public.dues:
        hand = flow.state.hidden.hands[due.giver]
        if len(hand) > 1:
            flow.emit(ev.CardGiven(due.giver, due.receiver, due.kind, returned=False, card=highest(hand)))
    if flow.state.public.step is Step.THRONE:
        open_throne(flow)


def _give_opening(flow: Flow, opening: Opening) -> None:
    flow.emit(ev.OpeningGiven(opening))
    public, hidden = flow.state.public, flow.state.hidden
    rules = public.rules
    shown = (
        opening.open_solo
        or opening.open_guard
        or (public.rebellion and rules.rebellion is Rebellion.DOUBLES)
        or (
            len(opening.rebels)
            == len([seat for seat in SEATS if seat not in (opening.emperor, opening.guard)])
        )
    )
    if shown:
        flow.emit(ev.GuardRevealed(opening.emperor, known(hidden.guard)))


def _check_rules(rules: object) -> None:
    if not isinstance(rules, RuleSet):
        raise RuleSetError(
            Reason.UNKNOWN_PRESET,
            f"{str(rules)[:40]!r} is no RuleSet; RuleSet.preset makes one",
            clause="R2",
        )


def _check_dues(command: Start) -> None:
    folk = command.rules.tribute or command.rules.hold_back_threes
    if len(command.dues) > MOST_DUES:
        raise RuleSetError(Reason.BAD_DEAL, f"a hand owes at most {MOST_DUES} cards", clause="R10.6")
    for due in command.dues:
        if not isinstance(due, Due):
            raise RuleSetError(Reason.BAD_DEAL, f"{str(due)[:40]!r} is no Due", clause="R10.6")
        check_seat(due.giver)
        check_seat(due.receiver)
        if not isinstance(due.kind, DueKind):
            raise RuleSetError(
                Reason.BAD_DEAL, f"a due is a debt or tribute, not {str(due.kind)[:40]!r}", clause="R10.6"
            )
        if not folk:
            raise RuleSetError(Reason.BAD_DEAL, f"{command.rules} has no debts or tribute", clause="R10.6")
        if due.giver == due.receiver:
            raise RuleSetError(
                Reason.BAD_DEAL, f"seat {due.giver} cannot owe seat {due.receiver} a card", clause="R10.6"
            )
