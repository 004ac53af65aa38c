"""R11: what each player may know, and R5.5's called cards on top."""

import dataclasses

import pytest

from baohuang import PRESETS, Game, Opening, RuleSet, format_cards, parse_cards
from baohuang.rules.actions import PASS
from baohuang.rules.events import (
    EVENT_TYPES,
    Audience,
    Dealt,
    Event,
    GameStarted,
    GuardRevealed,
    HandEnded,
    OpeningGiven,
    Step,
    ThroneAnswered,
    redact,
)
from baohuang.testing.scenarios import play_out, play_words, start_at_opening, start_at_play, walk_to
from tests.unit.rules.refused import why_refused

JIAODONG, MARKED = PRESETS["jiaodong"], PRESETS["marked-guard"]
SIMPLE, CLASSIC, FOLK = PRESETS["lianzhong-simple"], PRESETS["lianzhong-classic"], PRESETS["shandong-folk"]
NINE = parse_cards("9c")[0]


def texts(game: Game, seat: int) -> list[str]:
    return [str(action) for action in game.legal_actions(seat)]


@pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
class TestEveryRuleSet:
    """R11.1, R11.5."""

    def test_a_player_sees_his_own_cards_and_a_spectator_none(self, rules: RuleSet) -> None:
        game = Game.deal(rules, seed=1)
        for seat in range(5):
            own = game.view(seat).own
            assert own is not None
            assert own.hand == game.state.hidden.hands[seat]
            assert game.view(seat).hands is None
        assert game.view(None).own is None
        assert why_refused(game.view, 5) == ("BAD_SEAT", "R2.4")

    def test_the_deal_shows_each_his_hand_and_the_seed_stays_hidden_to_the_end(self, rules: RuleSet) -> None:
        game = Game.deal(rules, seed=12345)
        dealt = next(event for event in game.events if isinstance(event, Dealt))
        for viewer in (None, *range(5)):
            seen = redact(dealt, viewer)
            assert isinstance(seen, Dealt)
            assert [hand is not None for hand in seen.hands] == [seat == viewer for seat in range(5)]
            first = redact(game.events[0], viewer)
            assert isinstance(first, GameStarted)
            assert first.seed is first.salt is None
        play_out(game)
        last = redact(game.events[-1], None)
        assert isinstance(last, HandEnded)
        assert last.seed == 12345
        assert game.view(None).hands == game.state.hidden.hands

    @pytest.mark.parametrize(
        ("shown", "large", "small"), [("always", 11, 10), ("at_most_10", None, 10), ("never", None, None)]
    )
    def test_counts_are_shown_by_the_option_and_ones_own_always(
        self, rules: RuleSet, shown: str, large: int | None, small: int | None
    ) -> None:
        game = start_at_play(rules.replace(show_counts=shown), {}, filler={0: 11, 1: 10})
        assert game.view(3).public.counts[:2] == (large, small)
        assert game.view(None).public.counts[:2] == (large, small)
        assert game.view(0).public.counts[0] == 11
        play_out(game)
        assert None not in game.view(None).public.counts


