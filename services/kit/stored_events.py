"""Events as they lie in the log: read by the schema version beside them (docs/adr/0006)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from baohuang.rpc.codec import decode_events
from baohuang.rules.errors import BaohuangError
from baohuang.rules.events import Event

SCHEMA_VERSION: Final = 1
"""Of the events that this release writes."""

READERS: Final[Mapping[int, Callable[[bytes], tuple[Event, ...]]]] = {1: decode_events}
"""How a payload of each schema version becomes the events of today."""


class UnreadableEvents(Exception):
    """This release cannot read a stored commit: a newer one wrote it, or its bytes are damaged.

    Followers park it, whoever asks for the game is told INTERNAL. A release that can read it goes on from
    there.
    """

    reason: Final = "UNREADABLE_EVENTS"


def decode_stored(payload: bytes, schema_version: int) -> tuple[Event, ...]:
    """The events of a commit, of whatever schema version. Raises UnreadableEvents."""
    reader = READERS.get(schema_version)
    if reader is None:
        raise UnreadableEvents(
            f"events of schema version {schema_version}; this release reads {', '.join(map(str, READERS))}"
        )
    try:
        events = reader(payload)
    except BaohuangError as error:
        # Not a fault of the client, whose errors would be told to him.
        raise UnreadableEvents(f"events of schema version {schema_version} that are none: {error}") from error
    if not events:
        raise UnreadableEvents("a commit without events")
    return events
