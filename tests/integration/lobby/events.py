"""Reads server-sent events as a client does."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class ServerEvent:
    name: str
    event_id: str | None
    data: Any


def read_events(answer: httpx.Response) -> Iterator[ServerEvent]:
    """The events of an answer, as they come."""
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield ServerEvent(fields["event"], fields.get("id"), json.loads(fields["data"]))
            fields = {}
        else:
            fields = {}
