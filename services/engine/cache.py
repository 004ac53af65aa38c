"""Folded states of the games seen last."""

from __future__ import annotations

from collections import OrderedDict

from baohuang.rules.state import State


class StateCache:
    """The newest known state of up to `size` games. A hint: the log may be ahead of it, never behind."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._states: OrderedDict[str, State] = OrderedDict()

    def get(self, game_id: str) -> State | None:
        """The state of a game after the events known here, whose number is its `version`."""
        state = self._states.get(game_id)
        if state is not None:
            self._states.move_to_end(game_id)
        return state

    def put(self, game_id: str, state: State) -> None:
        """Keeps a state that was read from or appended to the log, unless a newer one is known."""
        known = self._states.get(game_id)
        if known is None or known.version < state.version:
            self._states[game_id] = state
        self._states.move_to_end(game_id)
        if len(self._states) > self._size:
            self._states.popitem(last=False)

    def __len__(self) -> int:
        return len(self._states)