class TestReveal:
    """R11.2: the guard is public once, and not before."""

    def test_the_guard_himself_and_a_solo_emperor_know_as_soon_as_roles_are_fixed(self) -> None:
        for rules, step in ((MARKED, Step.CLAIM), (CLASSIC, Step.CLAIM), (FOLK, Step.PLAY)):
            game = start_at_opening(rules)
            walk_to(game, step)
            known = [view.own.guard for view in map(game.view, range(5)) if view.own]
            assert known == [None, None, 2, None, None]
            assert game.view(None).public.guard is None
            solo = start_at_opening(rules, guard=0)
            walk_to(solo, step)
            known = [view.own.guard for view in map(solo.view, range(5)) if view.own]
            assert known == [0, None, None, None, None]

    def test_by_the_guard_joker(self) -> None:
        game = start_at_play(MARKED, {0: ["7", "8"], 1: ["GJ", "SJ", "9"]})
        game.apply(0, play_words(game, 0, ["7"]))
        assert {"play SJ", "play GJ"} <= set(texts(game, 1)), (
            "listed apart while it can tell something (R11.4)"
        )
        events = game.apply(1, "play GJ")
        assert events[1] == GuardRevealed(0, 1)

    def test_by_the_guard_joker_of_a_hidden_solo(self) -> None:
        game = start_at_play(MARKED, {0: ["GJ", "8", "9"]}, guard=0)
        assert GuardRevealed(0, 0) in game.apply(0, "play GJ")

    def test_by_the_called_card_of_another_but_not_of_the_emperor(self) -> None:
        game = start_at_play(CLASSIC, {0: ["9c", "9c", "9c", "9d", "7"], 1: ["9c", "T"]}, called=NINE)
        assert texts(game, 0).count("play 9c") == texts(game, 0).count("play 9d") == 1, (
            "for the emperor too (R11.4)"
        )
        assert not any(isinstance(event, GuardRevealed) for event in game.apply(0, "play 9c 9c 9c"))
        for seat in (1, 2, 3, 4):
            game.apply(seat, PASS)
        game.apply(0, play_words(game, 0, ["7"]))
        assert GuardRevealed(0, 1) in game.apply(1, "play 9c")

    def test_by_the_emperors_fourth_copy(self) -> None:
        game = start_at_play(CLASSIC, {0: ["9c", "9c", "9c", "9c", "7"]}, guard=0, called=NINE)
        assert not any(isinstance(event, GuardRevealed) for event in game.apply(0, "play 9c 9c 9c"))
        for seat in (1, 2, 3, 4):
            game.apply(seat, PASS)
        assert GuardRevealed(0, 0) in game.apply(0, "play 9c")

    def test_once_public_it_is_not_revealed_again_and_plays_are_listed_once(self) -> None:
        game = start_at_play(MARKED, {1: ["SJ", "GJ", "9"]}, opening=Opening(0, 1, open_guard=True))
        assert game.state.public.guard == 1
        game.apply(0, game.auto_action(0))
        assert [text for text in texts(game, 1) if text in ("play SJ", "play GJ")] == ["play SJ"]
        assert not any(isinstance(event, GuardRevealed) for event in game.apply(1, "play GJ"))

    def test_marked_jokers_are_plain_after_a_grabbed_solo(self) -> None:
        game = start_at_opening(JIAODONG)
        walk_to(game, Step.CLAIM)
        for seat, text in enumerate(("no", "no", "no", "solo", "no")):
            game.apply(seat, text)
        walk_to(game)
        game.apply(3, game.auto_action(3))
        for seat in (4, 0, 1):
            game.apply(seat, PASS)
        assert not any(isinstance(event, GuardRevealed) for event in game.apply(2, "play GJ"))

    def test_by_the_end(self) -> None:
        game = start_at_play(CLASSIC, {}, called=NINE, guard=3)
        play_out(game)
        assert game.view(None).public.guard == 3


