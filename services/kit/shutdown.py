"""Stopping when asked to."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """An event that SIGTERM or SIGINT sets, inside a running loop; a second one ends the process at once."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    signals = (signal.SIGTERM, signal.SIGINT)

    def ask() -> None:
        stop.set()
        release()

    def release() -> None:
        for number in signals:
            loop.remove_signal_handler(number)

    for number in signals:
        loop.add_signal_handler(number, ask)
    try:
        yield stop
    finally:
        release()
