"""R5.0, R5.6 to R5.13: claims, declarations, counters."""

import pytest

from baohuang import PRESETS, ActionKind, Game, RuleSet
from baohuang.rules.actions import NO
from baohuang.rules.events import Answered, Enthroned, GuardRevealed, Step, StepClosed, redact
from baohuang.testing.scenarios import outcome_of, play_out, start_at_opening, walk_to
from tests.unit.rules.refused import why_refused

JIAODONG, MARKED = PRESETS["jiaodong"], PRESETS["marked-guard"]
SIMPLE, CLASSIC, FOLK = PRESETS["lianzhong-simple"], PRESETS["lianzhong-classic"], PRESETS["shandong-folk"]
REBEL, GUARD, COUNTER, SOLO = ActionKind.REBEL, ActionKind.GUARD, ActionKind.COUNTER, ActionKind.SOLO


def at(rules: RuleSet, step: Step, *, solo: bool = False) -> Game:
    """A game at that step; seat 0 is emperor, seat 2 guard unless it is a hidden solo."""
    game = start_at_opening(rules, guard=0 if solo else 2)
    walk_to(game, step)
    assert game.state.public.step is step
    return game


def say(game: Game, **answers: str) -> None:
    """Answers of seats (`s1="rebel"`) in the open step; the others of the step say no."""
    step = game.state.public.step
    for name, text in answers.items():
        game.apply(int(name[1]), text)
    while game.state.public.step is step and game.to_act:
        game.apply(game.to_act[0], NO)


def texts(game: Game) -> dict[int, list[str]]:
    return {seat: [str(action) for action in game.legal_actions(seat)] for seat in game.to_act}


def multiplier(game: Game) -> int:
    play_out(game)
    return outcome_of(game).multiplier


class TestStepsThatSeveralAnswer:
    """R5.0."""

    def test_answers_come_in_any_order_once_each(self) -> None:
        game = at(SIMPLE, Step.DECLARE)
        for seat in (3, 0, 4, 1):
            game.apply(seat, "no")
            assert why_refused(game.apply, seat, "no") == ("ALREADY_ANSWERED", "R5.0")
        assert game.to_act == (2,)
        game.apply(2, "guard")
        assert game.state.public.step is Step.PLAY

    def test_an_answer_is_seen_by_its_author_alone_and_the_public_sees_that_he_answered(self) -> None:
        game = at(SIMPLE, Step.DECLARE)
        before = game.view(None).public
        (event,) = game.apply(3, "rebel")
        assert isinstance(event, Answered)
        assert redact(event, 3) == event
        for viewer in (None, 0, 1, 2, 4):
            seen = redact(event, viewer)
            assert isinstance(seen, Answered)
            assert (seen.seat, seen.action) == (3, None)
        after = game.view(None).public
        assert after.answered == (3,)
        assert (
            (after.version, after.to_act)
            == (before.version, before.to_act)
            == (before.version, (0, 1, 2, 3, 4))
        )
        own = game.view(3).own
        assert own is not None
        assert [str(action) for action in own.answers] == ["rebel"]

    def test_one_public_event_lists_every_declaration_standing_or_not(self) -> None:
        game = at(SIMPLE, Step.DECLARE)
        say(game, s3="rebel")
        closed = game.events[-1]
        assert closed == StepClosed(Step.DECLARE, ((3, REBEL),), stands=False)
        assert redact(closed, None) == closed
        assert game.state.public.rebels == (3,)
        assert not game.state.public.rebellion

    def test_who_has_one_choice_must_answer_too(self) -> None:
        game = at(CLASSIC, Step.DECLARE)
        assert texts(game) == {0: ["no"], 1: ["no"], 2: ["guard", "no"], 3: ["no"], 4: ["no"]}


