"""Two hands that differ only in cards that a viewer may not know look the same to him (R11.3)."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import zip_longest

from baohuang import Action, ActionKind, Due, DueKind, Game, RuleError, RuleSet
from baohuang.rules.actions import PASS
from baohuang.rules.cards import EMPEROR_JOKER, Card, Hand
from baohuang.rules.events import Cleared, Event, GuardRevealed, HandEnded, ThroneAnswered, Viewer, redact
from baohuang.rules.shuffle import deal

SEATS = range(5)


class Twins:
    """Two games with the same public actions; two seats, not the viewer's, have changed some cards."""

    def __init__(self, rules: RuleSet, seed: int) -> None:
        self.rng = rng = random.Random(f"twins {rules} {seed}")
        hands = list(deal(rules, seed))
        if rng.random() < 0.7:
            hands = [tuple(sorted(rng.sample(hand, 10))) for hand in hands]
            hands = with_needed_cards(rules, hands, rng)
        self.viewer: Viewer = rng.choice((None, *SEATS))
        others = [seat for seat in SEATS if seat != self.viewer]
        one, two = rng.sample(others, 2)
        dues = ()
        if rules.tribute and rng.random() < 0.4:
            givers = rng.sample([seat for seat in SEATS if seat not in (one, two)], 2)
            dues = (Due(DueKind.TRIBUTE, *givers),)
        first = rng.randrange(5)
        self.games = [
            Game.from_hands(rules, twin, first_drawer=first, dues=dues)
            for twin in (hands, swapped(hands, one, two, rng))
        ]
        self.steps = 0

    def run(self) -> str:
        """Plays until the hands are told apart or end; gives back why it stopped."""
        self.compare([game.events for game in self.games])
        while all(game.to_act for game in self.games):
            move = self.common_move()
            if move is None:
                return "no common action"
            seat, action = move
            new = [game.apply(seat, action) for game in self.games]
            if self.seen(new[0]) != self.seen(new[1]):
                self.check_separation(*map(self.seen, new))
                return "told apart"
            self.steps += 1
            if self.games[0].outcome is not None:
                break  # All hands are public now.
            self.compare(new)
        assert not any(game.to_act for game in self.games)
        return "ended"

    def check_separation(self, first: list[Event], second: list[Event]) -> None:
        """The first event that differs may do so.

        It is of R11.2; or its numbers of cards differ (R11.5); or somebody is left with threes only (R10.4).
        """
        pairs = zip_longest(first, second)
        differing = next(pair for pair in pairs if pair[0] != pair[1])
        match differing:
            case ThroneAnswered() as one, ThroneAnswered() as two:
                hidden = {"laid_count": 0, "carried_count": 0}
                receiver = one.seat if one.answer is ActionKind.TAKE else one.asked
                if self.viewer is not None and self.viewer == receiver:
                    hidden["carried"] = 0  # He gets the added or bottom cards, so he sees them.
                assert replace(one, **hidden) == replace(two, **hidden)
            case _:
                assert any(isinstance(event, Cleared | GuardRevealed | HandEnded) for event in differing), (
                    differing
                )

    def common_move(self) -> tuple[int, Action] | None:
        """An action that is legal in both games."""
        first, second = self.games
        awaited = [seat for seat in first.to_act if seat in second.to_act]
        self.rng.shuffle(awaited)
        for seat in awaited:
            possible = [action for action in first.legal_actions(seat) if is_legal(second, seat, action)]
            if possible:
                return seat, self.rng.choice(possible)
        return None

    def seen(self, events: tuple[Event, ...]) -> list[Event]:
        return [redact(event, self.viewer) for event in events]

    def compare(self, new: list[tuple[Event, ...]]) -> None:
        first, second = self.games
        viewer = self.viewer
        assert self.seen(new[0]) == self.seen(new[1])
        assert first.view(viewer) == second.view(viewer)
        assert first.version == second.version
        if viewer is None:
            return
        assert first.legal_actions(viewer) == second.legal_actions(viewer)
        for action in self.attempts(viewer):
            assert answer_to(first, viewer, action) == answer_to(second, viewer, action)

    def attempts(self, viewer: int) -> list[Action]:
        """What the viewer may try, whatever he is told: cards that he holds, and some that he does not."""
        hand = self.games[0].state.hidden.hands[viewer]
        deck = self.games[0].state.public.deck
        tried = [
            PASS,
            Action.parse(
                self.rng.choice(("keep", "take", "yield", "solo", "guard", "rebel", "counter", "no"))
            ),
        ]
        tried.append(Action.play(tuple(self.rng.sample(deck, self.rng.choice((1, 2))))))
        tried.append(Action.parse(f"call {self.rng.choice(deck)}"))
        if hand:
            tried.append(
                Action.play(tuple(self.rng.sample(hand, min(len(hand), self.rng.choice((1, 1, 2))))))
            )
        return tried


