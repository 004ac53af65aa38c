"""Commands of every kind in any order, as hypothesis finds them, and properties of any game."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from baohuang import Action, CardError, Game, Reason, RuleError
from baohuang.rules.commands import Act, AutoAct, Command, Deal, Forfeit, Start, StartAutoPlay, StopAutoPlay
from baohuang.rules.decide import decide, execute
from baohuang.rules.events import AutoPlayReason, ForfeitReason
from baohuang.testing.strategies import games, hands, rule_sets, short_games
from tests.property.laws import check_cards, check_record, fold, refusal

SEATS = st.sampled_from(range(5))


class OneHand(RuleBasedStateMachine):
    """A hand under legal and illegal commands."""

    @initialize(data=st.data(), rules=rule_sets(), short=st.booleans(), seed=st.integers(0, 2**64))
    def begin(self, data: st.DataObject, rules, short: bool, seed: int) -> None:
        self.game = data.draw(short_games(rules)) if short else Game.deal(rules, seed=seed)

    @precondition(lambda self: self.game.to_act)
    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        seat = data.draw(st.sampled_from(self.game.to_act))
        if self.game.state.public.auto_play[seat]:
            self.game.auto_act(seat)
        else:
            self.game.apply(seat, data.draw(st.sampled_from(self.game.legal_actions(seat))))

    @rule(seat=SEATS, data=st.data())
    def try_a_play(self, seat: int, data: st.DataObject) -> None:
        cards = data.draw(st.lists(st.sampled_from(self.game.state.public.deck), min_size=1, max_size=4))
        self.attempt(Act(seat, Action.play(tuple(cards))))

    @rule(
        seat=SEATS,
        text=st.sampled_from(["pass", "keep", "take", "yield", "solo", "rebel", "guard", "counter", "no"]),
    )
    def try_an_answer(self, seat: int, text: str) -> None:
        self.attempt(Act(seat, Action.parse(text)))

    @rule(seat=SEATS, why=st.sampled_from(AutoPlayReason))
    def start_auto_play(self, seat: int, why: AutoPlayReason) -> None:
        self.attempt(StartAutoPlay(seat, why))

    @rule(seat=SEATS)
    def stop_auto_play(self, seat: int) -> None:
        self.attempt(StopAutoPlay(seat))

    @rule(seat=SEATS)
    def auto_act(self, seat: int) -> None:
        self.attempt(AutoAct(seat))

    @rule(seat=SEATS, why=st.sampled_from(ForfeitReason))
    def forfeit(self, seat: int, why: ForfeitReason) -> None:
        self.attempt(Forfeit(seat, why))

    @rule(command=st.sampled_from([Deal(), Start(None, seed=1)]))  # type: ignore[arg-type]
    def begin_again(self, command: Command) -> None:
        with pytest.raises(RuleError) as refusal:
            decide(self.game.state, command)
        assert refusal.value.reason in (Reason.ALREADY_STARTED, Reason.ALREADY_DEALT)

    def attempt(self, command: Command) -> None:
        state = self.game.state
        error = refusal(lambda: execute(state, command))
        if error is not None:
            assert isinstance(error, RuleError)
            assert str(error.reason) in str(error)
            return
        events, after = execute(state, command)
        assert events
        assert fold(events, state) == after
        self.game = Game((*self.game.events, *events), after)

    @invariant()
    def somebody_acts_until_the_end(self) -> None:
        assert bool(self.game.to_act) is (self.game.outcome is None)
        for seat in self.game.to_act:
            assert self.game.legal_actions(seat)
            assert self.game.auto_action(seat) in self.game.legal_actions(seat)

    @invariant()
    def cards_are_conserved(self) -> None:
        check_cards(self.game.state)

    @invariant()
    def version_counts_events(self) -> None:
        assert self.game.version == len(self.game.events)

    def teardown(self) -> None:
        if hasattr(self, "game"):
            check_record(self.game)


OneHand.TestCase.settings = settings(max_examples=25, stateful_step_count=40)
TestOneHand = OneHand.TestCase


@settings(max_examples=40)
@given(games())
def test_record_of_any_game_gives_it_back(game: Game) -> None:
    check_record(game)


@settings(max_examples=60)
@given(games(most_cards=5, most_actions=60), SEATS)
def test_view_holds_no_other_seats_cards(game: Game, seat: int) -> None:
    view = game.view(seat)
    assert view.own is not None
    assert view.own.hand == game.state.hidden.hands[seat]
    assert (view.hands is None) is (game.outcome is None)
    assert game.view(None).own is None


@settings(max_examples=60)
@given(games(most_cards=5, most_actions=60))
def test_action_texts_round_trip(game: Game) -> None:
    for seat in game.to_act:
        for action in game.legal_actions(seat):
            assert Action.parse(str(action)) == action


@settings(max_examples=200)
@given(st.text(max_size=30))
def test_any_text_is_an_action_or_refused_with_a_reason(text: str) -> None:
    error = refusal(lambda: Action.parse(text))
    if error is None:
        assert Action.parse(str(Action.parse(text))) == Action.parse(text)
    else:
        assert isinstance(error, CardError)
        assert error.reason in (Reason.MALFORMED_ACTION, Reason.MALFORMED_CARD)


@settings(max_examples=30)
@given(st.data(), rule_sets(options=False))
def test_any_five_hands_can_be_dealt_or_are_refused_with_a_reason(data: st.DataObject, rules) -> None:
    dealt = data.draw(hands(rules, most=8))
    error = refusal(lambda: Game.from_hands(rules, dealt))
    if error is None:
        assert Game.from_hands(rules, dealt).to_act
    else:
        assert error.reason is Reason.BAD_DEAL
