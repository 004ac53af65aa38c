"""Moves finished streams to the archive and back. Readers notice nothing: rows keep their place in the log's
order.

What "finished" means is for the owner of the streams to say; the store moves what it is told to, or what has
been quiet for long. Nothing is lost if a stream turns out not to be finished: it goes on as if it had not
moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from services.eventstore import sql
from services.eventstore.commit import START, Cursor
from services.eventstore.errors import translated_errors
from services.eventstore.pool import Pool

# So many streams in one transaction, which hides newer commits from the readers until it ends.
_STREAMS_PER_TRANSACTION = 20
_COMMITS_PER_LOOK = 5_000


async def archive_streams(pool: Pool, streams: Sequence[str]) -> int:
    """Move all commits of these streams to the archive; gives how many moved. Those already there stay.

    Done in small steps, each of which stands when it was done. Raises StoreUnavailable.
    """
    return await _move(pool, streams, "select eventstore.archive_streams(%s)")


async def archive_quiet_streams(pool: Pool, quiet_seconds: float) -> int:
    """Move all streams whose last commit is older than that to the archive; gives how many commits moved.

    Goes through the log from its beginning, and may be stopped and begun anew at any time. Raises
    StoreUnavailable.
    """
    moved, place = 0, START
    while True:
        with translated_errors():
            async with pool.connection() as connection:
                parameters = {
                    "tx": str(place.tx),
                    "position": place.position,
                    "limit": _COMMITS_PER_LOOK,
                    "quiet_seconds": quiet_seconds,
                }
                row = await (await connection.execute(sql.FIND_QUIET_STREAMS, parameters)).fetchone()
        if row is None:
            return moved
        streams, is_recent, *end = row
        moved += await archive_streams(pool, streams)
        if is_recent:  # the log is in the order of time but for moments, so there are no older ones behind
            return moved
        place = Cursor(*end)


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
