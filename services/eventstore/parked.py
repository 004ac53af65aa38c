"""Commits that a subscription could not apply: look at them, have them tried again, or give them up."""

from __future__ import annotations

from typing import NamedTuple

from services.eventstore import sql
from services.eventstore.commit import Cursor
from services.eventstore.errors import translated_errors
from services.eventstore.pool import Pool


class ParkedCommit(NamedTuple):
    """`error` is None for a commit that only waits behind an earlier one of its stream."""

    subscription: str
    stream: str
    version: int
    tx: int
    position: int
    error: str | None
    attempts: int
    parked_at_ms: int
    is_due: bool

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.tx, self.position)


async def parked_commits(
    pool: Pool, subscription: str | None = None, limit: int = 1000
) -> list[ParkedCommit]:
    """The parked commits of one subscription or of all, in the log's order. Raises StoreUnavailable."""
    with translated_errors():
        async with pool.connection() as connection:
            cursor = await connection.execute(sql.READ_PARKED, {"subscription": subscription, "limit": limit})
            return [ParkedCommit._make(row) for row in await cursor.fetchall()]


async def retry_parked(pool: Pool, subscription: str, stream: str | None = None) -> int:
    """Have the parked commits of a stream, or of all streams, tried again by the running followers, in order;
    gives how many there are. Raises StoreUnavailable.
    """
    with translated_errors():
        async with pool.connection() as connection:
            cursor = await connection.execute(
                sql.RETRY_PARKED, {"subscription": subscription, "stream": stream}
            )
            return cursor.rowcount


async def discard_parked(pool: Pool, subscription: str, cursor: Cursor) -> bool:
    """Give up a parked commit: the subscription will never have applied it. False if it is not parked.

    The later commits of its stream stay parked until a retry. Raises StoreUnavailable.
    """
    with translated_errors():
        async with pool.connection() as connection:
            answer = await connection.execute(
                sql.UNPARK,
                {"subscription": subscription, "tx": str(cursor.tx), "position": cursor.position},
            )
            return answer.rowcount == 1
