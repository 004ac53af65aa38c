"""R8.5, R9: auto-play, leaving, what the table does."""

import pytest

from baohuang import PRESETS, Game, Opening, RuleSet, format_cards, parse_cards
from baohuang.rules.actions import PASS
from baohuang.rules.autoplay import lead
from baohuang.rules.commands import Start
from baohuang.rules.events import AutoPlayEnded, AutoPlayReason, AutoPlayStarted, ForfeitReason, Step
from baohuang.rules.table import Table, is_counted
from baohuang.testing.scenarios import (
    outcome_of,
    play_out,
    start_at_opening,
    start_at_play,
    start_with_hand,
    walk_to,
)
from tests.unit.rules.refused import why_refused

JIAODONG, MARKED = PRESETS["jiaodong"], PRESETS["marked-guard"]
SIMPLE, CLASSIC, FOLK = PRESETS["lianzhong-simple"], PRESETS["lianzhong-classic"], PRESETS["shandong-folk"]


@pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
class TestControl:
    """R9.1, R9.3."""

    def test_beginning_and_end_are_public(self, rules: RuleSet) -> None:
        game = start_at_play(rules, {})
        assert game.start_auto_play(2, AutoPlayReason.TIMEOUT) == (
            AutoPlayStarted(2, AutoPlayReason.TIMEOUT),
        )
        assert game.view(None).public.auto_play == (False, False, True, False, False)
        assert game.stop_auto_play(2) == (AutoPlayEnded(2),)

    def test_auto_play_has_an_action_only_for_a_seat_that_is_to_act(self, rules: RuleSet) -> None:
        game = start_at_play(rules, {})
        assert game.auto_action(0) in game.legal_actions(0)
        assert why_refused(game.auto_action, 1) == ("NOT_YOUR_TURN", "R9.1")

    def test_a_seat_on_auto_play_is_played_by_auto_act_only(self, rules: RuleSet) -> None:
        game = start_at_play(rules, {})
        assert why_refused(game.auto_act, 0) == ("NOT_ON_AUTO_PLAY", "R9.1")
        game.start_auto_play(0)
        assert why_refused(game.start_auto_play, 0) == ("ON_AUTO_PLAY", "R9.1")
        assert why_refused(game.apply, 0, game.legal_actions(0)[0]) == ("ON_AUTO_PLAY", "R9.3")
        game.auto_act(0)
        assert why_refused(game.auto_act, 0) == ("NOT_YOUR_TURN", "R3.3")

    def test_the_fourth_cannot_be_cancelled(self, rules: RuleSet) -> None:
        game = start_at_play(rules, {})
        assert why_refused(game.stop_auto_play, 1) == ("NOT_ON_AUTO_PLAY", "R9.3")
        for _ in range(3):
            game.start_auto_play(1)
            game.stop_auto_play(1)
        game.start_auto_play(1)
        assert why_refused(game.stop_auto_play, 1) == ("AUTO_PLAY_FINAL", "R9.3")

    def test_a_whole_hand_can_be_played_by_it(self, rules: RuleSet) -> None:
        game = Game.deal(rules, seed=4)
        for seat in range(5):
            game.start_auto_play(seat)
        play_out(game)
        assert outcome_of(game).auto_play == (True,) * 5

    def test_leaving_by_force_costs_40_which_nobody_receives(self, rules: RuleSet) -> None:
        game = start_at_play(rules, {})
        game.start_auto_play(3)
        game.forfeit(3)
        game.forfeit(4, ForfeitReason.REMOVED)
        assert why_refused(game.forfeit, 3) == ("ALREADY_FORFEITED", "R8.5")
        assert why_refused(game.start_auto_play, 3) == ("ALREADY_FORFEITED", "R8.5")
        play_out(game)
        outcome = outcome_of(game)
        assert outcome.penalties == (0, 0, 0, -40, -40)
        assert sum(outcome.scores) == 0
        assert outcome.auto_play == (False,) * 5, "the bot that takes over is not auto-play"

    def test_nothing_is_done_after_the_end_or_before_the_deal(self, rules: RuleSet) -> None:
        game = start_at_play(rules, {})
        play_out(game)
        waiting = Game.start(Start(rules, seed=1, await_nonces=True))
        for command in ("start_auto_play", "stop_auto_play", "auto_act", "forfeit"):
            assert why_refused(getattr(game, command), 1)[0] == "GAME_OVER"
            assert why_refused(getattr(waiting, command), 1)[0] == "NOT_STARTED"
            assert why_refused(getattr(waiting, command), 5) == ("BAD_SEAT", "R2.4")


