"""Moves finished streams to the archive and back. Readers notice nothing: rows keep their place in the
log's order.

What "finished" means is for the owner of the streams to say; the store moves what it is told to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from services.eventstore.errors import translated_errors
from services.eventstore.pool import Pool

# So many streams in one transaction, which hides newer commits from the readers until it ends.
_STREAMS_PER_TRANSACTION = 20


async def archive_streams(pool: Pool, streams: Sequence[str]) -> int:
    """Move all commits of these streams to the archive; gives how many moved. Those already there stay.

    Done in small steps, each of which stands when it was done. Raises StoreUnavailable.
    """
    return await _move(pool, streams, "select eventstore.archive_streams(%s)")


async def unarchive_streams(pool: Pool, streams: Sequence[str]) -> int:
    """The way back, in the same manner."""
    return await _move(pool, streams, "select eventstore.unarchive_streams(%s)")


async def _move(pool: Pool, streams: Sequence[str], statement: LiteralString) -> int:
    total = 0
    with translated_errors():
        async with pool.connection() as connection:
            for first in range(0, len(streams), _STREAMS_PER_TRANSACTION):
                some = list(streams[first : first + _STREAMS_PER_TRANSACTION])
                row = await (await connection.execute(statement, [some])).fetchone()
                total += 0 if row is None else int(row[0])
    return total
