"""All games of a player as one stream: what begins, asks him, or ends, in the order of the log.

One reader of the log serves all such streams of a process. It stops at the log's horizon, so that the place
up to which a stream has come is one cursor: nothing appears behind it later (docs/event-store.md).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Final, LiteralString, NamedTuple

import structlog

from baohuang import Outcome
from services.eventstore import Commit, Cursor, EventStore, InvalidCursor, Pool, StoreUnavailable
from services.eventstore.wakeups import WakeupListener
from services.kit.errors import PlatformError
from services.lobby import metrics
from services.lobby.callers import Caller, Callers
from services.lobby.clocks import Position
from services.lobby.database import connected, rows_of
from services.lobby.games import MOST_GAMES, position_after
from services.lobby.known import Hand, KnownGames
from services.lobby.presence import Presence
from services.lobby.streams import (
    KEEP_ALIVE_SECONDS,
    KeepAlive,
    Registry,
    SignOfLife,
    Watcher,
    is_woken,
)

RESUMED_SECONDS: Final = 86_400
"""How long ago a game may have ended that a resumed stream still tells of."""
_MOST_WAITING: Final = 256
_COMMITS_AT_ONCE: Final = 1_000
_SHORTEST_WAIT_SECONDS: Final = 0.005
_LONGEST_WAIT_SECONDS: Final = 1.0

_log = structlog.get_logger(__name__)


class MyGame(NamedTuple):
    """A game of a player's, as it stands."""

    game_id: str
    table_id: str
    seat: int
    version: int
    to_act: bool


class AllGames(NamedTuple):
    """All live games."""

    games: list[MyGame]


class Began(NamedTuple):
    """A game has begun; the player may be asked at once."""

    game: MyGame


class AskedIn(NamedTuple):
    """An action of the player's is awaited, once for each decision."""

    game: MyGame


class EndedIn(NamedTuple):
    """A game is over."""

    game: MyGame
    outcome: Outcome


News = Began | AskedIn | EndedIn


class Item(NamedTuple):
    """What the stream says, and the cursor to go on from; none for a keep-alive."""

    cursor: Cursor | None
    message: AllGames | News | KeepAlive


class _Watcher:
    """One stream's part of what the reader has found."""

    def __init__(self, keep_alive_seconds: float) -> None:
        self.woken = Watcher(keep_alive_seconds)
        self.waiting: list[Item] = []
        self.is_behind = False

    def tell(self, item: Item) -> None:
        """Keep an item until it is read; a reader who is too far behind loses his place."""
        if len(self.waiting) >= _MOST_WAITING:
            self.is_behind = True
        else:
            self.waiting.append(item)
        self.woken.set()


