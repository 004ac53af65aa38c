"""R3, R6, R7, R8: tricks, wind, going out, the end, scores, penalties."""

from itertools import permutations
from typing import ClassVar

import pytest

from baohuang import PRESETS, Game, Opening, Role, RuleSet, Solo, Termination
from baohuang.rules.actions import PASS
from baohuang.rules.events import Passed, Played, TrickEnded, WentOut
from baohuang.rules.roles import SEATS
from baohuang.testing.scenarios import (
    finish,
    outcome_of,
    pair_order,
    places_of,
    play_words,
    solo_order,
    start_at_play,
    start_finish,
)
from tests.unit.rules.refused import why_refused

JIAODONG, MARKED = PRESETS["jiaodong"], PRESETS["marked-guard"]
SIMPLE, CLASSIC, FOLK = PRESETS["lianzhong-simple"], PRESETS["lianzhong-classic"], PRESETS["shandong-folk"]
NO_SIXES = [MARKED, SIMPLE, CLASSIC]


def play(game: Game, *moves: str) -> None:
    """Moves of whoever is to act, such as `9 9` or `pass`."""
    for move in moves:
        seat = game.to_act[0]
        game.apply(seat, PASS if move == "pass" else play_words(game, seat, move.split()))


class TestTricks:
    """R3.2 to R3.4."""

    def test_the_emperor_leads_and_the_leader_may_not_pass(self) -> None:
        game = start_at_play(MARKED, {}, emperor=3, guard=1)
        assert game.to_act == (3,)
        assert PASS not in game.legal_actions(3)
        assert why_refused(game.apply, 3, "pass") == ("LEADER_CANNOT_PASS", "R3.2")

    def test_turns_go_downstream_and_only_he_whose_turn_it_is_plays(self) -> None:
        game = start_at_play(MARKED, {})
        for seat in SEATS:
            assert game.to_act == (seat,)
            assert why_refused(game.apply, (seat + 1) % 5, "pass") == ("NOT_YOUR_TURN", "R3.3")
            assert game.legal_actions((seat + 1) % 5) == []
            play(game, "pass" if seat else "7")

    def test_a_pass_shuts_nobody_out(self) -> None:
        game = start_at_play(MARKED, {0: ["9", "7"], 1: ["J", "7"], 2: ["T", "7"]})
        play(game, "9", "pass", "T", "pass", "pass", "pass", "J")
        assert game.state.public.table is not None
        assert game.state.public.table.seat == 1

    def test_the_trick_ends_when_all_others_have_passed_in_a_row(self) -> None:
        game = start_at_play(MARKED, {0: ["9", "7"], 2: ["T", "7"]})
        play(game, "9", "pass", "T", "pass", "pass", "pass")
        assert game.state.public.table is not None
        events = game.apply(1, PASS)
        assert events == (Passed(1), TrickEnded(winner=2, leader=2))
        assert game.to_act == (2,)
        assert game.state.public.trick == ()
        assert len(game.state.public.tricks) == 1

    def test_what_is_refused_and_why(self) -> None:
        game = start_at_play(MARKED, {0: ["9", "9", "8", "7"], 1: ["8", "T", "J"]})
        assert why_refused(game.apply, 0, "play 9c 8c") == ("NOT_A_PLAY", "R3.1")
        assert why_refused(game.apply, 0, "play Ac") == ("CARDS_NOT_HELD", "R3.1")
        assert why_refused(game.apply, 0, "play 9c 9c 9c") == ("CARDS_NOT_HELD", "R3.1")
        play(game, "9 9")
        assert why_refused(game.apply, 1, play_words(game, 1, ["T"])) == ("DOES_NOT_BEAT", "R4.1")
        state = game.state
        assert why_refused(game.apply, 1, "keep") == ("WRONG_STEP", "R5.0")
        assert game.state is state

    def test_any_cards_of_a_legal_play_are_accepted_listed_or_not_r11_4(self) -> None:
        game = start_at_play(MARKED, {0: ["9c", "9d", "9h", "7"]})
        listed = [str(action) for action in game.legal_actions(0)]
        assert "play 9c" in listed
        assert "play 9h" not in listed
        game.apply(0, "play 9h")


