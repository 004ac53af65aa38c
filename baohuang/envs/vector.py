"""`BaohuangVector`: many games at once, for training: arrays in, arrays out, made by compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baohuang.arena.batch import ArenaBatch
from baohuang.arena.encoding import ActionSpace
from baohuang.arena.kernels.layout import Ids
from baohuang.rules.ruleset import RuleSet


@dataclass(frozen=True)
class Turns:
    """Whose turn it is in each of N games, and what he may know and do; the arrays are the caller's own.

    The legal actions of game g are `ids[offsets[g] : offsets[g + 1]]`, at least one. `ended` says in which
    games the action before ended the hand, and `scores` how (zero elsewhere); everything else is already of
    the hand that follows there.
    """

    observations: NDArray[np.int8]
    """N × the widths of `PLANES`, seen by the seat to act."""
    to_act: NDArray[np.int16]
    """N seats; in steps that several answer, the lowest that has not."""
    ids: Ids
    offsets: NDArray[np.int64]
    """N + 1."""
    ended: NDArray[np.bool_]
    scores: NDArray[np.int16]
    """N × 5, by seat."""
    numbers: NDArray[np.int64]
    """The number of each hand in `simulate` with the same seed."""

    def masks(self, size: int) -> NDArray[np.bool_]:
        """The legal actions as N × `size`, the size of the action space."""
        masks = np.zeros((len(self.to_act), size), np.bool_)
        masks[self.games, self.ids] = True
        return masks

    @property
    def games(self) -> NDArray[np.int64]:
        """Of each entry of `ids` the game that it belongs to."""
        return np.repeat(np.arange(len(self.to_act)), np.diff(self.offsets))


class BaohuangVector:
    """`games` hands of one rule set (a preset's name with options, or a `RuleSet`), played side by side.

    A hand that ends is followed by the next at once, so every game always awaits an action.
    """

    def __init__(self, rules: RuleSet | str, games: int, **options: object) -> None:
        self.rules: Final = (
            RuleSet.preset(rules, **options) if isinstance(rules, str) else rules.replace(**options)
        )
        self.space: Final = ActionSpace.of(self.rules)
        self._batch: Final = ArenaBatch(self.rules, games)
        self._numbers: Final = np.arange(games)
        self._seed = 0

    def __len__(self) -> int:
        return len(self._batch)

    def reset(self, seed: int) -> Turns:
        """New hands everywhere, those of `simulate` with this seed from game 0 on; raises `RuleError` for a
        bad seed.
        """
        self._batch.reset(seed)
        self._seed = seed
        self._numbers[:] = np.arange(len(self))
        return self._turns(np.zeros(len(self), np.bool_), np.zeros((len(self), 5), np.int16))

    def step(self, actions: ArrayLike) -> Turns:
        """One action in each game, N ids; raises `RuleError`, before anything is done, for an illegal one."""
        batch = self._batch
        batch.step(actions)
        ended = batch.is_over
        scores = np.where(ended[:, np.newaxis], batch.scores, np.int16(0))
        again = np.flatnonzero(ended)
        if len(again):
            self._numbers[again] = self._numbers.max() + 1 + np.arange(len(again))
            batch.reset(self._seed, games=again, numbers=self._numbers[again])
        return self._turns(ended, scores)

    def _turns(self, ended: NDArray[np.bool_], scores: NDArray[np.int16]) -> Turns:
        batch = self._batch
        ids, offsets = batch.legal()
        return Turns(
            observations=batch.observe(),
            to_act=batch.to_act.copy(),
            ids=ids.copy(),
            offsets=offsets.copy(),
            ended=ended,
            scores=scores,
            numbers=self._numbers.copy(),
        )
