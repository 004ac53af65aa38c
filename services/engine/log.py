"""Games as the log has them: from commits to events and states."""

from __future__ import annotations

from collections.abc import Iterable

from baohuang.rules.events import Event
from baohuang.rules.evolve import fold
from baohuang.rules.state import State
from services.eventstore import Appended, Commit
from services.kit.stored_events import UnreadableEvents, decode_stored


def events_of(commit: Commit | Appended) -> tuple[Event, ...]:
    """The events of a commit. Raises UnreadableEvents for one that this release cannot read."""
    try:
        return decode_stored(commit.payload, commit.schema_version)
    except UnreadableEvents as error:
        raise UnreadableEvents(f"{commit.stream} {commit.version}: {error}") from error


def fold_commits(state: State | None, commits: Iterable[Commit]) -> State | None:
    """The state after `state` and the events of these commits; raises as `events_of`."""
    for commit in commits:
        state = fold(events_of(commit), state)
    return state
