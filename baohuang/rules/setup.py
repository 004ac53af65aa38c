"""From nothing to five hands: start, nonces, deal, debts and tribute (R2, R10.6)."""

from __future__ import annotations

from typing import Final

from baohuang.rules import events as ev
from baohuang.rules.cards import GUARD_JOKER, Card, Hand, format_cards
from baohuang.rules.commands import Start
from baohuang.rules.errors import Reason, RuleError, RuleSetError
from baohuang.rules.events import Event, Step
from baohuang.rules.evolve import evolve
from baohuang.rules.flow import Flow
from baohuang.rules.opening import highest, needs_of_opening
from baohuang.rules.outcome import DueKind
from baohuang.rules.roles import SEATS, Opening, Seat, check_seat
from baohuang.rules.ruleset import OpenGuard, Rebellion, RuleSet
from baohuang.rules.shuffle import MOST_NONCE_BYTES, commit, deal, seed_bytes
from baohuang.rules.state import State, known
from baohuang.rules.throne import open_throne

MOST_DUES: Final = 20
"""More than any hand can leave behind: four cleared players and three cards of tribute (R10.4, R10.6)."""


def start(command: Start) -> tuple[tuple[Event, ...], State]:
    """The first events of a game.

    Raises `RuleError` for a bad seed, salt or seat, `RuleSetError` for a bad deal (R2.7).
    """
    check_seat(command.first_drawer)
    _check_dues(command)
    if command.hands is not None:
        _check_given(command, command.hands)
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


def _check_dues(command: Start) -> None:
    folk = command.rules.tribute or command.rules.hold_back_threes
    if len(command.dues) > MOST_DUES:
        raise RuleSetError(Reason.BAD_DEAL, f"a hand owes at most {MOST_DUES} cards", clause="R10.6")
    for due in command.dues:
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


def _check_given(command: Start, hands: tuple[Hand, ...]) -> None:
    rules = command.rules
    if command.seed is not None or command.await_nonces:
        raise RuleSetError(Reason.BAD_DEAL, "given hands need no seed and no nonces", clause="R2.7")
    if len(hands) != len(SEATS):
        raise RuleSetError(Reason.BAD_DEAL, f"a deal has five hands, not {len(hands)}", clause="R2.7")
    for seat, hand in enumerate(hands):
        if not hand:
            raise RuleSetError(Reason.BAD_DEAL, f"the hand of seat {seat} is empty", clause="R2.7", seat=seat)
    deck = [card for hand in hands for card in hand]
    extra = sorted({card for card in deck if deck.count(card) > rules.deck.count(card)})
    if extra:
        raise RuleSetError(
            Reason.BAD_DEAL,
            f"the deck of {rules} does not hold so many of: {format_cards(extra)}",
            clause="R2.7",
            cards=format_cards(extra),
        )
    if command.opening is not None:
        if command.dues:
            raise RuleSetError(
                Reason.BAD_DEAL, "a hand that starts at play has paid its dues", clause="R10.6"
            )
        _check_opening(rules, hands, command.opening)
        return
    lacking = needs_of_opening(rules, hands, tuple(deck))
    if lacking:
        raise RuleSetError(
            Reason.BAD_DEAL, f"to start at the opening, {rules} needs {lacking}", clause="R2.7"
        )


def is_callable(rules: RuleSet, card: Card) -> bool:
    """Whether the deck has the four copies of a card that make it one to call (R5.5)."""
    return not card.is_joker and rules.deck.count(card) == 4


def _check_opening(rules: RuleSet, hands: tuple[Hand, ...], opening: Opening) -> None:
    """Raises `RuleSetError` if no opening of `rules` ends like this."""

    def refuse_if(broken: bool, clause: str, why: str) -> None:
        if broken:
            raise RuleSetError(Reason.BAD_DEAL, f"no opening of {rules} ends like this: {why}", clause=clause)

    guard, emperor, called = opening.guard, opening.emperor, opening.called
    for seat in (emperor, guard, *opening.rebels, *opening.counters, *opening.recounters):
        refuse_if(
            type(seat) is not int or seat not in SEATS, "R2.4", "seats are 0 to 4, and a guard is named"
        )
    for declared_by in (opening.rebels, opening.counters, opening.recounters):
        refuse_if(
            list(declared_by) != sorted(set(declared_by)),
            "R5.0",
            "seats that declared are named once, in order",
        )
    solo = guard == emperor
    royal = (emperor, guard)
    refuse_if(opening.open_solo and not solo, "R5.6", "an open solo has no guard but the emperor")
    refuse_if(opening.open_solo and not (rules.asks_claims or rules.calls), "R5.7", "it has no open solo")
    refuse_if(
        called is not None and (not rules.calls or opening.open_solo or not is_callable(rules, called)),
        "R5.5",
        "no such card is called",
    )
    holders = [seat for seat, hand in enumerate(hands) if called in hand]
    refuse_if(not set(holders) <= set(royal), "R5.5", "only emperor and guard hold copies of the called card")
    refuse_if(rules.calls and called is None and not opening.open_solo, "R5.5", "a card is called")
    declared = opening.open_guard or opening.rebels
    refuse_if(bool(declared) and opening.open_solo, "R5.7", "nothing is declared after an open solo")
    refuse_if(
        opening.open_guard and (solo or rules.open_guard is OpenGuard.NONE), "R5.8", "there is no open guard"
    )
    refuse_if(bool(opening.rebels) and rules.rebellion is Rebellion.NONE, "R5.9", "it has no rebellion")
    refuse_if(any(seat in royal for seat in opening.rebels), "R5.9", "only rebels declare rebellion")
    refuse_if(bool(opening.counters) and not rules.counters, "R5.11", "it has no counter")
    standing = opening.open_guard or len(opening.rebels) >= 2
    royals_declared = opening.open_solo or opening.open_guard
    refuse_if(
        bool(opening.counters) and not (opening.open_solo or standing), "R5.11", "there is nothing to counter"
    )
    refuse_if(
        any((seat in royal) is royals_declared for seat in opening.counters),
        "R5.11",
        "only the other side counters",
    )
    refuse_if(
        any((seat in royal) is not royals_declared for seat in opening.recounters),
        "R5.11",
        "only the first side recounters",
    )
    enough = len(opening.counters) >= (2 if royals_declared else 1)
    refuse_if(bool(opening.recounters) and (solo or not enough), "R5.11", "there is nothing to recounter")
    if not rules.calls and not opening.open_solo:
        holder = next((seat for seat, hand in enumerate(hands) if GUARD_JOKER in hand), guard)
        refuse_if(holder != guard, "R5.5", "the holder of GJ is the guard")
