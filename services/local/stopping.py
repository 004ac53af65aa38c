"""Ctrl-C and SIGTERM: the first asks for an orderly end where something is waited for, the second kills."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class StopRequested(Exception):
    """Somebody asked for the end."""


class Stopper:
    """While entered, the first signal makes `pause` raise StopRequested, now or when it is next called.

    What is under way when the signal comes is finished first. A second signal calls `cut_short`, inside the
    signal handler: it should not return.
    """

    _SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, cut_short: Callable[[], None]) -> None:
        self._cut_short = cut_short
        self.is_requested = False

    def __enter__(self) -> Self:
        self._reading, self._writing = os.pipe()
        self._before: dict[signal.Signals, Any] = {
            each: signal.signal(each, self._note)
            for each in self._SIGNALS
            # Under nohup the terminal's end is no wish.
            if each is not signal.SIGHUP or signal.getsignal(each) is not signal.SIG_IGN
        }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)
        os.close(self._reading)
        os.close(self._writing)

    def pause(self, seconds: float) -> None:
        """Wait. Raises StopRequested as soon as the end is asked for."""
        select.select([self._reading], [], [], seconds)
        if self.is_requested:
            raise StopRequested

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.is_requested:
            self._cut_short()
            return
        self.is_requested = True
        # A waiting `select` goes on waiting after a signal, unless what it waits for has come.
        os.write(self._writing, b"!")
