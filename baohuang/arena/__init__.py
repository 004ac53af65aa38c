"""The compiled simulator: the same game as `baohuang.rules`, thousands of times faster (docs/simulator.md).

>>> import baohuang
>>> from baohuang.arena import simulate
>>> results = simulate(baohuang.RuleSet.preset("jiaodong"), 1000, seed=7)
>>> int(results.scores.sum())
0
"""

from baohuang.arena.batch import ArenaBatch
from baohuang.arena.encoding import ActionSpace, marked_card
from baohuang.arena.kernels.policies import POLICIES
from baohuang.arena.simulate import Results, simulate
from baohuang.arena.snapshot import row_of
from baohuang.arena.state import ArenaState
from baohuang.arena.warm import warm_up

__all__ = [
    "POLICIES",
    "ActionSpace",
    "ArenaBatch",
    "ArenaState",
    "Results",
    "marked_card",
    "row_of",
    "simulate",
    "warm_up",
]
