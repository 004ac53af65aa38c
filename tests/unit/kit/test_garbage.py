"""Collections of everything come when they are told to, and young garbage is found as ever."""

import asyncio
import gc
import weakref

from services.kit.garbage import rare_collections


class Ring:
    """Garbage that no count of references frees."""

    def __init__(self) -> None:
        self.me = self


async def test_only_collections_of_everything_are_put_off() -> None:
    before, collections = gc.get_threshold(), gc.get_stats()[2]["collections"]
    async with rare_collections():
        assert gc.get_freeze_count() > 1_000
        assert gc.get_stats()[2]["collections"] == collections + 1
        kept = [Ring() for _ in range(200_000)]  # by default these alone would cause several
        young = weakref.ref(Ring())
        kept += [Ring() for _ in range(20_000)]
        assert young() is None
        assert gc.get_stats()[2]["collections"] == collections + 1
        del kept
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


async def test_old_garbage_is_found_in_the_end() -> None:
    async with rare_collections(all_seconds=0.01):
        old = Ring()
        gc.collect()
        found = asyncio.Event()
        weakref.finalize(old, found.set)
        del old
        await asyncio.wait_for(found.wait(), 10)
