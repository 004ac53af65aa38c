"""Legal plays against brute force: every choice of cards is tried, and R11.4 tells what must be listed."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from baohuang import PRESETS, Card, Game, Opening, RuleError, RuleSet
from baohuang.rules.actions import PASS, Action, ActionKind
from baohuang.rules.cards import GUARD_JOKER, SMALL_JOKER, Hand
from baohuang.rules.state import State
from baohuang.testing.options import pairwise
from baohuang.testing.oracle import is_legal_play, sub_hands

SEATS = range(5)
RULE_SETS = [rules for preset in PRESETS for rules in pairwise(preset)]


def small_game(rules: RuleSet, rng: random.Random) -> tuple[Game, int]:
    """A game at play with few cards of few ranks, and who leads there or has a play to beat."""
    emperor = rng.choice(SEATS)
    guard = rng.choice(SEATS)
    ranks = set(rng.sample(range(13), 3)) | {12} | ({0} if rules.hold_back_threes else {3})
    deck = [card for card in rules.deck if card.is_joker or card.rank in ranks]
    called = rng.choice([card for card in deck if not card.is_joker]) if rules.calls else None
    opening = Opening(emperor, guard, called=called)
    dealt: Hand = tuple(rng.sample(deck, min(len(deck), 40)))
    hands: list[list[Card]] = [[] for _ in SEATS]
    for card in dealt:
        fits = [seat for seat in SEATS if len(hands[seat]) < 7]
        if card == GUARD_JOKER and not rules.calls:
            fits = [guard]
        elif card == called:
            fits = [seat for seat in fits if seat in (emperor, guard)]
        if fits:
            hands[rng.choice(fits)].append(card)
    spare = rest_of(rules, hands, called)
    game = Game.from_hands(rules, [hand or [spare.pop()] for hand in hands], opening=opening)
    for _ in range(rng.randrange(3)):
        seat = game.to_act[0]
        game.apply(seat, rng.choice(game.legal_actions(seat)))
        if not game.to_act:
            return small_game(rules, rng)
    return game, game.to_act[0]


def rest_of(rules: RuleSet, hands: list[list[Card]], called: Card | None) -> list[Card]:
    """Plain cards that nobody holds, for hands that got none."""
    left = Counter(rules.deck) - Counter(card for hand in hands for card in hand)
    return [card for card in left.elements() if not card.is_joker and card != called]


def revealing(state: State) -> Card | None:
    """Which kind of card R11.4 counts: until the guard is public, and called cards where they rank apart."""
    public = state.public
    if public.rules.called_card_is_top and public.called is not None:
        return public.called
    if public.guard is not None:
        return None
    return public.called if public.rules.calls else GUARD_JOKER


def listing_class(state: State, cards: Hand) -> tuple[object, ...]:
    """What two plays that R11.4 lists once have in common."""
    mark = revealing(state)
    plain = Counter(card.rank for card in cards if card < SMALL_JOKER)
    jokers = Counter(card.rank for card in cards if card >= SMALL_JOKER)
    return (
        tuple(sorted(plain.items())),
        tuple(sorted(jokers.items())),
        cards.count(mark) if mark is not None else 0,
    )


def is_accepted(game: Game, seat: int, action: Action) -> bool:
    try:
        Game(game.events, game.state).apply(seat, action)
    except RuleError:
        return False
    return True


def check_position(game: Game, seat: int) -> None:
    state = game.state
    public, hand = state.public, state.hidden.hands[seat]
    table = None if public.table is None else public.table.cards
    accepted = []
    for cards in sub_hands(hand):
        legal = is_accepted(game, seat, Action(ActionKind.PLAY, cards))
        assert legal is is_legal_play(public.rules, hand, cards, table, public.called), (cards, table)
        if legal:
            accepted.append(cards)
    listed = game.legal_actions(seat)
    assert len(set(listed)) == len(listed)
    assert (PASS in listed) is (table is not None)
    plays = [action.cards for action in listed if action.kind is ActionKind.PLAY]
    by_class = {listing_class(state, cards): cards for cards in plays}
    assert len(by_class) == len(plays), "an equal play is listed twice"
    first = {}
    for cards in sorted(accepted):
        first.setdefault(listing_class(state, cards), cards)
    assert by_class == first, "each class once, with the first other cards in deck order"


@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
def test_legal_plays_are_those_of_brute_force(rules: RuleSet) -> None:
    rng = random.Random(str(rules))
    for _ in range(20):
        check_position(*small_game(rules, rng))


@pytest.mark.prove
@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
def test_legal_plays_are_those_of_brute_force_at_length(rules: RuleSet) -> None:
    rng = random.Random(f"{rules} at length")
    for _ in range(500):
        check_position(*small_game(rules, rng))
