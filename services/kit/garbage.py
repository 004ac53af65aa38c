"""Python's garbage collection, kept out of the way of answers."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator
from typing import Final

ALL_SECONDS: Final = 600.0
"""Between two collections of everything."""
_NEVER: Final = 1_000_000_000


@contextlib.asynccontextmanager
async def rare_collections(all_seconds: float = ALL_SECONDS) -> AsyncIterator[None]:
    """Within, what is there now is left out of collections, and all the rest is looked through but rarely.

    A collection of everything stops the process, the longer the more it holds. Nearly all garbage is freed
    without one, by counting references, or is found while it is young, which goes on as ever.
    """
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(thresholds[0], thresholds[1], _NEVER)
    task = asyncio.create_task(_collect_all(all_seconds))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        gc.set_threshold(*thresholds)
        gc.unfreeze()


async def _collect_all(every_seconds: float) -> None:
    while True:
        await asyncio.sleep(every_seconds)
        gc.collect()