class MyGames:
    """`run` must run for as long as there are streams."""

    def __init__(
        self,
        pool: Pool,
        store: EventStore,
        games: KnownGames,
        callers: Callers,
        presence: Presence,
        registry: Registry,
        listener: WakeupListener | None = None,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    ) -> None:
        self._pool = pool
        self._store = store
        self._games = games
        self._callers = callers
        self._presence = presence
        self._registry = registry
        self._listener = listener
        self._keep_alive_seconds = keep_alive_seconds
        self._watchers: dict[str, set[_Watcher]] = {}
        self._cursor: Cursor | None = None
        self._starting = asyncio.Lock()
        self._positions: OrderedDict[str, Position] = OrderedDict()
        self._woken = asyncio.Event()

    async def listed(self, caller: Caller) -> tuple[list[MyGame], Cursor]:
        """The caller's live games, and the cursor from which a stream goes on. Raises StoreUnavailable."""
        cursor = await self._store.horizon()
        return await self._live(caller.player_id, cursor), cursor

    async def check_cursor(self, text: str) -> Cursor:
        """The cursor of a client. Raises PlatformError (MALFORMED_REQUEST), StoreUnavailable."""
        try:
            cursor = Cursor.parse(text)
            await self._store.check_cursor(cursor)
        except InvalidCursor as error:
            raise PlatformError.malformed("Last-Event-ID", "no cursor of this stream: begin anew") from error
        return cursor

    async def watch(self, caller: Caller, after: Cursor | None, secret: str) -> AsyncGenerator[Item, None]:
        """First all live games, or what happened after a cursor; then all that happens, without an end.

        Raises PlatformError, StoreUnavailable where it ends; it can be resumed.
        """
        self._registry.check()
        watcher = _Watcher(self._keep_alive_seconds)
        life = SignOfLife(self._callers, self._presence, caller, secret, self._keep_alive_seconds)
        with self._registry.counted("my_games", caller, watcher.woken):
            async with self._watching(caller.player_id, watcher) as start:
                if after is None:
                    yield Item(start, AllGames(await self._live(caller.player_id, start)))
                else:
                    for item in await self._between(caller.player_id, after, start):
                        yield item
                while True:
                    watcher.woken.clear()
                    if watcher.is_behind:
                        metrics.STREAMS_CUT.labels("behind").inc()
                        raise PlatformError(
                            "READER_TOO_SLOW", "read too slowly: resume after the last cursor"
                        )
                    waiting, watcher.waiting = watcher.waiting, []
                    for item in waiting:
                        # A cursor from another server may be ahead of what is read here.
                        if after is None or item.cursor is None or item.cursor > after:
                            watcher.woken.has_spoken()
                            yield item
                    self._registry.check()
                    await life.check()
                    if watcher.woken.is_silent():
                        watcher.woken.has_spoken()
                        yield Item(None, KeepAlive())
                    if not watcher.waiting:
                        await watcher.woken.wait()

    async def run(self) -> None:
        """Read the log for those who watch, for ever; outages are waited out."""
        with contextlib.ExitStack() as stack:
            if self._listener is not None:
                stack.enter_context(self._listener.waking(self._woken))
            wait_seconds = _SHORTEST_WAIT_SECONDS
            while True:
                found = 0
                try:
                    found = await self._read()
                except StoreUnavailable as error:
                    _log.warning("streams of games wait for the database", cause=str(error))
                if found:
                    wait_seconds = _SHORTEST_WAIT_SECONDS
                elif await is_woken(self._woken, wait_seconds):
                    # What woke us may still be hidden by a transaction that is about to end.
                    wait_seconds = _SHORTEST_WAIT_SECONDS
                else:
                    wait_seconds = min(wait_seconds * 2, _LONGEST_WAIT_SECONDS)

    @contextlib.asynccontextmanager
    async def _watching(self, player_id: str, watcher: _Watcher) -> AsyncIterator[Cursor]:
        """Gives the cursor after which everything is told to the watcher."""
        async with self._starting:
            if self._cursor is None:
                self._cursor = await self._store.horizon()
            start = self._cursor
            self._watchers.setdefault(player_id, set()).add(watcher)
        self._woken.set()
        try:
            yield start
        finally:
            self._watchers[player_id].discard(watcher)
            if not self._watchers[player_id]:
                del self._watchers[player_id]

    async def _read(self) -> int:
        async with self._starting:
            if not self._watchers:
                self._cursor = None
            if self._cursor is None:
                return 0
            commits = await self._store.read_all(self._cursor, _COMMITS_AT_ONCE)
            if not commits:
                return 0
            sittings: dict[str, list[tuple[str, int]]] = {}
            async with connected(self._pool) as connection:
                rows = await rows_of(
                    connection,
                    _FIND_SITTINGS,
                    {
                        "games": list({commit.stream for commit in commits}),
                        "players": list(self._watchers),
                    },
                )
            for row in rows:
                sittings.setdefault(row["game_id"], []).append((row["player_id"], row["seat"]))
            for commit in commits:
                players = sittings.get(commit.stream)
                if players is not None:
                    await self._tell(commit, players)
                self._cursor = commit.cursor
            return len(commits)

    async def _tell(self, commit: Commit, players: Iterable[tuple[str, int]]) -> None:
        hand = await self._games.hand(commit.stream)
        before = self._positions.get(commit.stream)
        if before is None or before.state.version != commit.first_version - 1:
            log = await self._store.read_stream(commit.stream) if commit.first_version > 1 else []
            before = position_after(
                None, [each for each in log if each.version < commit.first_version], hand.seats
            )
        after = position_after(before, [commit], hand.seats)
        if after is None:
            return
        self._keep(commit.stream, after)
        for player_id, seat in players:
            news = news_of(hand, seat, before, after)
            if news is not None:
                for watcher in self._watchers.get(player_id, ()):
                    watcher.tell(Item(commit.cursor, news))

    def _keep(self, game_id: str, position: Position) -> None:
        self._positions[game_id] = position
        self._positions.move_to_end(game_id)
        if position.state.public.outcome is not None:
            del self._positions[game_id]
        elif len(self._positions) > MOST_GAMES:
            self._positions.popitem(last=False)

    async def _live(self, player_id: str, until: Cursor) -> list[MyGame]:
        """The games of a player that were live at a cursor."""
        games = []
        for game_id, seat in await self._games_of(player_id):
            hand = await self._games.hand(game_id)
            commits = [each for each in await self._store.read_stream(game_id) if each.cursor <= until]
            position = position_after(None, commits, hand.seats)
            if position is not None and position.state.public.outcome is None:
                games.append(_my_game(hand, seat, position))
        return games

    async def _between(self, player_id: str, after: Cursor, until: Cursor) -> list[Item]:
        """What a stream tells between two cursors."""
        items = []
        for game_id, seat in await self._games_of(player_id):
            hand = await self._games.hand(game_id)
            before: Position | None = None
            for commit in await self._store.read_stream(game_id):
                if commit.cursor > until:
                    break
                position = position_after(before, [commit], hand.seats)
                if position is not None and commit.cursor > after:
                    news = news_of(hand, seat, before, position)
                    if news is not None:
                        items.append(Item(commit.cursor, news))
                before = position
        return sorted(items, key=lambda item: item.cursor or until)

    async def _games_of(self, player_id: str) -> list[tuple[str, int]]:
        async with connected(self._pool) as connection:
            rows = await rows_of(
                connection, _FIND_GAMES, {"player_id": player_id, "seconds": RESUMED_SECONDS}
            )
        return [(row["game_id"], row["seat"]) for row in rows]


