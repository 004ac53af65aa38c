"""Random hands of every preset and option obey the laws (tests/property/laws.py)."""

import multiprocessing
import time
from collections.abc import Iterable
from itertools import combinations

import pytest

from baohuang import PRESETS, RuleSet
from baohuang.testing.options import all_choices, options_of, pairwise
from tests.property.laws import run_hands

PROCESSES = 2
Task = tuple[RuleSet, int, int, float]


def run_all(tasks: Iterable[Task], capsys: pytest.CaptureFixture[str]) -> None:
    """Runs tasks side by side and reports hands and events; the first broken law fails."""
    tasks = list(tasks)
    started = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        events = pool.starmap(run_hands, tasks, chunksize=1)
    hands = sum(task[2] for task in tasks)
    sets = len({task[0] for task in tasks})
    with capsys.disabled():
        seconds = time.monotonic() - started
        print(f"\n{hands} hands of {sets} rule sets, {sum(events)} events, no law broken, {seconds:.0f} s")


def chunks(rules: RuleSet, hands: int, chunk: int, thorough: float) -> list[Task]:
    return [(rules, first, min(chunk, hands - first), thorough) for first in range(0, hands, chunk)]


def test_hands_of_every_preset_and_pair_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    presets = [task for rules in PRESETS.values() for task in chunks(rules, 200, 50, 0.005)]
    options = [(rules, 10_000, 3, 0.01) for preset in PRESETS for rules in pairwise(preset)]
    run_all(presets + options, capsys)


@pytest.mark.prove
@pytest.mark.parametrize("preset", PRESETS)
def test_ten_thousand_hands_of_each_preset(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_all(chunks(PRESETS[preset], 10_000, 100, 0.01), capsys)


@pytest.mark.prove
@pytest.mark.parametrize("preset", PRESETS)
def test_five_hundred_hands_of_each_set_of_options(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_all([task for rules in pairwise(preset) for task in chunks(rules, 500, 100, 0.02)], capsys)


@pytest.mark.parametrize("preset", PRESETS)
def test_pairwise_sets_hold_every_pair_of_values_that_can_go_together(preset: str) -> None:
    chosen = pairwise(preset)
    for choice in all_choices(preset):
        for (name, value), (other, other_value) in combinations(choice, 2):
            held = [(getattr(rules, name), getattr(rules, other)) for rules in chosen]
            assert (value, other_value) in held, (name, other)
    assert set(options_of(preset)) == set(dict(all_choices(preset)[0]))
    assert len(chosen) < 20
