"""What the steps before the first card allow (R5, R10.1, R10.6)."""

from __future__ import annotations

from typing import Final

from baohuang.rules.actions import (
    COUNTER,
    DECLINE,
    GUARD,
    KEEP,
    NO,
    REBEL,
    SOLO,
    TAKE,
    YIELD,
    Action,
    ActionKind,
)
from baohuang.rules.cards import (
    BIG,
    EMPEROR_JOKER,
    GUARD_JOKER,
    SMALL,
    TWO,
    Card,
    Hand,
    Rank,
    without,
)
from baohuang.rules.events import Step
from baohuang.rules.roles import Seat, downstream
from baohuang.rules.ruleset import OpenGuard, Rebellion, RuleSet, Throne
from baohuang.rules.state import State, known

MOST_REDEALS: Final = 3
"""In the deal after the last one nobody able may yield or decline (R5.14)."""
MOST_YIELDS: Final = 10
"""Two full rounds: the tenth yield deals again (R5.2, R5.3)."""
ROUND: Final = 5


def is_callable(card: Card, deck: Hand) -> bool:
    """Whether the deck has the four copies of a card that make it one to call (R5.5)."""
    return not card.is_joker and deck.count(card) == 4


def callable_cards(hand: Hand, deck: Hand) -> list[Card]:
    """The cards that an emperor with `hand` may call, in deck order (R5.5)."""
    return [card for card in sorted(set(hand)) if hand.count(card) >= 3 and is_callable(card, deck)]


def holds_copies(hand: Hand, number: int) -> bool:
    """Whether `hand` has `number` copies of a card that is no joker."""
    return any(hand.count(card) >= number for card in set(hand) if not card.is_joker)


def highest(hand: Hand) -> Card:
    """The highest card, first in deck order among equals (R10.6)."""
    return min(hand, key=lambda card: (-card.rank, card))


def added_card(hand: Hand) -> Hand:
    """The card that a holder adds to a throne that he passes on, none if he has jokers alone (R5.2)."""
    plain = tuple([card for card in hand if not card.is_joker])
    return (highest(plain),) if plain else ()


def bottom_card(hand: Hand, *, first_asked: bool) -> Hand:
    """The card that who does not take the throne lays down (R10.1); never his last one."""
    wanted: tuple[Rank, ...] = (BIG, SMALL, TWO) if first_asked else (TWO, SMALL, BIG)
    if len(hand) > 1:
        for rank in wanted:
            for card in hand:
                if card.rank == rank:
                    return (card,)
    return ()


def laid_by_yield(state: State, seat: Seat) -> Hand:
    """What `seat` adds to a throne that it yields; the first holder adds nothing at first (R5.2)."""
    public = state.public
    if not public.rules.adds_cards or public.yields == 0:
        return ()
    return added_card(state.hidden.hands[seat])


def next_offered(state: State) -> Seat | None:
    """Whom the offered throne is offered to next: seat+2, +3, +4, +1 of the giver; None after them (R5.1)."""
    giver = known(state.public.first_holder)
    order = (2, 3, 4, 1)
    offered = state.public.yields
    return downstream(giver, order[offered]) if offered < len(order) else None


def legal_answers(state: State, seat: Seat) -> list[Action]:
    """What `seat`, whose answer is awaited, may answer in an opening step; never empty (R5.0)."""
    public, hidden = state.public, state.hidden
    match public.step:
        case Step.TRIBUTE:
            given = tuple([card for action in hidden.answers[seat] for card in action.cards])
            left = without(hidden.hands[seat], given)
            return [Action(ActionKind.GIVE, (card,)) for card in sorted(set(left))]
        case Step.THRONE:
            return _THRONE_ANSWERS[public.rules.throne](state, seat)
        case Step.CALL:
            calls = callable_cards(hidden.hands[seat], public.deck)
            return [*(Action(ActionKind.CALL, (card,)) for card in calls), SOLO]
        case Step.CLAIM:
            hidden_solo = seat == public.emperor == hidden.guard
            return [SOLO, NO] if public.rules.grab_solo or hidden_solo else [NO]
        case Step.DECLARE:
            return [*_declarations(public.rules, seat, public.emperor, hidden.guard), NO]
        case _:
            return [COUNTER, NO]


def _declarations(rules: RuleSet, seat: Seat, emperor: Seat | None, guard: Seat | None) -> list[Action]:
    if seat == emperor:
        return []
    if seat == guard:
        return [GUARD] if rules.open_guard is not OpenGuard.NONE else []
    return [REBEL] if rules.rebellion is not Rebellion.NONE else []


def _offered_throne(state: State, seat: Seat) -> list[Action]:
    if seat != state.public.first_holder:
        return [TAKE, DECLINE]
    hand = state.hidden.hands[seat]
    return [KEEP, YIELD] if GUARD_JOKER in hand and EMPEROR_JOKER in hand else [KEEP]


def _upstream_throne(state: State, seat: Seat) -> list[Action]:
    public = state.public
    take = KEEP if public.yields == 0 else TAKE
    hand = state.hidden.hands[seat]
    if len(without(hand, (EMPEROR_JOKER, *laid_by_yield(state, seat)))) == 0:
        return [take]  # A yield may not empty the hand.
    can_call = not public.rules.calls or bool(callable_cards(hand, public.deck))
    if public.redeal == MOST_REDEALS:
        return [take] if can_call else [YIELD]
    second_round = public.rules.calls and seat == public.first_holder and public.yields >= ROUND
    if second_round and can_call and not holds_copies(hand, 4):
        return [take]
    return [take, YIELD]


def _asked_throne(state: State, seat: Seat) -> list[Action]:
    if not holds_copies(state.hidden.hands[seat], 3):
        return [DECLINE]
    return [TAKE] if state.public.redeal == MOST_REDEALS else [TAKE, DECLINE]


_THRONE_ANSWERS: Final = {
    Throne.OFFER: _offered_throne,
    Throne.UPSTREAM: _upstream_throne,
    Throne.BOTTOM_CARDS: _asked_throne,
}


def needs_of_opening(rules: RuleSet, hands: tuple[Hand, ...], deck: Hand) -> str:
    """What a given deal lacks to start at the opening, "" if nothing (R2.7)."""
    cards = {card for hand in hands for card in hand}
    if rules.throne is not Throne.BOTTOM_CARDS and EMPEROR_JOKER not in cards:
        return "the emperor joker EJ"
    if not rules.calls and GUARD_JOKER not in cards:
        return "the guard joker GJ"
    if rules.calls and not any(callable_cards(hand, deck) for hand in hands):
        return "a callable card: three or four copies in one hand of a card of which all four are dealt"
    return ""
