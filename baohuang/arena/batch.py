"""`ArenaBatch`: many games of the compiled engine side by side, one action each at a time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baohuang.arena.encoding import ActionSpace
from baohuang.arena.kernels import layout, many, observe
from baohuang.arena.kernels.layout import Ids
from baohuang.arena.state import ArenaState, check_seed
from baohuang.arena.tables import compile_tables
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.ruleset import RuleSet


class ArenaBatch:
    """`games` hands of one rule set. Arrays have one entry, or row, a game; over games stay as they are until
    `reset`.
    """

    def __init__(self, rules: RuleSet, games: int) -> None:
        self.rules: Final = rules
        self.space: Final = ActionSpace.of(rules)
        self.tables: Final = compile_tables(rules)
        self._rows: Final = np.zeros((games, layout.ROW), np.int16)
        self._rows[:, layout.STEP] = layout.STEP_OVER
        self._rows[:, layout.SEAT] = layout.NONE
        self._stream: Final = np.zeros(4, np.uint64)
        self._out: Final[Ids] = np.zeros(self.space.size, np.int32)
        self._ids: Ids = np.empty(16 * games + self.space.size, np.int32)
        self._offsets: Final = np.zeros(games + 1, np.int64)
        self._is_listed = False

        self._played: Final[observe.Played] = np.zeros((games, *observe.PLAYED), np.int8)
        # What is legal is listed once for each state, so nobody else may change one.
        self.rows: Final = self._rows[:]
        self.rows.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rows)

    def load(self, rows: ArrayLike) -> None:
        """Goes to the states of rows (`ArenaState.row`, `row_of`), one for each game or one for all.

        A row does not say what was played before: observations start from nothing.
        """
        self._rows[:] = rows
        self._played[:] = 0
        self._is_listed = False

    def reset(
        self,
        seed: int,
        *,
        games: ArrayLike | None = None,
        numbers: ArrayLike | None = None,
        first_drawers: ArrayLike = 0,
    ) -> None:
        """New hands in `games` (indices; all by default), dealt as the games of these `numbers` in `simulate`
        with the same seed; by default the numbers are the indices. Raises `RuleError` for a bad seed.
        """
        word = np.uint64(check_seed(seed))
        self._is_listed = False
        chosen = np.array(range(len(self)) if games is None else games, np.int64, ndmin=1)
        if len(chosen) and not (chosen.min() >= 0 and chosen.max() < len(self)):
            raise IndexError(f"games are 0 to {len(self) - 1}")
        wanted = chosen if numbers is None else np.asarray(numbers, np.int64)
        drawers = np.asarray(first_drawers, np.int64)
        if drawers.size and not (drawers.min() >= 0 and drawers.max() < layout.SEATS):
            raise ValueError("a first drawer is a seat, 0 to 4")
        many.start_games(
            self._rows,
            self.tables,
            self._played,
            self._stream,
            self._out,
            word,
            chosen,
            np.array(np.broadcast_to(wanted, chosen.shape), order="C"),
            np.array(np.broadcast_to(drawers, chosen.shape), order="C"),
        )

    @property
    def to_act(self) -> NDArray[np.int16]:
        """The seat whose action is awaited, the lowest of several; −1 when the hand is over."""
        return self.rows[:, layout.SEAT]

    @property
    def is_over(self) -> NDArray[np.bool_]:
        over: NDArray[np.bool_] = self.rows[:, layout.STEP] == layout.STEP_OVER
        return over

    @property
    def scores(self) -> NDArray[np.int16]:
        """Games × 5; zero before the end."""
        return self.rows[:, layout.SCORES : layout.SCORES + layout.SEATS]

    def masks(self, out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Games × `space.size`: which actions are legal for `to_act`; none where the hand is over."""
        filled = np.empty((len(self), self.space.size), np.bool_) if out is None else out
        filled[...] = False
        ids, offsets = self.legal()
        filled[np.repeat(np.arange(len(self)), np.diff(offsets)), ids] = True
        return filled

    def legal(self) -> tuple[Ids, NDArray[np.int64]]:
        """The same as ids one after another, and where each game's begin (one more entry than games).

        The arrays are valid until the next `step` or `reset`.
        """
        listed = len(self) if self._is_listed else 0
        while listed < len(self):
            listed = many.list_games(self._rows, self.tables, self._out, self._ids, self._offsets, listed)
            if listed < len(self):
                self._ids = np.concatenate([self._ids, np.empty_like(self._ids)])
        self._is_listed = True
        ids, offsets = self._ids[: self._offsets[-1]], self._offsets[:]
        ids.flags.writeable = offsets.flags.writeable = False
        return ids, offsets

    def step(self, actions: ArrayLike) -> None:
        """One action in each game; what it holds for a game that is over is not looked at.

        Raises `RuleError`, before anything is done, if one is not legal.
        """
        chosen = np.array(actions, np.int64, order="C")
        if chosen.shape != (len(self),):
            raise ValueError(f"a batch of {len(self)} games takes as many actions, not {chosen.shape}")
        self.legal()
        illegal = many.step_games(
            self._rows,
            self.tables,
            self._played,
            self._stream,
            self._out,
            self._ids,
            self._offsets,
            chosen,
        )
        self._is_listed = illegal >= 0
        if illegal >= 0:
            seat = int(self.to_act[illegal])
            raise RuleError(
                Reason.NOT_OFFERED,
                f"action {chosen[illegal]} is not legal for seat {seat} of game {illegal}",
                seat=seat,
                game=illegal,
                action=int(chosen[illegal]),
            )

    def observe(self) -> NDArray[np.int8]:
        """What `to_act` may know of each game (seat 0 of those that are over): games × `observe.SIZE`, by the
        planes of `baohuang.arena.kernels.observe`.
        """
        observations = np.empty((len(self), observe.SIZE), np.int8)
        observe.observe_games(self._rows, self.tables, self._played, observations)
        return observations

    def game(self, index: int) -> ArenaState:
        """A copy of one of the games."""
        state = ArenaState(self.rules)
        state.load(self.rows[index])
        return state
