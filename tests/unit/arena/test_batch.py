"""`ArenaBatch`: many games side by side."""

import numpy as np
import pytest

from baohuang import PRESETS, RuleError, RuleSet
from baohuang.arena import ArenaBatch, ArenaState

JIAODONG = RuleSet.preset("jiaodong")


@pytest.mark.parametrize("preset", PRESETS)
def test_games_of_a_batch_are_those_of_single_states(preset: str) -> None:
    rules = RuleSet.preset(preset)
    batch = ArenaBatch(rules, 4)
    batch.reset(7)
    states = [ArenaState(rules) for _ in range(4)]
    for number, state in enumerate(states):
        state.reset(7, game=number)
    draw = np.random.default_rng(1)
    for _ in range(2000):
        ids, offsets = batch.legal()
        legal = [ids[offsets[game] : offsets[game + 1]].tolist() for game in range(4)]
        assert legal == [state.legal().tolist() for state in states]
        assert batch.to_act.tolist() == [state.to_act for state in states]
        if batch.is_over.all():
            break
        actions = [int(draw.choice(each)) if each else -1 for each in legal]
        batch.step(actions)
        for state, action in zip(states, actions, strict=True):
            if action >= 0:
                state.apply(action)
    assert batch.is_over.all()
    assert batch.scores.tolist() == [list(state.scores()) for state in states]
    assert batch.legal()[0].tolist() == []


def test_masks_hold_the_legal_actions() -> None:
    batch = ArenaBatch(JIAODONG, 3)
    batch.reset(1)
    masks = batch.masks()
    ids, offsets = batch.legal()
    for game in range(3):
        assert np.flatnonzero(masks[game]).tolist() == sorted(ids[offsets[game] : offsets[game + 1]].tolist())
    assert batch.masks(masks) is masks


def test_a_long_list_of_legal_actions_is_listed_whole() -> None:
    """More than there is room for at first: leaders of the folk rules have thousands of plays."""
    folk = RuleSet.preset("shandong-folk")
    one = ArenaState(folk)
    for number in range(200):
        one.reset(1, game=number)
        while not one.is_over and len(one.legal()) < 1000:
            one.apply(int(one.legal()[0]))
        if not one.is_over:
            break
    batch = ArenaBatch(folk, 500)
    batch.load(one.row)
    ids, offsets = batch.legal()
    assert len(ids) == 500 * len(one.legal())
    assert ids[offsets[499] :].tolist() == one.legal().tolist()


def test_some_games_are_dealt_anew() -> None:
    batch = ArenaBatch(JIAODONG, 3)
    batch.reset(1)
    before = batch.rows.copy()
    batch.reset(1, games=[1], numbers=[77])
    assert (batch.rows[[0, 2]] == before[[0, 2]]).all()
    state = ArenaState(JIAODONG)
    state.reset(1, game=77)
    assert batch.game(1).hand(3) == state.hand(3)
    with pytest.raises(IndexError):
        batch.reset(1, games=[3])


def test_one_illegal_action_stops_the_whole_step() -> None:
    batch = ArenaBatch(JIAODONG, 3)
    batch.reset(1)
    before = batch.rows.copy()
    ids, offsets = batch.legal()
    actions = ids[offsets[:-1]].astype(np.int64)
    actions[1] = 0
    with pytest.raises(RuleError, match="of game 1"):
        batch.step(actions)
    assert (batch.rows == before).all()
    with pytest.raises(ValueError, match="3 games"):
        batch.step(actions[:2])
