"""What the server plays for a player (R9)."""

from __future__ import annotations

from typing import Final

from baohuang.rules.actions import DECLINE, KEEP, NO, PASS, SOLO, TAKE, YIELD, Action, ActionKind
from baohuang.rules.cards import Card, Hand
from baohuang.rules.cover import TOP
from baohuang.rules.events import Step
from baohuang.rules.legal import legal_actions, revealing_card
from baohuang.rules.opening import callable_cards
from baohuang.rules.roles import Seat
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.state import State

LAST_START: Final = 4
"""The auto-play of a hand, counted from 1, from which a player cannot come back (R9.3)."""


def auto_action(state: State, seat: Seat) -> Action:
    """The action of R9 for `seat`, whose action is awaited; always a legal one."""
    public, hand = state.public, state.hidden.hands[seat]
    match public.step:
        case Step.THRONE:
            return _throne(state, seat)
        case Step.CALL:
            return _call(hand, public.deck)
        case Step.TRIBUTE:
            return legal_actions(state, seat)[0]
        case Step.PLAY:
            if public.table is not None:
                return PASS
            return lead(public.rules, hand, called=public.called, revealing=_revealing_lead(state, seat))
        case _:
            return NO


def lead(rules: RuleSet, hand: Hand, *, called: Card | None = None, revealing: Card | None = None) -> Action:
    """The smallest single card that may be led, or the held-back cards if only those are left (R9.2)."""
    held = rules.held_back
    free = [card for card in hand if card.rank != held]
    if not free:
        return Action(ActionKind.PLAY, hand)

    def size(card: Card) -> tuple[int, bool, Card]:
        top = rules.called_card_is_top and card == called
        return (TOP if top else card.rank, card == revealing, card)

    return Action(ActionKind.PLAY, (min(free, key=size),))


def _revealing_lead(state: State, seat: Seat) -> Card | None:
    """The kind of card that tells something when `seat` leads it; of an emperor's only the fourth (R11.2)."""
    public, hidden = state.public, state.hidden
    if public.rules.calls and seat == public.emperor:
        called = public.called
        last = called is not None and seat == hidden.guard and hidden.hands[seat].count(called) == 1
        return revealing_card(state) if last else None
    return revealing_card(state)


def _throne(state: State, seat: Seat) -> Action:
    rules, public = state.public.rules, state.public
    offered = legal_actions(state, seat)
    # R9.1: what he could call, he could call with the bottom cards too; those are not seen before the taking.
    wants = not rules.calls or bool(callable_cards(state.hidden.hands[seat], public.deck))
    preferred = (KEEP, TAKE) if wants else (YIELD, DECLINE)
    return next((action for action in offered if action in preferred), offered[0])


def _call(hand: Hand, deck: Hand) -> Action:
    calls = callable_cards(hand, deck)
    for copies in (3, 4):
        for card in calls:
            if hand.count(card) == copies:
                return Action(ActionKind.CALL, (card,))
    return SOLO
