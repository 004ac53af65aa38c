"""Readers of the log: each commit is applied exactly once to the reader's own tables, by any number of
workers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from psycopg import AsyncPipeline
from psycopg import sql as composing

from services.eventstore import metrics, sql
from services.eventstore.commit import START, Commit, Cursor
from services.eventstore.errors import (
    CheckpointMoved,
    RetryLater,
    StoreError,
    StoreUnavailable,
    is_outage,
    translated_errors,
)
from services.eventstore.pool import Connection, Pool
from services.eventstore.wakeups import WakeupListener

Apply = Callable[[Connection, Commit], Awaitable[None]]

# A turn takes few buckets, so that other workers find some too, and is short, since its open transaction
# hides newer commits from every reader.
_BUCKETS_PER_TURN = 32
_COMMITS_PER_BUCKET = 32
_COMMITS_PER_TURN = 500
_SHORTEST_WAIT_SECONDS = 0.005
_LONGEST_WAIT_SECONDS = 1.0
_LONGEST_ERROR = 4_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A named reader of the log.

    `apply(connection, commit)` is called for each commit, those of one stream in order, inside the
    transaction that also moves the checkpoint; what it writes through that connection stands or falls with
    it, so it must neither commit nor keep anything elsewhere in memory. The connection is in pipeline mode:
    it knows no COPY, and tells no `rowcount` of a statement that gives no rows. What `apply` does elsewhere
    (a queue, a service) can happen twice. It raises RetryLater when it cannot work now; with any other error
    of its own the commit is parked, and so are later ones of the same stream until a retry. `schema` becomes
    the search path of the connection; `start` is where a subscription that is new begins.
    """

    name: str
    apply: Apply
    schema: str | None = None
    start: Cursor = START
    turn_seconds: float = 0.1


class _Pending(NamedTuple):
    """A commit that waits, with the checkpoint of its bucket."""

    checkpoint: Cursor
    is_blocked: bool  # an earlier commit of its stream is parked
    commit: Commit


