"""Deals that are given instead of dealt, for tests, puzzles and analysis (R2.7)."""

from __future__ import annotations

from baohuang.rules.cards import GUARD_JOKER, Card, Hand, format_cards
from baohuang.rules.commands import Start
from baohuang.rules.errors import Reason, RuleSetError
from baohuang.rules.opening import is_callable, needs_of_opening
from baohuang.rules.roles import SEATS, Opening
from baohuang.rules.ruleset import OpenGuard, Rebellion, RuleSet


def check_given(command: Start, hands: tuple[Hand, ...]) -> None:
    """Raises `RuleSetError` (`BAD_DEAL`) unless `hands`, and the opening if one is given, can be played."""
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


def _check_form(opening: object) -> None:
    """Raises `RuleSetError` for what is no `Opening`, or one whose fields are of other types."""
    well_formed = (
        isinstance(opening, Opening)
        and all(type(flag) is bool for flag in (opening.open_solo, opening.open_guard))
        and all(type(seats) is tuple for seats in (opening.rebels, opening.counters, opening.recounters))
        and (opening.called is None or type(opening.called) is Card)
    )
    if not well_formed:
        raise RuleSetError(
            Reason.BAD_DEAL,
            "an opening is an Opening: flags are bools, who declared a tuple of seats, what is called a Card",
            clause="R2.7",
        )


def _check_opening(rules: RuleSet, hands: tuple[Hand, ...], opening: Opening) -> None:
    """Raises `RuleSetError` if no opening of `rules` ends like this."""

    def refuse_if(broken: bool, clause: str, why: str) -> None:
        if broken:
            raise RuleSetError(Reason.BAD_DEAL, f"no opening of {rules} ends like this: {why}", clause=clause)

    _check_form(opening)
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
        called is not None and (not rules.calls or opening.open_solo or not is_callable(called, rules.deck)),
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
