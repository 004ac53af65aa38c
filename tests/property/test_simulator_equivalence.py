"""The compiled simulator plays by the readable rules: same seats, legal actions, state and outcome at every
step.
"""

import multiprocessing
import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baohuang import PRESETS, Game, RuleSet
from baohuang.arena import ArenaState, warm_up
from baohuang.rules.events import Step
from baohuang.rules.roles import Opening
from baohuang.testing.options import all_choices, pairwise
from baohuang.testing.scenarios import start_at_opening, start_at_play, walk_to
from baohuang.testing.strategies import games, short_games
from tests.property.lockstep import Count, play_both, run_hands

PROCESSES = 2
Task = tuple[RuleSet, int, int]


def run_all(tasks: Iterable[Task], capsys: pytest.CaptureFixture[str]) -> None:
    """Runs tasks side by side and reports what was compared; the first difference fails."""
    warm_up()  # compiled once, not by each process
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        counts = pool.starmap(run_hands, list(tasks), chunksize=1)
    total = Count(*map(sum, zip(*counts, strict=True)))
    with capsys.disabled():
        print(f"\n{total.hands} hands, {total.actions} actions, {total.legal} legal actions: all equal")


def chunks(rules: RuleSet, hands: int, chunk: int) -> list[Task]:
    return [(rules, first, min(chunk, hands - first)) for first in range(0, hands, chunk)]


def test_hands_of_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    run_all([task for rules in PRESETS.values() for task in chunks(rules, 100, 25)], capsys)


def test_hands_of_every_pair_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    run_all([(rules, 10_000, 20) for preset in PRESETS for rules in pairwise(preset)], capsys)


@pytest.mark.prove
@pytest.mark.parametrize("preset", PRESETS)
def test_twenty_thousand_hands_of_each_preset(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_all(chunks(PRESETS[preset], 20_000, 100), capsys)


@settings(max_examples=30)
@given(st.data())
def test_hands_of_any_options(data: st.DataObject) -> None:
    preset = data.draw(st.sampled_from(list(PRESETS)))
    rules = RuleSet.preset(preset, **dict(data.draw(st.sampled_from(all_choices(preset)))))
    run_hands(rules, data.draw(st.integers(0, 2**32)), 1)


# ---------------------------------------------------------------------------------------------- from special
# deals
@given(st.data(), st.randoms(use_true_random=False))
def test_short_hands_whoever_is_guard(data: st.DataObject, draw: random.Random) -> None:
    """R6, R7, R10.4: the ends of hands, with few cards of any kind and any declarations."""
    rules = data.draw(st.sampled_from([rules for preset in PRESETS for rules in pairwise(preset)]))
    game = data.draw(short_games(rules, most_cards=5))
    play_both(game, ArenaState.from_state(game.state), draw)


@settings(max_examples=30)
@given(games(), st.randoms(use_true_random=False))
def test_games_taken_over_in_the_middle(game: Game, draw: random.Random) -> None:
    walk_to(game, Step.CALL, Step.CLAIM, Step.DECLARE)  # a deal after this one could not be the same
    play_both(game, ArenaState.from_state(game.state), draw)


@pytest.mark.parametrize("preset", PRESETS)
def test_hidden_solo_from_the_opening(preset: str) -> None:
    """R5.6: emperor and guard in one hand."""
    for seed in range(20):
        game = start_at_opening(RuleSet.preset(preset), emperor=1, guard=1)
        play_both(game, ArenaState.from_state(game.state), random.Random(seed))


def test_each_claim_of_a_grabbed_solo() -> None:
    """R5.7: the emperor's claim wins, else the nearest upstream of him."""
    rules = RuleSet.preset("lianzhong-simple", grab_solo=True)
    for claimants in range(32):
        game = Game.deal(rules, seed=claimants)
        walk_to(game, Step.CLAIM)
        arena = ArenaState.from_state(game.state)
        for seat in game.to_act:
            answer = "solo" if claimants >> seat & 1 else "no"
            arena.apply(arena.number(answer))
            game.apply(seat, answer)
        play_both(game, arena, random.Random(claimants))


def test_folk_hands_with_few_threes_are_cleared_often() -> None:
    """R10.4: who is left with threes and beaten is cleared, in solo hands too."""
    rules = RuleSet.preset("shandong-folk")
    hands = {seat: ["3", "3", "7"] for seat in range(5)}
    cleared = 0
    for guard in range(5):
        for seed in range(40):
            opening = Opening(emperor=0, guard=guard, open_solo=guard == 0 and seed % 2 == 0)
            game = start_at_play(rules, hands, filler=dict.fromkeys(range(5), 2), opening=opening)
            play_both(game, ArenaState.from_state(game.state), random.Random(seed))
            cleared += len(game.state.public.cleared)
    assert cleared > 50
