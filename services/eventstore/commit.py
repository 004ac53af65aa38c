"""The values that go into the log and come out of it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import NamedTuple

from services.eventstore.errors import InvalidCommit, InvalidCursor

BUCKETS = 64
MAX_NAME_BYTES = 200
MAX_BATCH = 500

_CURSOR = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16})")


class Cursor(NamedTuple):
    """A place in the order of the whole log: everything up to and including a commit.

    Both parts are needed: positions are not handed out in the order in which commits become visible. Readers
    treat a cursor as opaque and keep its text.
    """

    tx: int
    position: int

    def format(self) -> str:
        return f"{self.tx:x}-{self.position:x}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """The cursor written by `format`. Raises InvalidCursor."""
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise InvalidCursor(f"not a cursor: {text[:80]!r}")
        tx, position = int(match[1], 16), int(match[2], 16)
        if position >= 1 << 63:
            raise InvalidCursor(f"not a cursor: {text!r}")
        return cls(tx, position)


START = Cursor(0, 0)


class Commit(NamedTuple):
    """One append as it lies in the log; `payload` is what the appender gave, unread by the store."""

    tx: int
    position: int
    recorded_at_ms: int
    first_version: int
    version: int
    schema_version: int
    bucket: int
    stream: str
    command_id: str
    payload: bytes

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.tx, self.position)

    @property
    def event_count(self) -> int:
        return self.version - self.first_version + 1


class Appended(NamedTuple):
    """What an append gives back. If the command was `is_repeated`, all of it, `payload` included, is that of
    the first time: the caller answers with it and gives the same answer again.
    """

    stream: str
    tx: int
    position: int
    first_version: int
    version: int
    schema_version: int
    payload: bytes
    is_repeated: bool

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.tx, self.position)


class BatchAppended(NamedTuple):
    """What `append_batch` gives back for each item."""

    stream: str
    tx: int
    position: int
    version: int
    is_repeated: bool

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.tx, self.position)


@dataclass(frozen=True, slots=True)
class NewCommit:
    """One commit to append: `event_count` events in `payload`, after version `expected_version` of `stream`.

    `fingerprint` stands for the content of the command (a digest of its canonical bytes): the same
    `command_id` with the same fingerprint is the same command sent again. Raises InvalidCommit.
    """

    stream: str
    command_id: str
    fingerprint: bytes
    expected_version: int
    payload: bytes
    event_count: int
    schema_version: int = 1

    def __post_init__(self) -> None:
        for what, name in (("stream", self.stream), ("command id", self.command_id)):
            if not _is_name(name):
                raise InvalidCommit(
                    f"a {what} has 1 to {MAX_NAME_BYTES} bytes of UTF-8 without NUL: {name[:80]!r}"
                )
        if self.expected_version < 0:
            raise InvalidCommit(f"expected_version is at least 0, not {self.expected_version}")
        if self.event_count < 1:
            raise InvalidCommit(f"a commit holds at least one event, not {self.event_count}")
        if self.expected_version + self.event_count >= 1 << 31:
            raise InvalidCommit(
                f"a stream holds fewer than 2^31 events: {self.expected_version} are too many"
            )
        if not 1 <= self.schema_version < 1 << 15:
            raise InvalidCommit(f"schema_version is between 1 and 32767, not {self.schema_version}")


def _is_name(text: str) -> bool:
    try:
        return 1 <= len(text.encode()) <= MAX_NAME_BYTES and "\0" not in text
    except UnicodeEncodeError:
        return False


def bucket_of(stream: str) -> int:
    """The bucket, 0..63, of a stream: the same as `eventstore.bucket_of` in the database, for ever."""
    return hashlib.sha256(stream.encode()).digest()[0] & (BUCKETS - 1)
