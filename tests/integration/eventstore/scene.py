"""What the tests of the log share: appends, connections driven by hand, a look at who waits."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psycopg

from services.eventstore import START, Appended, Commit, Cursor, EventStore, Pool, sql
from services.eventstore.errors import translated_errors
from services.eventstore.pool import Connection


async def append(
    store: EventStore,
    stream: str,
    expected_version: int,
    command_id: str | None = None,
    *,
    event_count: int = 1,
    fingerprint: bytes = b"f",
) -> Appended:
    command_id = command_id or f"{stream}-{expected_version}"
    return await store.append(
        stream,
        command_id=command_id,
        fingerprint=fingerprint,
        expected_version=expected_version,
        payload=f"{stream}/{command_id}".encode(),
        event_count=event_count,
    )


async def append_within(connection: Connection, stream: str, expected_version: int) -> str:
    """Append inside the connection's open transaction; gives the status."""
    with translated_errors():
        cursor = await connection.execute(
            sql.APPEND,
            {
                "stream": stream,
                "command_id": f"{stream}-{expected_version}",
                "fingerprint": b"f",
                "expected_version": expected_version,
                "event_count": 1,
                "schema_version": 1,
                "payload": f"{stream}/{stream}-{expected_version}".encode(),
            },
        )
        row = await cursor.fetchone()
    assert row is not None
    return str(row[0])


async def insert_past_the_store(connection: Connection, stream: str, version: int) -> None:
    """What no writer may do: a row without append(), and so without the stream's lock."""
    await connection.execute(
        """insert into eventstore.commits
            (stream, bucket, first_version, version, schema_version, command_id, fingerprint, payload)
        values (%s, eventstore.bucket_of(%s), %s, %s, 1, %s, 'f', 'past')""",
        [stream, stream, version, version, f"past-{version}"],
    )


@contextlib.asynccontextmanager
async def by_hand(dsn: str) -> AsyncIterator[Connection]:
    """A connection whose transactions the test begins with its first statement and ends itself."""
    connection = await psycopg.AsyncConnection.connect(dsn, application_name="by hand")
    try:
        yield connection
    finally:
        await connection.close()


async def read_on(
    store: EventStore, after: Cursor = START, limit: int = 100, buckets: list[int] | None = None
) -> list[Commit]:
    """Everything behind the cursor that can be seen now, page by page."""
    seen: list[Commit] = []
    while page := await store.read_all(after, limit, buckets):
        seen += page
        after = page[-1].cursor
    return seen


async def waiting_backend(pool: Pool, task: asyncio.Task[object]) -> tuple[str, int | None]:
    """Watch until the backend that serves `task` waits for a lock: what it waits for, and the xid it owns.

    The only other waiting there may be is none. Fails if the task ends without ever waiting."""
    async with pool.connection() as connection:
        while not task.done():
            cursor = await connection.execute(
                """select wait_event, backend_xid::text::bigint from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'"""
            )
            row = await cursor.fetchone()
            if row is not None:
                return row[0], row[1]
    raise AssertionError(f"ended without waiting: {task.exception() or task.result()}")