def news_of(hand: Hand, seat: int, before: Position | None, after: Position) -> News | None:
    """What one more commit means to the player of a seat: one thing at most, so that a cursor names it."""
    game = _my_game(hand, seat, after)
    outcome = after.state.public.outcome
    if outcome is not None:
        return EndedIn(game, outcome)
    if before is None:
        return Began(game)
    asked, known = after.awaited_from(seat), before.awaited_from(seat)
    if asked is None or asked.kind != "player":
        return None
    if known is not None and (known.kind, known.decision) == (asked.kind, asked.decision):
        return None
    return AskedIn(game)


def _my_game(hand: Hand, seat: int, position: Position) -> MyGame:
    awaited = position.awaited_from(seat)
    return MyGame(
        hand.game_id,
        hand.table_id,
        seat,
        position.state.public.version,
        awaited is not None and awaited.kind == "player",
    )


_FIND_SITTINGS: Final[LiteralString] = """
select game_id, player_id, seat from lobby.sittings
where game_id = any(%(games)s) and player_id = any(%(players)s)"""

_FIND_GAMES: Final[LiteralString] = """
select game_id, seat from lobby.sittings join lobby.hands using (game_id)
where player_id = %(player_id)s
    and (status in ('opening', 'playing') or ended_at > clock_timestamp() - %(seconds)s * interval '1 second')
order by hands.created_at desc
limit 1000"""
