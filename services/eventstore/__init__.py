"""The event log: an append-only table in Postgres that nobody can make lose, double or reorder an event."""

from services.eventstore.commit import (
    BUCKETS,
    START,
    Appended,
    BatchAppended,
    Commit,
    Cursor,
    NewCommit,
    bucket_of,
)
from services.eventstore.errors import (
    CheckpointMoved,
    CommandReused,
    ForeignWriter,
    InvalidCommit,
    InvalidCursor,
    MigrationError,
    NotFirstWrite,
    RestoredDump,
    StoreError,
    StoreUnavailable,
    VersionConflict,
    WrongIsolation,
)
from services.eventstore.migrate import migrate, migrate_eventstore
from services.eventstore.pool import Connection, Limits, Pool, make_pool
from services.eventstore.store import CommitListener, EventStore

__all__ = [
    "BUCKETS",
    "START",
    "Appended",
    "BatchAppended",
    "CheckpointMoved",
    "CommandReused",
    "Commit",
    "CommitListener",
    "Connection",
    "Cursor",
    "EventStore",
    "ForeignWriter",
    "InvalidCommit",
    "InvalidCursor",
    "Limits",
    "MigrationError",
    "NewCommit",
    "NotFirstWrite",
    "Pool",
    "RestoredDump",
    "StoreError",
    "StoreUnavailable",
    "VersionConflict",
    "WrongIsolation",
    "bucket_of",
    "make_pool",
    "migrate",
    "migrate_eventstore",
]