class TestSoloClaim:
    """R5.6, R5.7."""

    def test_without_grab_solo_only_a_hidden_solo_emperor_may_claim_but_all_are_asked(self) -> None:
        for rules in (MARKED, SIMPLE, CLASSIC):
            assert set(map(tuple, texts(at(rules, Step.CLAIM)).values())) == {("no",)}
            asked = texts(at(rules, Step.CLAIM, solo=True))
            assert asked == {0: ["solo", "no"], 1: ["no"], 2: ["no"], 3: ["no"], 4: ["no"]}
            game = at(rules, Step.CLAIM)
            assert why_refused(game.apply, 3, "solo") == ("NOT_OFFERED", "R5.7")

    @pytest.mark.parametrize(
        ("claimants", "winner"), [((0, 1, 4), 0), ((1, 4), 4), ((1, 2), 2), ((3, 1), 3), ((1,), 1), ((2,), 2)]
    )
    def test_the_emperor_wins_else_the_nearest_going_upstream(
        self, claimants: tuple[int, ...], winner: int
    ) -> None:
        for rules in (JIAODONG, SIMPLE.replace(grab_solo=True), CLASSIC.replace(grab_solo=True)):
            game = at(rules, Step.CLAIM)
            hands = game.state.hidden.hands
            say(game, **{f"s{seat}": "solo" for seat in claimants})
            public = game.state.public
            assert (public.emperor, public.guard, public.open_solo, public.called) == (
                winner,
                winner,
                True,
                None,
            )
            assert game.state.hidden.hands == hands, "no card moves"
            assert public.step is (Step.COUNTER if rules.counters else Step.PLAY), (
                "nothing is declared after it"
            )
            walk_to(game)
            assert game.to_act == (winner,)

    def test_the_winner_is_shown_by_events(self) -> None:
        game = at(CLASSIC.replace(grab_solo=True), Step.CLAIM)
        say(game, s3="solo", s4="solo")
        closed = StepClosed(Step.CLAIM, ((3, SOLO), (4, SOLO)), stands=True)
        assert game.events[-3:] == (closed, Enthroned(4), GuardRevealed(4, 4))

    def test_folk_asks_no_claim_unless_grab_solo_is_on(self) -> None:
        game = start_at_opening(FOLK)
        walk_to(game, Step.CLAIM)
        assert game.state.public.step is Step.PLAY
        assert set(texts(at(FOLK.replace(grab_solo=True), Step.CLAIM))) == {0, 1, 2, 3, 4}

    def test_an_open_solo_by_the_call_skips_the_claim(self) -> None:
        game = at(CLASSIC.replace(grab_solo=True), Step.CALL)
        game.apply(0, "solo")
        assert game.state.public.step is Step.PLAY
        assert multiplier(game) == 2


class TestOpenGuard:
    """R5.8."""

    @pytest.mark.parametrize(
        ("rules", "times"), [(JIAODONG, 2), (MARKED, 1), (SIMPLE, 2), (CLASSIC, 2)], ids=str
    )
    def test_it_shows_the_guard_and_doubles_but_in_marked_guard(self, rules: RuleSet, times: int) -> None:
        game = at(rules, Step.DECLARE)
        assert game.state.public.guard is None
        say(game, s2="guard")
        assert game.state.public.guard == 2
        assert game.state.public.open_guard
        walk_to(game)
        assert multiplier(game) == times

    def test_only_the_guard_has_it_and_never_a_solo_emperor(self) -> None:
        game = at(JIAODONG, Step.DECLARE)
        for seat in (0, 1, 3, 4):
            assert why_refused(game.apply, seat, "guard") == ("NOT_OFFERED", "R5.8")
        assert why_refused(at(JIAODONG, Step.DECLARE, solo=True).apply, 0, "guard") == ("NOT_OFFERED", "R5.8")


class TestRebellion:
    """R5.9, R5.10."""

    @pytest.mark.parametrize("rules", [JIAODONG, SIMPLE], ids=str)
    @pytest.mark.parametrize(("rebels", "stands"), [(1, False), (2, True), (3, True)])
    def test_two_rebels_reveal_the_guard_and_double(self, rules: RuleSet, rebels: int, stands: bool) -> None:
        game = at(rules, Step.DECLARE)
        say(game, **{f"s{seat}": "rebel" for seat in (1, 3, 4)[:rebels]})
        public = game.state.public
        assert public.rebellion is stands
        assert public.guard == (2 if stands else None)
        walk_to(game)
        assert multiplier(game) == (2 if stands else 1)

    @pytest.mark.parametrize("rules", [JIAODONG, SIMPLE], ids=str)
    def test_it_reveals_a_hidden_solo_too(self, rules: RuleSet) -> None:
        game = at(rules, Step.DECLARE, solo=True)
        say(game, s1="rebel", s2="rebel")
        assert game.state.public.guard == 0
        walk_to(game)
        assert multiplier(game) == 2

    def test_in_marked_guard_each_shows_himself_and_all_together_the_guard(self) -> None:
        for rebels, guard in (((1,), None), ((1, 3), None), ((1, 3, 4), 2)):
            game = at(MARKED, Step.DECLARE)
            say(game, **{f"s{seat}": "rebel" for seat in rebels})
            assert game.state.public.rebels == rebels
            assert game.state.public.rebellion
            assert game.state.public.guard == guard
            assert multiplier(game) == 1
        solo = at(MARKED, Step.DECLARE, solo=True)
        say(solo, s1="rebel", s2="rebel", s3="rebel")
        assert solo.state.public.guard is None
        solo = at(MARKED, Step.DECLARE, solo=True)
        say(solo, s1="rebel", s2="rebel", s3="rebel", s4="rebel")
        assert solo.state.public.guard == 0

    def test_royals_cannot_and_classic_and_folk_do_not_offer_it(self) -> None:
        game = at(JIAODONG, Step.DECLARE)
        for seat in (0, 2):
            assert why_refused(game.apply, seat, "rebel") == ("NOT_OFFERED", "R5.9")
        assert why_refused(at(CLASSIC, Step.DECLARE).apply, 1, "rebel") == ("NOT_OFFERED", "R5.9")
        assert why_refused(at(FOLK, Step.PLAY).apply, 1, "rebel") == ("TOO_LATE_TO_DECLARE", "R5.13")

    def test_with_an_open_guard_it_is_double_once_and_the_rebels_counter(self) -> None:
        game = at(JIAODONG, Step.DECLARE)
        say(game, s2="guard", s1="rebel", s4="rebel")
        assert game.to_act == (1, 3, 4)
        say(game)
        assert multiplier(game) == 2


