"""When a process that ended is started again, and when no more."""

from __future__ import annotations

from typing import NamedTuple

MOST_RESTARTS = 5
FORGIVEN_AFTER_SECONDS = 60.0
"""A process that ran for so long begins with a clean record."""
_FIRST_WAIT_SECONDS = 1.0


class GaveUp(RuntimeError):
    """A process ended too often to be started again."""


class Restart(NamedTuple):
    """A start that follows an early end, the `number`th in a row, after `wait_seconds`."""

    number: int
    wait_seconds: float


class Restarts:
    """Counts how often processes, by name, ended soon after they were started."""

    def __init__(self) -> None:
        self._started_seconds: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def note_start(self, name: str, now_seconds: float) -> None:
        """The process was started at this time, by the clock that the end is told by."""
        self._started_seconds[name] = now_seconds

    def after_end(self, name: str, now_seconds: float) -> Restart:
        """How to start a process that has ended. Raises GaveUp after MOST_RESTARTS early ends in a row."""
        ran_seconds = now_seconds - self._started_seconds[name]
        count = 1 if ran_seconds >= FORGIVEN_AFTER_SECONDS else self._counts.get(name, 0) + 1
        self._counts[name] = count
        if count > MOST_RESTARTS:
            raise GaveUp(f"{name} was started again {MOST_RESTARTS} times and ended each time")
        return Restart(count, _FIRST_WAIT_SECONDS * 2 ** (count - 1))
