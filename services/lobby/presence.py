"""Signs of life of players. A lost connection is none: only long silence counts as absence."""

from __future__ import annotations

import asyncio
import time
from typing import Final, LiteralString

import structlog

from services.eventstore import Pool, StoreUnavailable
from services.lobby.database import connected

WRITTEN_EVERY_SECONDS: Final = 15.0
_MOST_KNOWN: Final = 50_000

_log = structlog.get_logger(__name__)


class Presence:
    """Notes who was heard of, and writes it down now and then."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._written: dict[str, float] = {}
        self._unwritten: set[str] = set()

    def note(self, player_id: str) -> None:
        """A player was heard of: a request, or a stream that he keeps open."""
        if time.monotonic() - self._written.get(player_id, -WRITTEN_EVERY_SECONDS) >= WRITTEN_EVERY_SECONDS:
            self._unwritten.add(player_id)

    async def write(self) -> None:
        """Write down who was heard of since. Raises StoreUnavailable."""
        players, self._unwritten = sorted(self._unwritten), set()
        if not players:
            return
        async with connected(self._pool) as connection:
            await connection.execute(_WRITE, [players])
        if len(self._written) > _MOST_KNOWN:
            self._written.clear()
        self._written |= dict.fromkeys(players, time.monotonic())

    async def run(self) -> None:
        """Write for ever; outages are waited out."""
        while True:
            try:
                await self.write()
            except StoreUnavailable as error:
                _log.warning("who is there is not written down", cause=str(error))
            await asyncio.sleep(1.0)


# In one order for everybody, so that two of these cannot wait for each other.
_WRITE: Final[LiteralString] = """
with heard as (
    select player_id from lobby.players where player_id = any(%s) order by player_id for no key update
)
update lobby.players set seen_at = clock_timestamp() from heard where players.player_id = heard.player_id"""