class TestTravellingCards:
    """R11.5."""

    def test_added_cards_are_seen_by_their_giver_and_every_later_holder(self) -> None:
        game = start_at_opening(SIMPLE, {4: ["2c"], 3: ["2d"]})
        for text in ("yield", "yield", "yield"):
            game.apply(game.to_act[0], text)
        events = [event for event in game.events if isinstance(event, ThroneAnswered)]
        for viewer, seen in ((4, "2c"), (3, "2c"), (2, None), (1, None), (None, None)):
            event = redact(events[1], viewer)
            assert isinstance(event, ThroneAnswered)
            assert (None if event.carried is None else format_cards(event.carried)) == seen
            assert event.carried_count == 1
        last = redact(events[2], 2)
        assert isinstance(last, ThroneAnswered)
        assert format_cards(last.carried or ()) == "2c 2d"
        assert redact(events[2], 4).carried is None  # type: ignore[attr-defined]
        carried = {seat: game.view(seat).own.carried for seat in range(5)}  # type: ignore[union-attr]
        assert {seat: format_cards(cards) for seat, cards in carried.items() if cards} == {2: "2c 2d"}
        assert game.view(0).public.carried_count == 2

    def test_bottom_cards_are_seen_by_their_layer_and_by_the_emperor(self) -> None:
        hands = ["2c SJ 7c", "2d 8c 7h", "9c 9c 9c Ks", "BJ 9c", "4c 5c"]
        game = Game.from_hands(FOLK, hands)
        game.apply(0, "decline")
        game.apply(1, "decline")
        laid = [format_cards(game.view(seat).own.laid) for seat in range(5)]  # type: ignore[union-attr]
        assert laid == ["SJ", "2d", "", "", ""]
        assert all(not game.view(seat).own.carried for seat in range(5))  # type: ignore[union-attr]
        for viewer in (None, 1, 2, 3):
            seen = redact(game.events[2], viewer)
            assert isinstance(seen, ThroneAnswered)
            assert (seen.laid, seen.laid_count) == (None, 1)
        (taken, *_) = game.apply(2, "take")
        assert isinstance(taken, ThroneAnswered)
        assert format_cards(taken.carried or ()) == "SJ 2d"
        assert redact(taken, 3).carried is None  # type: ignore[attr-defined]
        assert len(game.view(2).own.carried) == 2  # type: ignore[union-attr]


def test_every_event_type_names_its_audience_and_hides_what_is_not_for_everyone() -> None:
    assert {event.audience for event in EVENT_TYPES} == set(Audience)
    with pytest.raises(TypeError, match="must say its audience"):

        @dataclasses.dataclass(frozen=True)
        class Silent(Event):
            seat: int

    with pytest.raises(TypeError, match="exactly events for parties define seen_by"):

        @dataclasses.dataclass(frozen=True)
        class Half(Event):
            audience = Audience.PARTIES
            seat: int


def test_a_given_opening_tells_the_guard_to_himself() -> None:
    game = start_at_play(MARKED, {}, guard=3)
    given = next(event for event in game.events if isinstance(event, OpeningGiven))
    for viewer in (None, 0, 1, 2, 4):
        assert redact(given, viewer).opening.guard is None  # type: ignore[attr-defined]
    assert redact(given, 3) == given


class TestCalledCardIsTop:
    """R5.5, option `called_card_is_top`."""

    RULES = CLASSIC.replace(called_card_is_top=True)

    def test_copies_of_it_alone_beat_big_jokers_and_nothing_beats_them(self) -> None:
        words = {0: ["BJ", "EJ", "7"], 1: ["9c", "9c", "9d"], 2: ["BJ", "BJ", "7"]}
        game = start_at_play(self.RULES, words, called=NINE)
        game.apply(0, "play BJ EJ")
        assert texts(game, 1) == ["play 9c 9c", "pass"]
        assert why_refused(game.apply, 1, "play 9c 9d") == ("DOES_NOT_BEAT", "R4.1")
        game.apply(1, "play 9c 9c")
        assert texts(game, 2) == ["pass"]
        assert why_refused(game.apply, 2, "play BJ BJ") == ("DOES_NOT_BEAT", "R4.1")

    def test_in_any_other_play_they_are_plain(self) -> None:
        words = {0: ["8", "8", "7"], 1: ["9c", "9c", "9d", "BJ"]}
        game = start_at_play(self.RULES, words, called=NINE)
        game.apply(0, play_words(game, 0, ["8", "8"]))
        assert set(texts(game, 1)) == {"play 9c 9d", "play 9c 9c", "play 9c BJ", "play 9d BJ", "pass"}

    def test_held_back_called_sixes_stay_held_back(self) -> None:
        rules = self.RULES.replace(hold_back_sixes=True)
        six = parse_cards("6c")[0]
        game = start_at_play(rules, {0: ["BJ", "7"], 1: ["6c", "8"]}, called=six)
        game.apply(0, "play BJ")
        assert texts(game, 1) == ["pass"]
        game = start_at_play(rules, {0: ["BJ", "7"], 1: ["6c"]}, called=six)
        game.apply(0, "play BJ")
        assert texts(game, 1) == ["play 6c", "pass"]
