"""Compiles everything ahead of the first use, for images and for tests that start several processes."""

from __future__ import annotations

from baohuang.arena.batch import ArenaBatch
from baohuang.arena.simulate import simulate
from baohuang.arena.state import ArenaState
from baohuang.rules.ruleset import PRESETS


def warm_up() -> None:
    """Compiles all kernels, or finds them in the cache folder."""
    rules = next(iter(PRESETS.values()))
    simulate(rules, 1, seed=0)
    state = ArenaState(rules)
    state.reset(0)
    state.apply(state.choose("random"))
    batch = ArenaBatch(rules, 1)
    batch.reset(0)
    batch.step(batch.legal()[0][:1])
    batch.observe()