class TestBeforePlay:
    """R9.1."""

    def test_it_keeps_or_takes_where_nothing_is_called(self) -> None:
        solo = start_at_opening(JIAODONG, guard=0)
        assert str(solo.auto_action(0)) == "keep"
        solo.apply(0, "yield")
        assert str(solo.auto_action(2)) == "take"
        assert str(start_at_opening(SIMPLE).auto_action(0)) == "keep"

    @pytest.mark.parametrize(("hand", "action"), [("9c 9c 9c", "keep"), ("9c 9c Td", "yield")])
    def test_it_keeps_only_what_it_can_call(self, hand: str, action: str) -> None:
        assert str(start_with_hand(CLASSIC, hand.split()).auto_action(0)) == action

    def test_if_it_cannot_call_and_may_not_yield_it_takes(self) -> None:
        game = start_with_hand(CLASSIC, ["EJ"])
        assert [str(action) for action in game.legal_actions(0)] == ["keep"]
        assert str(game.auto_action(0)) == "keep"

    def test_in_folk_it_takes_with_three_of_a_kind_else_declines(self) -> None:
        game = start_with_hand(FOLK, "8c 8c 8c".split())
        assert str(game.auto_action(0)) == "take"
        assert str(start_with_hand(FOLK, "8c 8c 9c".split()).auto_action(0)) == "decline"

    @pytest.mark.parametrize(
        ("hand", "action"),
        [
            ("9d 9d 9d Tc Tc Tc 7s 7s 7s 7s", "call 9d"),
            ("9h 9h 9h 9c 9c 9c", "call 9c"),
            ("Ts Ts Ts Ts 9h 9h 9h 9h", "call 9h"),
            ("9h Ts", "solo"),
        ],
    )
    def test_it_calls_the_lowest_triple_else_the_lowest_four_else_solo(self, hand: str, action: str) -> None:
        game = start_with_hand(CLASSIC, hand.split())
        game.apply(0, "keep")
        assert str(game.auto_action(0)) == action

    @pytest.mark.parametrize("step", [Step.CLAIM, Step.DECLARE])
    def test_it_claims_and_declares_nothing(self, step: Step) -> None:
        game = start_at_opening(JIAODONG, guard=0)
        walk_to(game, step)
        assert {str(game.auto_action(seat)) for seat in range(5)} == {"no"}


class TestPlay:
    """R9.2."""

    @pytest.mark.parametrize(
        ("hand", "led"),
        [
            ("9h 9c Kd BJ", "9c"),
            ("2c SJ BJ", "2c"),
            ("6c 6d 7h", "7h"),
            ("6c 6d BJ", "BJ"),
            ("6c 6d", "6c 6d"),
            ("6s", "6s"),
        ],
    )
    def test_leading_it_plays_the_smallest_single_card_that_may_be_played(self, hand: str, led: str) -> None:
        assert format_cards(lead(JIAODONG, parse_cards(hand)).cards) == led

    def test_a_card_that_would_reveal_comes_last_among_equals(self) -> None:
        guard_joker = parse_cards("GJ")[0]
        assert format_cards(lead(MARKED, parse_cards("SJ GJ BJ"), revealing=guard_joker).cards) == "SJ"
        assert format_cards(lead(MARKED, parse_cards("GJ BJ"), revealing=guard_joker).cards) == "GJ"
        game = start_at_play(
            CLASSIC, {0: ["8"], 1: ["9c", "9d", "BJ"]}, guard=1, called=parse_cards("9c")[0], filler={0: 1}
        )
        game.apply(0, PASS if game.state.public.table else game.auto_action(0))
        game.apply(1, "play BJ")
        for seat in (2, 3, 4, 0):
            game.apply(seat, PASS)
        assert str(game.auto_action(1)) == "play 9d"

    def test_called_cards_that_rank_on_top_are_not_small(self) -> None:
        rules = CLASSIC.replace(called_card_is_top=True)
        called = parse_cards("9c")[0]
        assert format_cards(lead(rules, parse_cards("9c BJ"), called=called).cards) == "BJ"

    def test_it_passes_whenever_it_does_not_lead(self) -> None:
        game = start_at_play(MARKED, {1: ["BJ", "BJ"]})
        game.apply(0, game.auto_action(0))
        assert game.auto_action(1) == PASS


class TestTable:
    """R2.2, R9.4, R10.6."""

    def ended(self, *on_auto: int, forfeits: tuple[int, ...] = ()) -> Game:
        game = start_at_play(FOLK, {}, opening=Opening(3, 1))
        for seat in on_auto:
            game.start_auto_play(seat)
        for seat in forfeits:
            game.forfeit(seat)
        play_out(game)
        return game

    def test_totals_first_drawer_and_dues_pass_on(self) -> None:
        outcome = outcome_of(self.ended(forfeits=(2,)))
        table = Table().after(outcome)
        assert table.scores == outcome.scores
        assert table.penalties == (0, 0, -40, 0, 0)
        assert (table.first_drawer, table.dues) == (3, outcome.dues)
        assert (table.hands, table.counted, table.dissolved) == (1, 1, False)
        following = Game.deal(FOLK, seed=9, first_drawer=table.first_drawer, dues=table.dues)
        twice = table.after(outcome_of(played(following)))
        assert twice.hands == 2
        assert sum(twice.scores) == 0

    @pytest.mark.parametrize("on_auto", range(6))
    def test_anyone_on_auto_play_dissolves_it_and_all_five_make_the_hand_not_count(
        self, on_auto: int
    ) -> None:
        outcome = outcome_of(self.ended(*range(on_auto)))
        table = Table().after(outcome)
        assert table.dissolved is (on_auto > 0)
        assert is_counted(outcome) is (on_auto < 5)
        assert table.counted == (on_auto < 5)
        assert table.scores == (outcome.scores if on_auto < 5 else (0,) * 5), "the engine's outcome stands"

    def test_a_dissolved_table_plays_no_more(self) -> None:
        outcome = outcome_of(self.ended(1))
        with pytest.raises(ValueError, match=r"R9\.4"):
            Table().after(outcome).after(outcome)


def played(game: Game) -> Game:
    play_out(game)
    return game
