"""Games read from the log, with nothing in them that may not be shown yet."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from baohuang.record import Record
from services.eventstore import EventStore
from services.kit.errors import PlatformError
from services.kit.ids import is_id
from services.kit.stored_events import decode_stored
from services.replay.games import GameSummary, summary_of
from services.replay.known import KnownGame

_MOST_KEPT = 256


class Shelved(NamedTuple):
    """A game as it stood when it was read."""

    summary: GameSummary
    game: KnownGame

    def record(self) -> Record:
        """The record of a finished game; of a running one what a spectator may see."""
        return Record(self.game.events)


class Library:
    """Reads games from the log, and keeps some finished ones, which never change, at hand."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._finished: OrderedDict[str, Shelved] = OrderedDict()

    async def find(self, game_id: str) -> Shelved:
        """A game. Raises PlatformError (GAME_NOT_FOUND) and StoreUnavailable."""
        kept = self._finished.get(game_id)
        if kept is not None:
            self._finished.move_to_end(game_id)
            return kept
        commits = await self._store.read_stream(game_id) if is_id(game_id) else []
        if not commits:
            raise PlatformError("GAME_NOT_FOUND", f"there is no game {game_id[:64]!r}")
        events = [
            event for commit in commits for event in decode_stored(commit.payload, commit.schema_version)
        ]
        found = Shelved(summary_of(commits, events), KnownGame(game_id, events))
        if not found.game.is_running:
            self._finished[game_id] = found
            if len(self._finished) > _MOST_KEPT:
                self._finished.popitem(last=False)
        return found
