"""`BaohuangVector`: many games at once give what one game at a time gives."""

import numpy as np
import pytest

from baohuang import PRESETS, RuleError, RuleSet
from baohuang.arena import ArenaState
from baohuang.envs import BaohuangVector, Turns, baohuang_v0


def first_actions(turns: Turns) -> np.ndarray:
    """Of each game the legal action in the middle of the list."""
    return turns.ids[(turns.offsets[:-1] + turns.offsets[1:]) // 2]


@pytest.mark.parametrize("preset", PRESETS)
def test_it_gives_what_the_environment_for_one_game_gives(preset: str) -> None:
    games = BaohuangVector(preset, 3)
    turns = games.reset(seed=4)
    envs = [baohuang_v0.env(preset) for _ in range(3)]
    for env in envs:
        env.reset(seed=4)
    for game in (1, 2):
        for _ in range(game):
            envs[game].reset()
    for step in range(120):
        actions = first_actions(turns)
        for game, env in enumerate(envs):
            assert env.agent_selection == f"player_{turns.to_act[game]}"
            assert (
                turns.ids[turns.offsets[game] : turns.offsets[game + 1]].tolist() == env.game.legal().tolist()
            )
            if step % 4 == 0:
                seen = env.observe(env.agent_selection)
                assert (turns.observations[game] == seen["observation"]).all()
                assert (turns.masks(games.space.size)[game] == seen["action_mask"]).all()
            env.step(int(actions[game]))
        turns = games.step(actions)
        if turns.ended.any():
            return


def test_hands_follow_each_other_and_end_as_in_the_simulator() -> None:
    rules = RuleSet.preset("jiaodong")
    games = BaohuangVector(rules, 50)
    turns = games.reset(seed=9)
    numbers, scores = turns.numbers, {}
    for _ in range(600):
        turns = games.step(first_actions(turns))
        for game in np.flatnonzero(turns.ended).tolist():
            scores[int(numbers[game])] = turns.scores[game].tolist()
            assert turns.numbers[game] not in scores
        assert not turns.scores[~turns.ended].any()
        numbers = turns.numbers
    assert len(scores) > 80
    state = ArenaState(rules)
    for number, expected in list(scores.items())[::7]:
        state.reset(9, game=number)
        while not state.is_over:
            legal = state.legal()
            state.apply(int(legal[len(legal) // 2]))
        assert list(state.scores()) == expected


def test_one_illegal_action_stops_the_whole_step() -> None:
    games = BaohuangVector("lianzhong-simple", 3, kaopai=True)
    turns = games.reset(seed=1)
    actions = first_actions(turns)
    wrong = actions.copy()
    wrong[1] = 0
    with pytest.raises(RuleError, match="of game 1"):
        games.step(wrong)
    with pytest.raises(ValueError, match="3 games"):
        games.step(actions[:2])
    again = BaohuangVector("lianzhong-simple", 3, kaopai=True)
    again.reset(seed=1)
    assert (games.step(actions).observations == again.step(actions).observations).all()


def test_what_was_handed_out_stays_as_it_was() -> None:
    games = BaohuangVector("lianzhong-simple", 3)
    turns = games.reset(seed=1)
    kept = [array.copy() for array in vars(turns).values()]
    games.step(first_actions(turns))
    assert all((before == after).all() for before, after in zip(kept, vars(turns).values(), strict=True))
