"""Games read from the log, with nothing in them that may not be shown yet."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import NamedTuple
from weakref import WeakValueDictionary

from baohuang.record import Record
from services.eventstore import EventStore
from services.kit.errors import PlatformError
from services.kit.ids import is_id
from services.kit.stored_events import decode_stored
from services.replay.games import GameSummary, summary_of
from services.replay.known import KnownGame
from services.replay.sittings import Sittings

_MOST_KEPT = 64
"""A game with all its states takes about half a megabyte."""


class Shelved(NamedTuple):
    """A game as it stood when it was read."""

    summary: GameSummary
    game: KnownGame
    changed_ms: int
    """When its last event was stored."""

    def record(self) -> Record:
        """The record of a finished game; of a running one what a spectator may see."""
        return Record(self.game.events)


class Library:
    """Reads games from the log, and keeps some at hand. Of those that run it reads what is new."""

    def __init__(self, store: EventStore, sittings: Sittings) -> None:
        self._store = store
        self._sittings = sittings
        self._kept: OrderedDict[str, Shelved] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, game_id: str) -> Shelved:
        """A game as it is now. Raises PlatformError (GAME_NOT_FOUND) and StoreUnavailable."""
        # Many may watch a game, and all of them ask when it goes on: one reads it for all.
        async with self._locks.setdefault(game_id, asyncio.Lock()):
            return await self._find(game_id)

    async def _find(self, game_id: str) -> Shelved:
        kept = self._kept.get(game_id)
        if kept is not None:
            self._kept.move_to_end(game_id)
            if not kept.game.is_running:
                return kept
            if await self._store.stream_version(game_id) == kept.game.whole_version:
                return kept
        found = await self._read(game_id)
        self._kept[game_id] = found
        self._kept.move_to_end(game_id)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    async def _read(self, game_id: str) -> Shelved:
        commits = await self._store.read_stream(game_id) if is_id(game_id) else []
        if not commits:
            raise PlatformError("GAME_NOT_FOUND", f"there is no game {game_id[:64]!r}")
        events = [
            event for commit in commits for event in decode_stored(commit.payload, commit.schema_version)
        ]
        summary = summary_of(commits, events)
        delay_plays = (await self._sittings.find(game_id)).delay_plays if summary.is_running else 0
        return Shelved(
            summary, KnownGame(game_id, events, delay_plays=delay_plays), commits[-1].recorded_at_ms
        )
