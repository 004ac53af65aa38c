"""Why the event store refuses or fails. `reason` is stable; programs compare it, people read the message."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import ClassVar

import psycopg
import psycopg_pool


class StoreError(Exception):
    """Base of everything the event store raises on purpose."""

    reason: ClassVar[str] = "STORE_ERROR"
    is_retryable: ClassVar[bool] = False


class VersionConflict(StoreError):
    """The stream is not at the version that the append expected; nothing was written."""

    reason = "VERSION_CONFLICT"

    def __init__(self, stream: str, expected: int, actual: int) -> None:
        super().__init__(f"stream {stream!r} is at version {actual}, not {expected}")
        self.stream = stream
        self.expected = expected
        self.actual = actual


class CommandReused(StoreError):
    """The command id was used before in this stream for a command of another content; nothing was written."""

    reason = "COMMAND_REUSED"

    def __init__(self, stream: str, command_id: str) -> None:
        super().__init__(
            f"command id {command_id!r} of stream {stream!r} belongs to a command of another content"
        )
        self.stream = stream
        self.command_id = command_id


class NotFirstWrite(StoreError):
    """An append was asked for inside a transaction that had written before; it must be the first write."""

    reason = "NOT_FIRST_WRITE"


class WrongIsolation(StoreError):
    """An append was asked for under another isolation level than READ COMMITTED."""

    reason = "WRONG_ISOLATION"


class ForeignWriter(StoreError):
    """A row appeared in the stream that was not written through append(); nothing was written."""

    reason = "FOREIGN_WRITER"


class InvalidCommit(StoreError, ValueError):
    """What was to be appended breaks a rule of the log (empty stream name, no events, a stream twice in a
    batch).
    """

    reason = "INVALID_COMMIT"


class InvalidCursor(StoreError, ValueError):
    """The text is not a cursor, or the cursor is of another log (such as the one before a restore)."""

    reason = "INVALID_CURSOR"


class StoreUnavailable(StoreError):
    """The database could not answer now: connection lost, server stopping, disk full, no free connection.

    Whether an append that ends so was stored is unknown; sending it again with the same command id is safe.
    """

    reason = "STORE_UNAVAILABLE"
    is_retryable = True


class MigrationError(StoreError):
    """The database's schema and this program's migrations do not fit together."""

    reason = "MIGRATION_ERROR"


class RestoredDump(StoreError):
    """The log holds rows of another cluster's transactions, which no reader would ever see."""

    reason = "RESTORED_DUMP"


class RetryLater(StoreError):
    """Raised by a handler that cannot work now through no fault of the commit (a queue or a service is away).

    The turn is rolled back and tried again after a pause; nothing is parked.
    """

    reason = "RETRY_LATER"
    is_retryable = True


class RebuildRefused(StoreError):
    """A projection is being rebuilt already, or its rebuild parked commits and must not take the old one's
    place.
    """

    reason = "REBUILD_REFUSED"


class CheckpointMoved(StoreError):
    """Another worker moved a checkpoint of this subscription meanwhile; the turn was rolled back."""

    reason = "CHECKPOINT_MOVED"
    is_retryable = True


@contextlib.contextmanager
def translated_errors() -> Iterator[None]:
    """Raise the database's errors as the ones above; those that only a fault of ours can cause pass
    unchanged.
    """
    try:
        yield
    except psycopg.Error as error:
        raise translated(error) from error


def is_outage(error: BaseException) -> bool:
    """Whether the database failed to do its work, as opposed to refusing what it was told."""
    return isinstance(
        error,
        (
            psycopg.OperationalError,
            psycopg.InterfaceError,
            psycopg.errors.ReadOnlySqlTransaction,
            psycopg.errors.IdleInTransactionSessionTimeout,
            psycopg.errors.TransactionTimeout,
            psycopg_pool.PoolTimeout,
            psycopg_pool.PoolClosed,
        ),
    )


def translated(error: psycopg.Error) -> Exception:
    """The database's error as one of ours; one that only a fault of ours can cause is itself."""
    if error.sqlstate == "BH001":
        return NotFirstWrite(str(error))
    if error.sqlstate == "BH002":
        return WrongIsolation(str(error))
    if isinstance(error, psycopg.errors.UniqueViolation) and (error.diag.constraint_name or "").startswith(
        "commits_"
    ):
        return ForeignWriter(f"the stream was written to without append(): {error.diag.message_detail}")
    if is_outage(error):
        return StoreUnavailable(f"the event store is not available: {error}")
    return error