class TestWind:
    """R6.2."""

    def test_the_next_downstream_who_holds_cards_leads(self) -> None:
        game = start_at_play(MARKED, {0: ["9"], 1: ["T"]}, guard=4)
        play(game, "9", "T", "pass", "pass")
        events = game.apply(4, PASS)
        assert events[-1] == TrickEnded(winner=1, leader=2)
        assert game.to_act == (2,)

    def test_all_who_hold_cards_must_pass_once_more_when_the_owner_is_out(self) -> None:
        game = start_at_play(MARKED, {0: ["9"]}, guard=4)
        play(game, "9", "pass", "pass", "pass")
        assert game.state.public.table is not None
        play(game, "pass")
        assert game.state.public.table is None
        assert game.to_act == (1,)

    def test_a_last_play_can_be_beaten_and_then_there_is_no_wind(self) -> None:
        game = start_at_play(MARKED, {0: ["9"], 2: ["T", "7"]}, guard=4)
        play(game, "9", "pass", "T", "pass", "pass", "pass")
        assert game.to_act == (2,)


class TestHeldBackSixes:
    """R7."""

    def test_a_six_only_goes_with_the_last_cards(self) -> None:
        game = start_at_play(JIAODONG, {0: ["6s", "6s", "BJ", "9"]})
        assert {str(action) for action in game.legal_actions(0)} == {"play BJ", "play 9c", "play 9c BJ"}
        assert why_refused(game.apply, 0, "play 6s 6s BJ") == ("CARDS_HELD_BACK", "R7.1")

    def test_jokers_may_hang_on_them_unless_the_option_is_off(self) -> None:
        hand = {0: ["6s", "6s", "BJ"]}
        assert "play 6s 6s BJ" in map(str, start_at_play(JIAODONG, hand).legal_actions(0))
        strict = start_at_play(JIAODONG.replace(jokers_with_last_sixes=False), hand)
        assert [str(action) for action in strict.legal_actions(0)] == ["play BJ"]
        assert why_refused(strict.apply, 0, "play 6s 6s BJ") == ("CARDS_HELD_BACK", "R7.2")

    def test_without_the_option_sixes_are_cards_like_others(self) -> None:
        for rules in NO_SIXES:
            start_at_play(rules, {0: ["6", "9"]}).apply(0, "play 6c")


class TestEnd:
    """R6.3 to R6.5."""

    @pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
    def test_the_hand_goes_on_until_one_side_is_out(self, rules: RuleSet) -> None:
        for order in permutations(SEATS):
            game = start_finish(rules, order[:4], Opening(0, 2))
            finish(game, order[:4])
            places = places_of(game)
            royal_out = max(order.index(0), order.index(2))
            rebels_out = max(order.index(seat) for seat in (1, 3, 4))
            last = min(royal_out, rebels_out)
            for place, seat in enumerate(order[: last + 1], 1):
                assert places[seat] == place
            # The rest in seat order downstream from the player whose play ended the hand.
            rest = [(order[last] + steps) % 5 for steps in range(1, 5)]
            rest = [seat for seat in rest if seat not in order[: last + 1]]
            assert [places[seat] for seat in rest] == list(range(last + 2, 6))

    def test_going_out_is_an_event_with_the_place(self) -> None:
        game = start_at_play(MARKED, {0: ["9"], 1: ["T"]}, guard=4)
        assert game.apply(0, "play 9c")[:2] == (Played(0, (24,)), WentOut(0, 1))  # type: ignore[arg-type]
        assert WentOut(1, 2) in game.apply(1, play_words(game, 1, ["T"]))
        assert game.legal_actions(0) == []
        assert game.state.public.counts[:2] == (0, 0)

    @pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
    def test_an_open_solo_ends_with_the_first_and_a_hidden_one_with_the_emperor_or_two_others(
        self, rules: RuleSet
    ) -> None:
        for is_open, order, over in (
            (True, (0,), True),
            (True, (3,), True),
            (False, (0,), True),
            (False, (3,), False),
            (False, (3, 0), True),
            (False, (3, 1), True),
        ):
            game = start_finish(rules, order, Opening(0, 0, open_solo=is_open))
            finish(game, order)
            assert (game.outcome is not None) is over, (is_open, order)


