"""Environments for training (docs/research.md): PettingZoo's, one decision at a time, and many games at once.

`baohuang.envs.baohuang_v0` needs the extra `envs`; everything else here only `arena`.

>>> from baohuang.envs import BaohuangVector
>>> games = BaohuangVector("jiaodong", 100)
>>> turns = games.reset(seed=7)
>>> turns = games.step(turns.ids[turns.offsets[:-1]])  # the first legal action in each game
>>> turns.observations.shape[0]
100
"""

from baohuang.arena.kernels.observe import PLANES, Plane
from baohuang.envs.observations import split
from baohuang.envs.parts import Parts
from baohuang.envs.vector import BaohuangVector, Turns
from baohuang.envs.views import legal_ids, observe_view

__all__ = ["PLANES", "BaohuangVector", "Parts", "Plane", "Turns", "legal_ids", "observe_view", "split"]