def with_needed_cards(rules: RuleSet, hands: list[Hand], rng: random.Random) -> list[Hand]:
    """The hands with the cards that the opening needs (R2.7), dealt to anyone."""
    needed: list[tuple[Card, ...]] = []
    marked = [card for card in set(rules.deck) if str(card) in ("EJ", "GJ") and rules.has_marked_jokers]
    needed += [(card,) for card in marked]
    if rules.calls:
        card = rng.choice(
            [card for card in set(rules.deck) if not card.is_joker and rules.deck.count(card) == 4]
        )
        needed += [(card,) * 3, (card,)]
    kinds = {card for cards in needed for card in cards}
    new = [[card for card in hand if card not in kinds] for hand in hands]
    for cards in needed:
        new[rng.randrange(5)] += cards
    return [tuple(sorted(hand)) for hand in new]


def swapped(hands: list[Hand], one: int, two: int, rng: random.Random) -> list[Hand]:
    """The hands with some cards of two seats changed for each other; often the cards that matter.

    The emperor joker stays, since who is asked for the throne is public, and so do cards to be called.
    """
    number = rng.randint(1, 4)
    mine, yours = list(hands[one]), list(hands[two])
    counts = Counter(card for hand in hands for card in hand)

    def weight(card: Card) -> float:
        return rng.random() + (
            2 if str(card) == "GJ" or (counts[card] == 4 and hands[one].count(card) == 1) else 0
        )

    gives = sorted([card for card in mine if card != EMPEROR_JOKER and mine.count(card) < 3], key=weight)[
        -number:
    ]
    takes = sorted([card for card in yours if card != EMPEROR_JOKER and yours.count(card) < 3], key=weight)[
        -number:
    ]
    takes, gives = takes[: len(gives)], gives[: len(takes)]
    for card in gives:
        mine.remove(card)
    for card in takes:
        yours.remove(card)
    new = list(hands)
    new[one], new[two] = tuple(sorted(mine + takes)), tuple(sorted(yours + gives))
    return new


def is_legal(game: Game, seat: int, action: Action) -> bool:
    return answer_to(game, seat, action) is None


def answer_to(game: Game, seat: int, action: Action) -> object:
    """None if the action is accepted, else all that its refusal says."""
    try:
        Game(game.events, game.state).apply(seat, action)
    except RuleError as error:
        return str(error), error.reason, error.clause, dict(error.details)
    return None


def run_twins(rules: RuleSet, first_seed: int, pairs: int) -> Counter[str]:
    """Checks pairs of hands; gives back how they ended. A failure names the rule set and the seed."""
    ends: Counter[str] = Counter()
    for seed in range(first_seed, first_seed + pairs):
        twins = Twins(rules, seed)
        try:
            ends[twins.run()] += 1
        except AssertionError as error:
            raise AssertionError(f"{rules}, twins of seed {seed}, step {twins.steps}: {error}") from error
        ends["steps"] += twins.steps
    return ends