class TestScores:
    """R8.1 to R8.4."""

    TABLE: ClassVar = {
        (1, 2): 3,
        (1, 3): 2,
        (1, 4): 1,
        (1, 5): 0,
        (2, 3): 1,
        (2, 4): 0,
        (2, 5): -1,
        (3, 4): -1,
        (3, 5): -2,
        (4, 5): -3,
    }
    """The guard's points by the places of emperor and guard, either way round (the ten rows of the table)."""

    @pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
    def test_all_ten_rows_of_the_table(self, rules: RuleSet) -> None:
        for (one, two), guard_points in self.TABLE.items():
            for places in ((one, two), (two, one)):
                opening, order = pair_order(*places)
                game = start_finish(rules, order, opening)
                finish(game, order)
                outcome = outcome_of(game)
                by_role = {
                    Role.EMPEROR: 2 * guard_points,
                    Role.GUARD: guard_points,
                    Role.REBEL: -guard_points,
                }
                assert outcome.roles is not None
                assert outcome.scores == tuple(by_role[role] for role in outcome.roles)
                assert outcome.termination is Termination.PLAYED
                assert outcome.multiplier == 1
                assert outcome.next_first_drawer == 0

    @pytest.mark.parametrize(
        ("opening", "points"),
        [
            (Opening(0, 0), {1: 12, 2: 0, 3: -12, 4: -12, 5: -12}),
            (Opening(0, 0, open_solo=True), {1: 24, 2: -24, 3: -24, 4: -24, 5: -24}),
            (Opening(0, 0, rebels=(1, 2)), {1: 24, 2: 0, 3: -24}),
            (Opening(0, 0, rebels=(1, 2), counters=(0,)), {1: 48, 2: 0, 3: -48}),
            (Opening(0, 0, open_solo=True, counters=(1, 2)), {1: 48, 2: -48}),
            (Opening(0, 0, open_solo=True, counters=(1,)), {1: 24, 2: -24}),
            (Opening(0, 0, rebels=(1,)), {1: 12, 2: 0, 3: -12}),
        ],
    )
    def test_solo_scores(self, opening: Opening, points: dict[int, int]) -> None:
        for place, emperor in points.items():
            order = solo_order(opening.open_solo, place)
            game = start_finish(JIAODONG, order, opening)
            finish(game, order)
            assert places_of(game)[0] == place
            assert outcome_of(game).scores == (emperor, *(-emperor // 4,) * 4)
            assert outcome_of(game).solo is (Solo.OPEN if opening.open_solo else Solo.HIDDEN)

    @pytest.mark.parametrize(
        ("opening", "times", "emperor", "guard"),
        [
            (Opening(0, 1, open_guard=True), 2, 12, 6),
            (Opening(0, 1, rebels=(2, 3)), 2, 12, 6),
            (Opening(0, 1, rebels=(2,)), 1, 6, 3),
            (Opening(0, 1, open_guard=True, rebels=(2, 3)), 2, 12, 6),
            (Opening(0, 1, open_guard=True, counters=(2, 3)), 4, 18, 18),
            (Opening(0, 1, open_guard=True, counters=(2,)), 2, 12, 6),
            (Opening(0, 1, rebels=(2, 3), counters=(1,)), 4, 18, 18),
            (Opening(0, 1, open_guard=True, counters=(2, 3), recounters=(0,)), 8, 36, 36),
            (Opening(0, 1, rebels=(2, 3), counters=(0,), recounters=(2,)), 4, 18, 18),
            (Opening(0, 1, rebels=(2, 3), counters=(0,), recounters=(2, 4)), 8, 36, 36),
        ],
    )
    def test_multipliers_and_the_split(self, opening: Opening, times: int, emperor: int, guard: int) -> None:
        game = start_finish(JIAODONG, (0, 1), opening)
        finish(game, (0, 1))
        outcome = outcome_of(game)
        assert outcome.multiplier == times
        assert outcome.scores[:2] == (emperor, guard)
        assert sum(outcome.scores) == 0

    @pytest.mark.parametrize("guard", range(1, 5))
    def test_the_order_of_places_not_taken_never_changes_the_score(self, guard: int) -> None:
        rebels = [seat for seat in SEATS if seat not in (0, guard)]
        for order in permutations(rebels):
            game = start_finish(MARKED, order, Opening(0, guard))
            finish(game, order)
            assert outcome_of(game).scores[0] == -6
