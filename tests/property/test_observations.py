"""Observations of the environments hold nothing that the seat may not know (R11.3)."""

from collections import Counter

import numpy as np
import pytest

from baohuang import PRESETS, RuleSet
from baohuang.arena import ArenaState
from baohuang.rules.events import Event
from baohuang.testing.options import pairwise
from tests.property.twins import Twins
from tests.unit.envs.observed import observe_state

PAIRS = 10


class ObservedTwins(Twins):
    """Compares what the viewer's agent observes, and may do, in both hands."""

    compared = 0

    def compare(self, new: list[tuple[Event, ...]]) -> None:
        if self.viewer is None:
            return
        one, other = (observe_state(game.state, self.viewer) for game in self.games)
        assert np.array_equal(one, other)
        legal = [ArenaState.from_state(game.state).legal_of(self.viewer).tolist() for game in self.games]
        assert legal[0] == legal[1]
        type(self).compared += 1


@pytest.mark.parametrize("preset", PRESETS)
def test_twin_hands_are_observed_alike(preset: str) -> None:
    ends: Counter[str] = Counter()
    for rules in (RuleSet.preset(preset), *pairwise(preset)[:2]):
        for seed in range(PAIRS):
            ends[ObservedTwins(rules, seed).run()] += 1
    assert ends["told apart"] + ends["ended"] > PAIRS // 2
    assert ObservedTwins.compared > 500
