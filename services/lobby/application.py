"""The lobby's server as one object, the same below every edge."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import structlog

from services.eventstore import EventStore, Pool, StoreUnavailable, make_pool
from services.eventstore.wakeups import WakeupListener
from services.kit.settings import Settings
from services.lobby import metrics
from services.lobby.callers import Caller, Callers
from services.lobby.departures import Departures
from services.lobby.engine import Engine
from services.lobby.feeds import Feeds
from services.lobby.hands import Hands
from services.lobby.known import KnownGames
from services.lobby.limits import Limits
from services.lobby.matches import Matches
from services.lobby.messages import matches as match_messages
from services.lobby.messages import tables as messages
from services.lobby.my_games import MyGames
from services.lobby.play import Play
from services.lobby.players import Players
from services.lobby.presence import Presence
from services.lobby.seats import Seats
from services.lobby.streams import Registry, Streams
from services.lobby.tables import Tables
from services.lobby.work import HandOpener

_log = structlog.get_logger(__name__)


class Lobby:
    """What edges call. Methods raise PlatformError, StoreUnavailable, and what is a fault of ours."""

    def __init__(
        self, pool: Pool, engine: Engine, limits: Limits, listener: WakeupListener | None = None
    ) -> None:
        store = EventStore(pool)
        self.limits = limits
        self.callers = Callers(pool)
        self.presence = Presence(pool)
        self.registry = Registry()
        self.players = Players(pool, self.callers)
        self.tables = Tables(pool)
        self._seats = Seats(pool)
        self._matches = Matches(pool)
        games = KnownGames(pool, store)
        self._feeds = Feeds(store, games, listener)
        self.play = Play(pool, store, games, self._feeds, engine)
        self.streams = Streams(store, games, self._feeds, self.callers, self.presence, self.registry)
        self.my_games = MyGames(pool, store, games, self.callers, self.presence, self.registry, listener)
        self._opener = HandOpener(Hands(pool), engine)
        self._departures = Departures(pool, engine)
        self._soon: set[asyncio.Task[None]] = set()

    async def caller(self, secret: str, address: str) -> Caller:
        """Who calls, counted. Raises PlatformError (UNAUTHENTICATED, RATE_LIMITED)."""
        try:
            caller = await self.callers.caller(secret)
        except Exception:
            # Whoever guesses is counted by his address.
            await self.limits.take("public", address)
            raise
        await self.limits.take("requests", caller.token_id)
        self.presence.note(caller.player_id)
        return caller

    async def create_table(
        self, caller: Caller, request: messages.NewTable, key: str | None
    ) -> messages.Table:
        """A new table; with five bots it begins at once."""
        await self.limits.take("tables", caller.player_id)
        table = await self.tables.create(caller, request, key)
        metrics.TABLES_OPENED.inc()
        return self._begin(table)

    async def join(self, caller: Caller, request: messages.Join, key: str | None) -> messages.Table:
        """Sit down."""
        return await self._seats.join(caller, request, key)

    async def leave(
        self, caller: Caller, table_id: str, request: messages.Leave, key: str | None
    ) -> messages.Table:
        """Leave; in the middle of a hand the engine is told at once, or as soon as it is there."""
        table = await self._seats.leave(caller, table_id, request, key)
        self._start(self._departures.tell_due())
        return table

    async def seat_bot(self, caller: Caller, table_id: str, seat: int, bot: str) -> messages.Table:
        """Put a built-in bot in a seat."""
        return self._begin(await self._seats.seat_bot(caller, table_id, seat, bot))

    async def unseat_bot(self, caller: Caller, table_id: str, seat: int) -> messages.Table:
        """Free a built-in bot's seat."""
        return await self._seats.unseat_bot(caller, table_id, seat)

    async def set_ready(self, caller: Caller, table_id: str, ready: bool) -> messages.Table:
        """Say whether one is ready; the hand begins with the fifth."""
        return self._begin(await self._seats.set_ready(caller, table_id, ready))

    async def start_table(self, caller: Caller, table_id: str, bot: str, key: str | None) -> messages.Table:
        """Fill the free seats with built-in bots and begin."""
        return self._begin(await self._seats.start(caller, table_id, bot, key))

    async def dissolve_table(self, caller: Caller, table_id: str) -> messages.Table:
        """Give a table up."""
        return await self._seats.dissolve(caller, table_id)

    async def remove_player(self, caller: Caller, table_id: str, seat: int) -> messages.Table:
        """Remove a player."""
        table = await self._seats.remove(caller, table_id, seat)
        self._start(self._departures.tell_due())
        return table

    async def request_match(
        self, caller: Caller, request: match_messages.NewTicket, key: str | None
    ) -> match_messages.Ticket:
        """Join a queue; the fifth finds himself at a table."""
        ticket = await self._matches.request(caller, request, key)
        if ticket.table_id is not None:
            self._begin(await self.tables.get(ticket.table_id, caller))
        return ticket

    async def get_match(self, caller: Caller, ticket_id: str) -> match_messages.Ticket:
        """A ticket, kept by looking at it."""
        return await self._matches.look(caller, ticket_id)

    async def cancel_match(self, caller: Caller, ticket_id: str) -> match_messages.Ticket:
        """Leave a queue."""
        return await self._matches.cancel(caller, ticket_id)

    async def run(self) -> None:
        """What must run beside the edges, for ever."""
        async with asyncio.TaskGroup() as group:
            for work in (self._feeds.run(), self.my_games.run(), self.presence.run(), self.registry.run()):
                group.create_task(work)

    async def finish(self) -> None:
        """Wait for what was begun."""
        await asyncio.gather(*self._soon, return_exceptions=True)

    def _begin(self, table: messages.Table) -> messages.Table:
        """Have a hand that was just written opened at once; whoever follows the log does it otherwise."""
        for hand in table.hands:
            if hand.status == "opening":
                self._start(self._opener.open_now(hand.game_id))
        return table

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(self._do(work))
        self._soon.add(task)
        task.add_done_callback(self._soon.discard)

    async def _do(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except StoreUnavailable as error:
            _log.warning("left to the followers", cause=str(error))


@contextlib.asynccontextmanager
async def running_lobby(settings: Settings) -> AsyncIterator[Lobby]:
    """A lobby with its connections, which live as long as the block."""
    async with contextlib.AsyncExitStack() as stack:
        pool = make_pool(
            settings.database_url, max_size=settings.database_connections, application="baohuang-lobby"
        )
        await stack.enter_async_context(pool)
        limits = await stack.enter_async_context(Limits(settings.valkey_url, settings.limit_factor))
        listener = await stack.enter_async_context(WakeupListener(settings.valkey_url))
        engine = Engine(settings.engine_target)
        stack.push_async_callback(engine.close)
        lobby = Lobby(pool, engine, limits, listener)
        stack.push_async_callback(lobby.finish)
        running = asyncio.create_task(lobby.run())
        try:
            yield lobby
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