class TestCounter:
    """R5.11, R5.12."""

    def open_guard(self) -> Game:
        game = at(JIAODONG, Step.DECLARE)
        say(game, s2="guard")
        return game

    def test_rebels_counter_an_open_guard_and_it_takes_two(self) -> None:
        assert texts(self.open_guard()) == {seat: ["counter", "no"] for seat in (1, 3, 4)}
        for counters, stands in (("1", False), ("13", True), ("134", True)):
            game = self.open_guard()
            say(game, **{f"s{seat}": "counter" for seat in counters})
            public = game.state.public
            assert public.counter is stands
            assert public.counters == tuple(map(int, counters)), "one that does not stand is shown"
            assert public.step is (Step.RECOUNTER if stands else Step.PLAY)

    def test_royals_counter_a_rebellion_and_one_is_enough(self) -> None:
        for seat in (0, 2):
            game = at(JIAODONG, Step.DECLARE)
            say(game, s1="rebel", s3="rebel")
            assert game.to_act == (0, 2)
            say(game, **{f"s{seat}": "counter"})
            assert game.state.public.counter
            assert game.to_act == (1, 3, 4), "the first side may recounter"

    def test_recounter_of_the_royal_side_takes_one_of_the_rebels_two(self) -> None:
        game = self.open_guard()
        say(game, s1="counter", s3="counter")
        assert game.to_act == (0, 2)
        say(game, s0="counter")
        assert game.state.public.recounter
        assert game.state.public.step is Step.PLAY, "then no more"
        assert multiplier(game) == 8
        for recounters, stands in (("1", False), ("14", True)):
            game = at(JIAODONG, Step.DECLARE)
            say(game, s1="rebel", s3="rebel")
            say(game, s2="counter")
            say(game, **{f"s{seat}": "counter" for seat in recounters})
            assert game.state.public.recounter is stands
            assert multiplier(game) == (8 if stands else 4)

    def test_an_open_solo_is_countered_by_two_rebels_and_not_recountered(self) -> None:
        for counters, times in (("1", 2), ("12", 4)):
            game = at(JIAODONG, Step.CLAIM, solo=True)
            say(game, s0="solo")
            assert game.to_act == (1, 2, 3, 4)
            say(game, **{f"s{seat}": "counter" for seat in counters})
            assert game.state.public.step is Step.PLAY
            assert multiplier(game) == times

    def test_a_rebellion_against_a_hidden_solo_is_countered_by_the_emperor_alone(self) -> None:
        game = at(JIAODONG, Step.DECLARE, solo=True)
        say(game, s1="rebel", s2="rebel")
        assert game.to_act == (0,)
        game.apply(0, "counter")
        assert game.state.public.step is Step.PLAY
        assert multiplier(game) == 4

    def test_without_a_declaration_nothing_is_countered(self) -> None:
        game = at(JIAODONG, Step.DECLARE)
        say(game, s1="rebel")
        assert game.state.public.step is Step.PLAY

    @pytest.mark.parametrize("rules", [MARKED, SIMPLE, CLASSIC], ids=str)
    def test_other_rule_sets_have_no_counter(self, rules: RuleSet) -> None:
        game = at(rules, Step.DECLARE)
        say(game, s2="guard")
        assert game.state.public.step is Step.PLAY

    def test_with_a_counter_in_force_the_royal_total_is_split_evenly(self) -> None:
        game = self.open_guard()
        say(game, s1="counter", s3="counter")
        say(game)
        play_out(game)
        scores = outcome_of(game).scores
        assert scores[0] == scores[2]


@pytest.mark.parametrize("text", ["guard", "rebel", "counter", "solo", "no"])
@pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
def test_nothing_is_declared_after_the_opening_r5_13(rules: RuleSet, text: str) -> None:
    game = at(rules, Step.PLAY)
    assert why_refused(game.apply, 0, text) == ("TOO_LATE_TO_DECLARE", "R5.13")
    game.apply(0, game.auto_action(0))
    assert why_refused(game.apply, 2, text) == ("TOO_LATE_TO_DECLARE", "R5.13")
    assert why_refused(game.apply, 1, "keep") == ("WRONG_STEP", "R5.0")
