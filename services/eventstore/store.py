"""The log's Python face: append, read a stream, read everything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import NoReturn, Protocol

import psycopg

from services.eventstore import metrics, sql
from services.eventstore.commit import (
    BUCKETS,
    MAX_BATCH,
    Appended,
    BatchAppended,
    Commit,
    Cursor,
    NewCommit,
    bucket_of,
)
from services.eventstore.errors import (
    CommandReused,
    InvalidCommit,
    InvalidCursor,
    StoreUnavailable,
    VersionConflict,
    translated,
)
from services.eventstore.pool import Connection, Pool


class CommitListener(Protocol):
    """Told of commits after they are durable; must neither block nor raise. A missed call costs readers a
    poll.
    """

    def committed(self, buckets: Sequence[int]) -> None: ...


class _Loan:
    """A connection of the pool for one statement or transaction; the database's errors leave it as ours.

    `pool.connection()` with `translated_errors()` does the same, and costs several times as much in each
    move.
    """

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Connection:
        try:
            self._connection = await self._pool.getconn()
        except psycopg.Error as error:
            _raise_translated(error)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.putconn(self._connection)
        if isinstance(error, psycopg.Error):
            _raise_translated(error)


def _raise_translated(error: psycopg.Error) -> NoReturn:
    ours = translated(error)
    if isinstance(ours, StoreUnavailable):
        metrics.UNAVAILABLE.inc()
    raise ours from error


class EventStore:
    """Appends to the log and reads it. Holds nothing but its pool, so that any number may work at once.

    Every method raises StoreUnavailable when the database cannot answer; all may then be called again.
    """

    def __init__(self, pool: Pool, listener: CommitListener | None = None) -> None:
        self._pool = pool
        self._listener = listener

    async def append(
        self,
        stream: str,
        *,
        command_id: str,
        fingerprint: bytes,
        expected_version: int,
        payload: bytes,
        event_count: int,
        schema_version: int = 1,
    ) -> Appended:
        """Append one commit; it is durable when this returns.

        The same command again gives back the first result, `is_repeated` and with the payload stored then.
        Raises VersionConflict (with the actual version), CommandReused, InvalidCommit.
        """
        commit = NewCommit(
            stream, command_id, fingerprint, expected_version, payload, event_count, schema_version
        )
        async with self._connection() as connection:
            cursor = await connection.cursor(binary=True).execute(
                sql.APPEND,
                {
                    "stream": commit.stream,
                    "command_id": commit.command_id,
                    "fingerprint": commit.fingerprint,
                    "expected_version": commit.expected_version,
                    "event_count": commit.event_count,
                    "schema_version": commit.schema_version,
                    "payload": commit.payload,
                },
            )
            row = await cursor.fetchone()
        if row is None:
            raise RuntimeError("eventstore.append gave no row")
        status, tx, position, first_version, version, stored_schema_version, stored_payload = row
        self._raise_refusal(commit, status, version)
        is_repeated = status == "repeated"
        if not is_repeated:
            metrics.COMMITS_APPENDED.inc()
            metrics.EVENTS_APPENDED.inc(event_count)
            self._tell([bucket_of(stream)])
        return Appended(
            stream,
            tx,
            position,
            first_version,
            version,
            stored_schema_version,
            stored_payload if is_repeated else payload,
            is_repeated,
        )

    async def append_batch(
        self,
        commits: Sequence[NewCommit],
        also: Callable[[Connection, list[BatchAppended]], Awaitable[None]] | None = None,
    ) -> list[BatchAppended]:
        """Append one commit to each of up to 500 streams, all or none; results in the same order.

        Commits that were appended before are told as `is_repeated`. `also` is awaited inside the same
        transaction, after the appends, to write rows that must stand or fall with them; it must be quick (a
        tenth of a second), since the open transaction hides newer commits from all readers. Raises
        VersionConflict, CommandReused (for the first item refused) and InvalidCommit.
        """
        if not commits:
            return []
        if len(commits) > MAX_BATCH:
            raise InvalidCommit(f"a batch has at most {MAX_BATCH} commits, not {len(commits)}")
        if len({commit.stream for commit in commits}) < len(commits):
            raise InvalidCommit("a batch has at most one commit of each stream")
        async with self._connection() as connection, connection.transaction():
            cursor = await connection.cursor(binary=True).execute(
                sql.APPEND_BATCH,
                {
                    "streams": [commit.stream for commit in commits],
                    "command_ids": [commit.command_id for commit in commits],
                    "fingerprints": [commit.fingerprint for commit in commits],
                    "expected_versions": [commit.expected_version for commit in commits],
                    "event_counts": [commit.event_count for commit in commits],
                    "schema_versions": [commit.schema_version for commit in commits],
                    "payloads": [commit.payload for commit in commits],
                },
            )
            rows = await cursor.fetchall()
            for commit, (status, _, _, version) in zip(commits, rows, strict=True):
                self._raise_refusal(commit, status, version)
            results = [
                BatchAppended(commit.stream, tx, position, version, status == "repeated")
                for commit, (status, tx, position, version) in zip(commits, rows, strict=True)
            ]
            if also is not None:
                await also(connection, results)
        fresh = [commit for commit, result in zip(commits, results, strict=True) if not result.is_repeated]
        if fresh:
            metrics.COMMITS_APPENDED.inc(len(fresh))
            metrics.EVENTS_APPENDED.inc(sum(commit.event_count for commit in fresh))
            self._tell(sorted({bucket_of(commit.stream) for commit in fresh}))
        return results

    async def read_stream(self, stream: str, after_version: int = 0) -> list[Commit]:
        """The commits of a stream in order, those that end after `after_version`; empty for an unknown
        stream.

        Shows every commit that was durable before the call, unlike `read_all`, which waits for the horizon. A
        commit of several events that `after_version` cuts in two is given whole.
        """
        async with self._connection() as connection:
            cursor = await connection.cursor(binary=True).execute(
                sql.READ_STREAM, {"stream": stream, "after_version": after_version}
            )
            return [Commit._make(row) for row in await cursor.fetchall()]

    async def read_streams(self, after_versions: Mapping[str, int]) -> list[Commit]:
        """As `read_stream`, of several streams in one question, the commits of each together and in order."""
        async with self._connection() as connection:
            cursor = await connection.cursor(binary=True).execute(
                sql.READ_STREAMS,
                {"streams": list(after_versions), "after_versions": list(after_versions.values())},
            )
            return [Commit._make(row) for row in await cursor.fetchall()]

    async def stream_version(self, stream: str) -> int:
        """How many events the stream holds; 0 for an unknown stream."""
        async with self._connection() as connection:
            row = await (await connection.execute(sql.STREAM_VERSION, {"stream": stream})).fetchone()
        return int(row[0]) if row is not None else 0

    async def read_all(
        self, after: Cursor, limit: int = 1000, buckets: Sequence[int] | None = None
    ) -> list[Commit]:
        """Up to `limit` commits after a cursor in the log's order, of all streams or of those in some
        buckets.

        The order never changes and nothing appears later behind a cursor that was read: a commit is shown
        only when no transaction before it is still open. The last one's `cursor` continues.
        """
        if buckets is not None and not all(0 <= bucket < BUCKETS for bucket in buckets):
            raise ValueError(f"buckets are 0 to {BUCKETS - 1}: {list(buckets)}")
        parameters = {"tx": str(after.tx), "position": after.position, "limit": limit}
        async with self._connection() as connection:
            cursor = connection.cursor(binary=True)
            if buckets is None:
                await cursor.execute(sql.READ_ALL, parameters)
            else:
                await cursor.execute(sql.READ_BUCKETS, parameters | {"buckets": list(buckets)})
            return [Commit._make(row) for row in await cursor.fetchall()]

    async def horizon(self) -> Cursor:
        """A cursor behind everything that `read_all` shows now: the place to start for someone who wants only
        what comes next.
        """
        async with self._connection() as connection:
            row = await (await connection.execute(sql.HORIZON)).fetchone()
        if row is None:
            raise RuntimeError("the server gave no snapshot")
        return Cursor(*row)

    async def check_cursor(self, cursor: Cursor) -> None:
        """Refuse a cursor that this log cannot have given out, such as one from before it was restored and
        cured. To be called once when an outsider resumes.

        Raises InvalidCursor: the reader must start again from a snapshot.
        """
        async with self._connection() as connection:
            parameters = {"tx": str(cursor.tx), "position": cursor.position}
            row = await (await connection.execute(sql.IS_OF_ANOTHER_LOG, parameters)).fetchone()
        if row is None or row[0]:
            raise InvalidCursor(f"the cursor {cursor.format()} was not given out by this log")

    def _connection(self) -> _Loan:
        return _Loan(self._pool)

    def _tell(self, buckets: Sequence[int]) -> None:
        if self._listener is not None:
            self._listener.committed(buckets)

    @staticmethod
    def _raise_refusal(commit: NewCommit, status: str, version: int) -> None:
        if status in ("appended", "repeated", "withheld"):
            return
        if status == "conflict":
            metrics.APPENDS_REFUSED.labels(VersionConflict.reason).inc()
            raise VersionConflict(commit.stream, commit.expected_version, version)
        if status == "reused":
            metrics.APPENDS_REFUSED.labels(CommandReused.reason).inc()
            raise CommandReused(commit.stream, commit.command_id)
        raise RuntimeError(f"the database gave the append of {commit.stream!r} the unknown status {status!r}")
