"""The laws that every hand obeys, checked on random hands."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial

from baohuang import (
    Action,
    ActionKind,
    BaohuangError,
    Due,
    DueKind,
    Game,
    Reason,
    RuleError,
    RuleSet,
    Termination,
)
from baohuang.rules.actions import COUNTER, DECLINE, GUARD, KEEP, NO, PASS, REBEL, SOLO, TAKE, YIELD
from baohuang.rules.commands import Act
from baohuang.rules.decide import decide
from baohuang.rules.events import AutoPlayEnded, AutoPlayStarted, SeatForfeited, Step, redact
from baohuang.rules.evolve import fold
from baohuang.rules.state import State
from baohuang.testing.oracle import is_legal_play

SEATS = range(5)
MOST_DEALS = 4
ANSWERS = (KEEP, TAKE, YIELD, DECLINE, SOLO, GUARD, REBEL, COUNTER, NO, PASS)


def longest_hand(rules: RuleSet, dues: int) -> int:
    """The most events that a hand can have, commands about auto-play and forfeits apart.

    A deal is one event, each due at most three (given, chosen, given back) and one that closes the step, the
    throne at most ten answers (R5.2); there are four deals at most (R5.14). Roles, the claim with its winner,
    declarations, counter and recounter come to 30. In play every card is played once, so there are at most as
    many plays as cards, each followed by four passes at most and the end of its trick (R3.4). Five seats go
    out or are cleared, one guard is revealed, and the hand begins and ends.
    """
    opening = MOST_DEALS * (1 + 3 * dues + 1 + 10) + 30
    return opening + 6 * len(rules.deck) + 5 + 1 + 2


def random_dues(rules: RuleSet, rng: random.Random) -> tuple[Due, ...]:
    """Debts and tribute that a hand may begin with (R10.6)."""
    if not rules.tribute or rng.random() < 0.5:
        return ()
    debts = [Due(DueKind.DEBT, *rng.sample(SEATS, 2)) for _ in range(rng.randrange(2))]
    return (*debts, *(Due(DueKind.TRIBUTE, *rng.sample(SEATS, 2)) for _ in range(3)))


class Hand:
    """One random hand and the checks on it. `thorough` of 1 checks every law at every step."""

    def __init__(self, rules: RuleSet, seed: int, *, thorough: float) -> None:
        self.rng = random.Random(f"{rules} {seed}")
        self.dues = random_dues(rules, self.rng)
        self.game = Game.deal(rules, seed=seed, first_drawer=self.rng.randrange(5), dues=self.dues)
        self.thorough = thorough
        self.seats = 0
        """Commands about auto-play and forfeits so far."""

    def play(self) -> None:
        check_cards(self.game.state)
        while self.game.to_act:
            if self.rng.random() < self.thorough:
                self.check_step()
            if self.rng.random() < 0.02:
                self.seat_command()
            self.act()
        self.check_end()

    def act(self) -> None:
        seat = self.rng.choice(self.game.to_act)
        if self.game.state.public.auto_play[seat]:
            auto = self.game.auto_action(seat)
            assert auto in self.game.legal_actions(seat), "auto-play's action is a legal one"
            self.game.auto_act(seat)
            return
        actions = self.game.legal_actions(seat)
        assert actions, "who is to act can act"
        self.game.apply(seat, self.rng.choice(actions))

    def seat_command(self) -> None:
        seat = self.rng.randrange(5)
        game, before = self.game, self.game.state
        if before.public.auto_play[seat] and self.rng.random() < 0.9:
            error = refusal(lambda: game.stop_auto_play(seat))
        elif self.rng.random() < 0.9:
            error = refusal(lambda: game.start_auto_play(seat))
        else:
            error = refusal(lambda: game.forfeit(seat))
        if error is None:
            self.seats += 1
            return
        assert error.reason in (Reason.AUTO_PLAY_FINAL, Reason.ON_AUTO_PLAY, Reason.ALREADY_FORFEITED)
        assert game.state is before

    def check_step(self) -> None:
        game, state = self.game, self.game.state
        check_cards(state)
        before = repr(state)
        assert len(set(game.to_act)) == len(game.to_act)
        for seat in SEATS:
            listed = game.legal_actions(seat)
            assert bool(listed) is (seat in game.to_act)
            assert len(set(listed)) == len(listed)
            for action in self.rng.sample(listed, min(len(listed), 4)):
                self.check_accepted(seat, action)
            self.check_tried(seat, self.any_action())
        assert repr(state) == before, "decide changes nothing"

    def check_accepted(self, seat: int, action: Action) -> None:
        """A legal action is never refused, and `decide` gives what `apply` does, the same each time."""
        assert Action.parse(str(action)) == action
        state = self.game.state
        if state.public.auto_play[seat]:
            return
        events = decide(state, Act(seat, action))
        assert events
        fork = Game(self.game.events, state)
        assert fork.apply(seat, action) == events == decide(state, Act(seat, action))
        assert fork.state == fold(events, state)

    def any_action(self) -> Action:
        """Some action, most often one that is not legal."""
        hands = self.game.state.hidden.hands
        pool = (
            [card for hand in hands for card in hand]
            if self.rng.random() < 0.3
            else list(self.rng.choice(hands))
        )
        cards = tuple(sorted(self.rng.sample(pool, min(len(pool), self.rng.choice((1, 1, 2, 3))))))
        if not cards or self.rng.random() < 0.3:
            return self.rng.choice(ANSWERS)
        kind = self.rng.choice((ActionKind.PLAY, ActionKind.PLAY, ActionKind.CALL, ActionKind.GIVE))
        return Action.of(kind, cards if kind is ActionKind.PLAY else cards[:1])

    def check_tried(self, seat: int, action: Action) -> None:
        """An action is accepted if it is legal; else it is refused for a typed reason and changes nothing."""
        state = self.game.state
        legal = self.is_legal(seat, action)
        fork = Game(self.game.events, state)
        error = refusal(lambda: fork.apply(seat, action))
        assert (error is None) is legal, (seat, action, error)
        if error is not None:
            assert isinstance(error, RuleError)
            assert isinstance(error.reason, Reason)
            assert error.clause
            assert fork.state is state
            assert fork.version == len(fork.events)

    def is_legal(self, seat: int, action: Action) -> bool:
        state = self.game.state
        public, hand = state.public, state.hidden.hands[seat]
        if seat not in self.game.to_act or public.auto_play[seat]:
            return False
        if public.step is not Step.PLAY or action.kind is not ActionKind.PLAY:
            return action in self.game.legal_actions(seat)
        if Counter(action.cards) - Counter(hand):
            return False
        table = None if public.table is None else public.table.cards
        return is_legal_play(public.rules, hand, action.cards, table, public.called)

    def check_end(self) -> None:
        game, rng = self.game, self.rng
        outcome = game.outcome
        assert outcome is not None
        assert sum(outcome.scores) == 0, "scores sum to zero"
        assert all(penalty in (0, -40) for penalty in outcome.penalties)
        assert [bool(penalty) for penalty in outcome.penalties] == list(game.state.public.forfeited)
        if outcome.termination is Termination.PLAYED:
            assert outcome.places is not None
            assert sorted(outcome.places) == [1, 2, 3, 4, 5]
        else:
            assert outcome.places is None
            assert outcome.roles is None
        assert len(game.events) == game.version
        assert len(game.events) - self.seats <= longest_hand(game.rules, len(self.dues))
        check_cards(game.state)
        assert fold(game.events) == game.state, "the state follows from the events"
        for seat in SEATS:
            assert game.legal_actions(seat) == []
            action = self.any_action() if any(game.state.hidden.hands) else PASS
            error = refusal(partial(game.apply, seat, action))
            assert error is not None, "nothing can be done after the end"
            assert error.reason is Reason.GAME_OVER
        assert self.seats == sum(
            isinstance(event, AutoPlayStarted | AutoPlayEnded | SeatForfeited) for event in game.events
        )
        if rng.random() < 0.2 + self.thorough:
            check_record(game)
        for viewer in (None, rng.randrange(5)):
            for event in rng.sample(game.events, 5):
                seen = redact(event, viewer)
                assert type(seen) is type(event)
                assert redact(seen, viewer) == seen


def refusal(command: Callable[[], object]) -> BaohuangError | None:
    """Why `command` is refused, None if it is not."""
    try:
        command()
    except BaohuangError as error:
        return error
    return None


def check_record(game: Game) -> None:
    """The record gives back the same events and state, and the same text."""
    text = game.record().dumps()
    again = Game.replay(text)
    assert again.events == game.events
    assert again.state == game.state
    assert again.record().dumps() == text


def check_cards(state: State) -> None:
    """Every card of the deck is in one hand, travels with the throne, lies at the bottom, or was played."""
    public, hidden = state.public, state.hidden
    cards = Counter(card for hand in hidden.hands for card in hand)
    if public.carried_count:
        assert len(hidden.carried) == public.carried_count
        cards += Counter(hidden.carried)
    moves = [move for trick in (*public.tricks, public.trick) for move in trick]
    cards += Counter(card for move in moves for card in move.cards)
    assert cards == Counter(public.deck)
    assert public.counts == tuple(map(len, hidden.hands))
    for hand in hidden.hands:
        assert hand == tuple(sorted(hand))


def run_hands(rules: RuleSet, first_seed: int, hands: int, thorough: float) -> int:
    """Plays and checks random hands; gives back their number of events. A failure names rule set and seed."""
    events = 0
    for seed in range(first_seed, first_seed + hands):
        hand = Hand(rules, seed, thorough=thorough)
        try:
            hand.play()
        except (AssertionError, BaohuangError) as error:
            raise AssertionError(
                f"{rules}, seed {seed}, after {hand.game.version} events: {error!r}"
            ) from error
        events += hand.game.version
    return events
