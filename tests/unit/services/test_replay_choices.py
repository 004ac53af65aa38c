"""What was legal at a step, as the viewer tells it: the engine's own answer, in groups."""

import pytest

from baohuang import Action, Game, RuleSet
from baohuang.rules.actions import ActionKind
from services.replay.choices import choices_at
from services.replay.known import KnownGame
from tests.integration.replay.scene import ALL_PRESETS, played_game


def shape(action_cards: tuple[object, ...]) -> tuple[int, ...]:
    return tuple(sorted([card.rank for card in action_cards]))  # type: ignore[attr-defined]


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_it_is_what_the_engine_would_have_taken(preset: str) -> None:
    played = played_game(preset, seed=6)
    game = KnownGame("g", played.events)
    assert choices_at(game, 1) is None
    for step in range(2, len(game.steps) + 1, 5):
        before = game.state(step - 1)
        whole = Game(played.events[: game.steps[step - 1].first - 1], before)
        choices = choices_at(game, step)
        assert choices is not None
        asked = {seat.seat: seat for seat in choices.seats if seat.is_asked}
        assert tuple(sorted(asked)) == tuple(sorted(before.to_act))
        for seat, told in asked.items():
            legal = whole.legal_actions(seat)
            plays = {shape(action.cards) for action in legal if action.kind is ActionKind.PLAY}
            shown = [shape(cards + group.hung) for group in told.plays for cards in group.sets]
            assert len(shown) == len(set(shown)) == told.number
            assert set(shown) == plays
            assert told.may_pass is any(action.kind is ActionKind.PASS for action in legal)
            answers = [action for action in legal if action.kind not in (ActionKind.PLAY, ActionKind.PASS)]
            assert list(told.answers) == answers
        for told in choices.seats:
            assert told.is_asked or choices.to_beat is not None


def test_it_says_who_else_could_have_beaten_the_play() -> None:
    rules = RuleSet.preset("marked-guard")
    game = Game.from_hands(rules, ["EJ 9s 9h 7c 7d", "GJ 7c 7h", "8h 8d Ks", "6c 6d 6s", "Ts Th Ac"])
    while game.state.public.step != "play":
        game.apply(game.to_act[0], "no")
    game.apply(0, Action.parse("play 7c 7d"))
    asked = len(KnownGame("g", game.events).steps) + 1
    while game.to_act:
        legal = game.legal_actions(game.to_act[0])
        game.apply(game.to_act[0], max(legal, key=lambda action: len(action.cards)))
    choices = choices_at(KnownGame("g", game.events), asked)
    assert choices is not None
    assert choices.to_beat is not None
    assert choices.to_beat.seat == 0
    could = {
        seat.seat: [" ".join(map(str, cards + group.hung)) for group in seat.plays for cards in group.sets]
        for seat in choices.seats
    }
    assert could == {1: [], 2: ["8d 8h"], 3: [], 4: ["Th Ts"]}
    assert [seat.is_asked for seat in choices.seats] == [True, False, False, False]
