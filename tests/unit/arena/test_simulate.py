"""`simulate`: whole hands, the same whatever the batch."""

import random

import numpy as np
import pytest

from baohuang import PRESETS, Due, DueKind, Game, Role, RuleError, RuleSet, RuleSetError, Solo, Termination
from baohuang.arena import ArenaState, Results, simulate
from baohuang.arena.kernels import layout
from baohuang.arena.snapshot import count_kinds, dues_array
from baohuang.rules.shuffle import deal

SIMPLE = RuleSet.preset("lianzhong-simple")


def same(one: Results, other: Results) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


@pytest.mark.parametrize("preset", PRESETS)
def test_scores_sum_to_zero_and_words_fit(preset: str) -> None:
    """R8.4, R8.6."""
    results = simulate(RuleSet.preset(preset), 500, seed=1)
    assert len(results) == 500
    assert not results.scores.sum(axis=1).any()
    played = results.terminations == list(Termination).index(Termination.PLAYED)
    assert (np.sort(results.places[played]) == [1, 2, 3, 4, 5]).all()
    assert (results.places[~played] == 0).all()
    assert (results.roles[~played] == -1).all()
    emperors = (results.roles == list(Role).index(Role.EMPEROR)).sum(axis=1)
    guards = (results.roles == list(Role).index(Role.GUARD)).sum(axis=1)
    assert (emperors[played] == 1).all()
    assert (guards == (played & (results.solos == list(Solo).index(Solo.NONE)))).all()
    assert (results.actions.sum(axis=1)[played] > 10).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_game_depends_on_seed_and_number_alone(preset: str) -> None:
    rules = RuleSet.preset(preset)
    whole = simulate(rules, 600, seed=9)
    assert same(whole, simulate(rules, 600, seed=9, threads=2))
    part = simulate(rules, 100, seed=9, first_game=250)
    assert np.array_equal(part.scores, whole.scores[250:350])
    assert np.array_equal(part.actions, whole.actions[250:350])
    assert not np.array_equal(simulate(rules, 600, seed=10).scores, whole.scores)


def test_game_and_state_of_the_same_seed_and_number_have_the_same_hands() -> None:
    """The deal does not depend on who plays."""
    state = ArenaState(SIMPLE)
    state.reset(4, game=2)
    deals = np.array([[[count_kinds(state.hand(seat)) for seat in range(5)]]], np.int8)
    assert same(
        simulate(SIMPLE, 1, seed=4, first_game=2), simulate(SIMPLE, 1, seed=4, first_game=2, deals=deals)
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_whole_hands_and_single_actions_are_the_same_engine(preset: str) -> None:
    results = simulate(RuleSet.preset(preset), 20, seed=11)
    state = ArenaState(RuleSet.preset(preset))
    for game in range(20):
        state.reset(11, game=game)
        actions = [0] * 5
        while not state.is_over:
            actions[state.to_act] += 1
            state.apply(state.choose("random"))
        assert results.scores[game].tolist() == list(state.scores())
        assert results.places[game].tolist() == list(state.places())
        assert results.actions[game].tolist() == actions


def test_given_deals_are_played() -> None:
    """Deals of the readable rules, in which seat 2 holds the emperor joker, make him emperor."""
    rules = RuleSet.preset("marked-guard")
    seeds = range(40)
    given = [[[count_kinds(hand) for hand in deal(rules, seed)] for seed in (each,)] for each in seeds]
    results = simulate(rules, 40, seed=0, deals=given)
    for seed in seeds:
        holder = Game.deal(rules, seed=seed).state.public.emperor
        if results.solos[seed] != list(Solo).index(Solo.OPEN):
            assert results.roles[seed].tolist().index(0) == holder


def test_dues_go_from_one_hand_to_the_next() -> None:
    """R10.5, R10.6."""
    folk = RuleSet.preset("shandong-folk")
    first = simulate(folk, 300, seed=1)
    played = first.solos == list(Solo).index(Solo.NONE)
    assert (first.dues[:, :, 0] >= 0).any(axis=1)[played].any()
    second = simulate(folk, 300, seed=2, dues=first.dues, first_drawers=first.next_first_drawers)
    alone = simulate(folk, 300, seed=2, first_drawers=first.next_first_drawers)
    assert not np.array_equal(second.actions, alone.actions)
    with pytest.raises(RuleSetError, match="no debts"):
        simulate(SIMPLE, 1, seed=1, dues=dues_array([Due(DueKind.DEBT, 0, 1)]))
    with pytest.raises(ValueError, match="from one seat"):
        simulate(folk, 1, seed=1, dues=[[0, 0, 0]] * layout.MOST_DUES)


def test_no_games_are_fine() -> None:
    assert len(simulate(SIMPLE, 0, seed=1)) == 0


def test_policies_are_given_for_all_for_each_seat_or_for_each_game() -> None:
    all_random = simulate(SIMPLE, 3, seed=1)
    assert same(all_random, simulate(SIMPLE, 3, seed=1, policies=["random"] * 5))
    assert same(all_random, simulate(SIMPLE, 3, seed=1, policies=[["random"] * 5] * 3))
    with pytest.raises(ValueError, match="no policy 'genius'"):
        simulate(SIMPLE, 3, seed=1, policies="genius")


def test_bad_input_is_refused() -> None:
    with pytest.raises(RuleError, match="seed"):
        simulate(SIMPLE, 1, seed=-1)
    with pytest.raises(ValueError, match="first drawer"):
        simulate(SIMPLE, 1, seed=1, first_drawers=5)
    with pytest.raises(ValueError, match="deals are"):
        simulate(SIMPLE, 1, seed=1, deals=np.zeros((5, 56)))
    with pytest.raises(RuleSetError, match="whole deck"):
        simulate(SIMPLE, 1, seed=1, deals=np.zeros((1, 1, 5, 56)))


def test_compiled_and_readable_random_play_look_alike() -> None:
    """Another check on the draw: as many actions a hand, within what chance allows."""
    rules = RuleSet.preset("marked-guard")
    lengths = []
    draw = random.Random(1)
    for seed in range(150):
        game, count = Game.deal(rules, seed=seed), 0
        while game.to_act:
            seat = draw.choice(game.to_act)
            game.apply(seat, draw.choice(game.legal_actions(seat)))
            count += 1
        lengths.append(count)
    compiled = simulate(rules, 5000, seed=3).actions.sum(axis=1)
    error = float(np.std(lengths)) / len(lengths) ** 0.5
    assert abs(float(np.mean(lengths)) - compiled.mean()) < 4 * error
