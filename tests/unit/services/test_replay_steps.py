"""Steps as the viewer counts them: one decision each, alike for every viewer, stable while a game grows."""

import pytest

from baohuang import Game, RuleSet
from baohuang.rules import events as ev
from baohuang.rules.events import redact
from services.replay.known import REVEALED, KnownGame, Viewpoint
from services.replay.steps import spans_of, trick_starts_of
from tests.integration.replay.scene import ALL_PRESETS, play, played_game


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_steps_hold_every_event_once_and_one_decision_each(preset: str) -> None:
    for seed in range(4):
        game = played_game(preset, seed=seed)
        spans = spans_of(game.events)
        numbers = [number for span in spans for number in range(span.first, span.last + 1)]
        assert numbers == list(range(1, game.version + 1))
        decisions = (ev.ThroneAnswered, ev.CallAnswered, ev.Played, ev.Passed)
        for span in spans:
            kinds = [type(event) for event in game.events[span.first - 1 : span.last]]
            assert sum([kind in decisions for kind in kinds]) <= 1
            assert kinds.count(ev.StepClosed) <= 1
            assert not set(decisions) & set(kinds[1:])
        assert ev.Dealt in {type(event) for event in game.events[: spans[0].last]}


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_every_viewer_counts_alike_and_only_the_last_step_grows(preset: str) -> None:
    game = played_game(preset, seed=3)
    whole = spans_of(game.events)
    for viewer in (None, 0, 4):
        assert spans_of([redact(event, viewer) for event in game.events]) == whole
    for length in range(1, game.version, 3):
        spans = spans_of(game.events[:length])
        assert spans[:-1] == whole[: len(spans) - 1]
        assert spans[-1].first == whole[len(spans) - 1].first


def test_what_several_answer_is_one_step_whatever_comes_between() -> None:
    game = Game.deal(RuleSet.preset("jiaodong"), seed=5)
    game.apply(game.to_act[0], "keep")
    before = len(spans_of(game.events))
    game.apply(game.to_act[0], "no")
    game.start_auto_play(game.to_act[0])
    while game.state.public.step == "claim":
        seat = game.to_act[0]
        if game.state.public.auto_play[seat]:
            game.auto_act(seat)
        else:
            game.apply(seat, "no")
    assert len(spans_of(game.events)) == before + 1


def test_tricks_begin_with_the_lead() -> None:
    game = played_game("jiaodong", seed=9)
    spans = spans_of(game.events)
    starts = trick_starts_of(game.events, spans)
    assert len(starts) == len(game.state.public.tricks) + bool(game.state.public.trick)
    leads = [game.events[spans[start - 1].first - 1] for start in starts]
    assert [lead.seat for lead in leads if isinstance(lead, ev.Played)] == [
        trick[0].seat for trick in (*game.state.public.tricks, game.state.public.trick) if trick
    ]


def test_a_step_is_found_by_an_event_of_it() -> None:
    game = KnownGame("g", played_game("marked-guard").events)
    for number in range(1, game.version + 1):
        span = game.steps[game.step_of(number) - 1]
        assert span.first <= number <= span.last
    assert game.step_of(game.version + 1) == len(game.steps)


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_each_viewpoint_knows_what_its_seat_knows_at_that_step(preset: str) -> None:
    game = Game.deal(RuleSet.preset(preset), seed=4)
    known = []
    while game.to_act:
        known.append((game.version, game.state))
        play(game, 4, until=game.version + 1)
    shown = KnownGame("g", game.events)
    for version, state in known:
        step = shown.step_of(version)
        if shown.steps[step - 1].last != version:
            continue
        everything = shown.at(step, REVEALED)
        assert everything.hands == state.hidden.hands
        for seat in range(5):
            seen = shown.at(step, Viewpoint(seat))
            assert seen.hands[seat] == state.hidden.hands[seat]
            assert [hand for other, hand in enumerate(seen.hands) if other != seat] == [None] * 4
            if state.hidden.guard is not None:
                assert seen.roles[seat] == everything.roles[seat], "a player knows his own role"
                if seat not in (state.hidden.guard, state.public.emperor) and state.public.guard is None:
                    assert state.hidden.guard not in [
                        other for other, role in enumerate(seen.roles) if role == "guard"
                    ]
                assert seen.is_solo <= (state.hidden.guard == state.public.emperor)
                if seat != state.hidden.guard and state.public.guard is None:
                    assert not seen.is_solo, "a hidden solo is hidden"