class Follower:
    """Works on one subscription; run as many, in as many processes, as the work needs."""

    def __init__(
        self, pool: Pool, subscription: Subscription, listener: WakeupListener | None = None
    ) -> None:
        self.subscription = subscription
        self._pool = pool
        self._listener = listener
        schema = subscription.schema
        self._search_path = None if schema is None else composing.Identifier(schema).as_string()
        self._is_stopping = False
        self._woken = asyncio.Event()

    def stop(self) -> None:
        """Make `run` return after its current turn."""
        self._is_stopping = True
        self._woken.set()

    async def run(self) -> None:
        """Apply commits as they come until `stop`, over outages too; a cancelled turn is rolled back."""
        with contextlib.ExitStack() as stack:
            if self._listener is not None:
                stack.enter_context(self._listener.waking(self._woken))
            wait_seconds = _SHORTEST_WAIT_SECONDS
            is_prepared = False
            while not self._is_stopping:
                applied = 0
                try:
                    if not is_prepared:
                        await self.prepare()
                        is_prepared = True
                    applied = await self.turn()
                except (CheckpointMoved, RetryLater, StoreUnavailable) as error:
                    metrics.TURNS_FAILED.labels(self.subscription.name, error.reason).inc()
                    _log.warning("subscription %s pauses: %s", self.subscription.name, error)
                    wait_seconds = max(wait_seconds, 0.1)
                if applied:
                    wait_seconds = _SHORTEST_WAIT_SECONDS
                elif await self._is_woken_within(wait_seconds):
                    # What woke us may still be hidden by a transaction that is about to end: look again soon.
                    wait_seconds = _SHORTEST_WAIT_SECONDS
                else:
                    wait_seconds = min(wait_seconds * 2, _LONGEST_WAIT_SECONDS)

    async def prepare(self) -> None:
        """Create the subscription's checkpoints if it is new. Raises StoreUnavailable."""
        start = self.subscription.start
        with translated_errors():
            async with self._pool.connection() as connection:
                await connection.execute(
                    sql.ENSURE_CHECKPOINTS,
                    {
                        "subscription": self.subscription.name,
                        "tx": str(start.tx),
                        "position": start.position,
                    },
                )

    async def catch_up(self) -> int:
        """Take turns until nothing is left that this worker could apply; gives how many commits were dealt
        with.

        Raises what `turn` raises.
        """
        await self.prepare()
        total = 0
        while applied := await self.turn():
            total += applied
        return total

    async def turn(self, connection: Connection | None = None) -> int:
        """Apply some of what waits, in one transaction; gives how many commits were dealt with, parked ones
        included.

        Raises CheckpointMoved, RetryLater or StoreUnavailable after rolling back; all may be tried again.
        """
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(translated_errors())
            if connection is None:
                connection = await stack.enter_async_context(self._pool.connection())
            buckets = await stack.enter_async_context(self._locked_buckets(connection))
            if not buckets:
                return 0
            due = [bucket for bucket, has_due in buckets.items() if has_due]
            retried = await self._retry_due(connection, due) if due else 0
            waiting = await self._read_pending(connection, list(buckets))
            if not waiting:
                return retried
            try:
                return retried + await self._apply_together(connection, waiting)
            except Exception as error:  # noqa: BLE001 - whatever a handler raises is sorted here
                _raise_unless_poison(error)
            return retried + await self._apply_singly(connection, waiting)

    @contextlib.asynccontextmanager
    async def _locked_buckets(self, connection: Connection) -> AsyncIterator[dict[int, bool]]:
        """Some buckets that have work and are nobody's now; True for those with parked commits to retry."""
        name = self.subscription.name
        try:
            cursor = await connection.execute(
                sql.LOCK_PENDING, {"subscription": name, "limit": _BUCKETS_PER_TURN}
            )
            buckets: dict[int, bool] = dict(await cursor.fetchall())
            yield buckets
            if buckets:
                await connection.execute(sql.UNLOCK_BUCKETS, {"subscription": name, "buckets": list(buckets)})
        except BaseException:
            # The locks belong to the session: without knowing which are held, the session ends with them.
            await connection.close()
            raise

    async def _read_pending(self, connection: Connection, buckets: list[int]) -> list[_Pending]:
        cursor = await connection.cursor(binary=True).execute(
            sql.READ_PENDING,
            {
                "subscription": self.subscription.name,
                "buckets": buckets,
                "bucket_limit": _COMMITS_PER_BUCKET,
                "limit": _COMMITS_PER_TURN,
            },
        )
        return [
            _Pending(Cursor(tx, position), is_blocked, Commit._make(columns))
            for tx, position, is_blocked, *columns in await cursor.fetchall()
        ]

    async def _apply_together(self, connection: Connection, waiting: Sequence[_Pending]) -> int:
        """Apply as many as the turn has time for in one transaction."""
        end = time.monotonic() + self.subscription.turn_seconds
        done: list[_Pending] = []
        # In a pipeline a write does not wait for the server's answer: a turn of many commits takes hardly
        # longer than one of one.
        async with connection.pipeline() as pipeline, self._transaction(connection):
            for pending in waiting:
                if pending.is_blocked:
                    await self._park(connection, pending.commit, error=None)
                else:
                    await self.subscription.apply(connection, pending.commit)
                done.append(pending)
                if time.monotonic() >= end:
                    break
            await self._move_checkpoints(connection, done, pipeline)
        blocked = sum(pending.is_blocked for pending in done)
        metrics.COMMITS_PARKED.labels(self.subscription.name).inc(blocked)
        metrics.COMMITS_APPLIED.labels(self.subscription.name).inc(len(done) - blocked)
        return len(done)

    async def _apply_singly(self, connection: Connection, waiting: Sequence[_Pending]) -> int:
        """Each commit in a transaction of its own, to find the one that fails and park it."""
        end = time.monotonic() + self.subscription.turn_seconds
        blocked = {pending.commit.stream for pending in waiting if pending.is_blocked}
        checkpoints: dict[int, Cursor] = {}
        count = 0
        for pending in waiting:
            commit = pending.commit
            current = pending._replace(checkpoint=checkpoints.get(commit.bucket, pending.checkpoint))
            error = None
            is_applied = False
            if commit.stream not in blocked:
                error = await self._try_apply(connection, current)
                is_applied = error is None
            if not is_applied:
                async with self._transaction(connection):
                    await self._park(connection, commit, error=error)
                    await self._move_checkpoints(connection, [current])
                blocked.add(commit.stream)
                self._tell_parked(commit, error)
            checkpoints[commit.bucket] = commit.cursor
            count += 1
            if time.monotonic() >= end:
                break
        return count

    async def _try_apply(self, connection: Connection, pending: _Pending) -> str | None:
        """Apply one commit and move its checkpoint; the text of the error if the handler failed."""
        try:
            async with self._transaction(connection):
                await self.subscription.apply(connection, pending.commit)
                await self._move_checkpoints(connection, [pending])
        except Exception as error:  # noqa: BLE001 - whatever a handler raises is sorted here
            _raise_unless_poison(error)
            return _describe(error)
        metrics.COMMITS_APPLIED.labels(self.subscription.name).inc()
        return None

    async def _retry_due(self, connection: Connection, buckets: list[int]) -> int:
        """Apply parked commits that an operator wants tried again; a stream stops at its first failure."""
        name = self.subscription.name
        cursor = await connection.cursor(binary=True).execute(
            sql.READ_DUE, {"subscription": name, "buckets": buckets, "limit": _COMMITS_PER_TURN}
        )
        blocked: set[str] = set()
        count = 0
        for commit in [Commit._make(row) for row in await cursor.fetchall()]:
            if commit.stream in blocked:
                continue
            place = {"subscription": name, "tx": str(commit.tx), "position": commit.position}
            try:
                async with self._transaction(connection):
                    await self.subscription.apply(connection, commit)
                    await connection.execute(sql.UNPARK, place)
            except Exception as error:  # noqa: BLE001 - whatever a handler raises is sorted here
                _raise_unless_poison(error)
                await connection.execute(
                    sql.PARK_AGAIN, place | {"stream": commit.stream, "error": _describe(error)}
                )
                blocked.add(commit.stream)
            else:
                metrics.COMMITS_APPLIED.labels(name).inc()
            count += 1
        return count

    @contextlib.asynccontextmanager
    async def _transaction(self, connection: Connection) -> AsyncIterator[None]:
        async with connection.transaction():
            # A turn that a crash of the server takes away is taken again, checkpoint and all. So its commit
            # need not wait for the disk, and hides newer commits from the readers for so much less time.
            await connection.execute(
                "select set_config('synchronous_commit', 'off', true), "
                "set_config('search_path', coalesce(%s, current_setting('search_path')), true)",
                [self._search_path],
            )
            yield

    async def _park(self, connection: Connection, commit: Commit, error: str | None) -> None:
        await connection.execute(
            sql.PARK,
            {
                "subscription": self.subscription.name,
                "bucket": commit.bucket,
                "tx": str(commit.tx),
                "position": commit.position,
                "stream": commit.stream,
                "version": commit.version,
                "error": error,
                "attempts": 0 if error is None else 1,
            },
        )

    def _tell_parked(self, commit: Commit, error: str | None) -> None:
        name = self.subscription.name
        metrics.COMMITS_PARKED.labels(name).inc()
        if error is not None:
            cause = error.rpartition("\n")[2]
            _log.error(
                "subscription %s parked %s at version %d: %s", name, commit.stream, commit.version, cause
            )

    async def _move_checkpoints(
        self, connection: Connection, done: Sequence[_Pending], pipeline: AsyncPipeline | None = None
    ) -> None:
        before: dict[int, Cursor] = {}
        after: dict[int, Cursor] = {}
        for pending in done:
            before.setdefault(pending.commit.bucket, pending.checkpoint)
            after[pending.commit.bucket] = pending.commit.cursor
        cursor = await connection.execute(
            sql.MOVE_CHECKPOINTS,
            {
                "subscription": self.subscription.name,
                "buckets": list(after),
                "old_txs": [str(before[bucket].tx) for bucket in after],
                "old_positions": [before[bucket].position for bucket in after],
                "txs": [str(cursor.tx) for cursor in after.values()],
                "positions": [cursor.position for cursor in after.values()],
            },
        )
        if pipeline is not None:
            await pipeline.sync()
        if cursor.rowcount != len(after):
            raise CheckpointMoved(f"another worker moved a checkpoint of {self.subscription.name}")

    async def _is_woken_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True


def _raise_unless_poison(error: Exception) -> None:
    """Pass on what says nothing about the commit: outages, lost races, and a handler's wish to be called
    later.
    """
    if is_outage(error) or (isinstance(error, StoreError) and error.is_retryable):
        raise error


def _describe(error: Exception) -> str:
    """The end of the error's traceback, as text that the database takes whatever the error says."""
    text = "".join(traceback.format_exception(error)).strip().replace("\0", "\\0")
    return text[-_LONGEST_ERROR:].encode(errors="backslashreplace").decode()
