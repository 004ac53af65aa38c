"""Playing: what a player sees of a game, may do in it, and does."""

from __future__ import annotations

import asyncio
import hashlib
import weakref
from typing import Any, Final, LiteralString, NamedTuple

from baohuang import Action, View
from baohuang.rules.events import AutoPlayReason
from baohuang.rules.legal import legal_actions
from baohuang.rules.views import view
from services.eventstore import Connection, EventStore, Pool
from services.kit.errors import PlatformError
from services.kit.ids import new_id
from services.lobby.answers import digest_of, first_refusal, is_final, keep_refusal, reused
from services.lobby.callers import Caller
from services.lobby.database import connected, row_of
from services.lobby.engine import Applied, Engine
from services.lobby.feeds import Feeds
from services.lobby.known import Hand, KnownGames
from services.lobby.streams import position_at


class Seen(NamedTuple):
    """A game as a viewer sees it, and when his time is over."""

    view: View
    deadline_ms: int | None


class Offered(NamedTuple):
    """What a seat may do at a public version, and when its time is over."""

    version: int
    actions: list[Action]
    deadline_ms: int | None


class Play:
    """Methods raise PlatformError (GAME_NOT_FOUND, FORBIDDEN, the engine's reasons), StoreUnavailable."""

    def __init__(
        self, pool: Pool, store: EventStore, games: KnownGames, feeds: Feeds, engine: Engine
    ) -> None:
        self._pool = pool
        self._store = store
        self._games = games
        self._feeds = feeds
        self._engine = engine
        self._locks: weakref.WeakValueDictionary[tuple[str, str], asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )

    async def view(self, caller: Caller, game_id: str, as_spectator: bool) -> Seen:
        """A game as the caller's seat sees it, or a spectator, who may be some plays behind."""
        hand = await self._games.hand(game_id)
        seat = None if as_spectator else hand.seat_of(caller.player_id)
        if seat is None and hand.spectator_delay:
            async with self._feeds.watching(hand, asyncio.Event()) as feed:
                shown = feed.shown_version(hand.spectator_delay)
            position = await position_at(self._store, hand, shown)
        else:
            position = await self._games.position(hand)
        awaited = None if seat is None else position.awaited_from(seat)
        return Seen(view(position.state, seat), None if awaited is None else awaited.deadline_ms)

    async def legal_actions(self, caller: Caller, game_id: str) -> Offered:
        """What the caller's seat may do now."""
        hand = await self._games.hand(game_id)
        seat = _seat(hand, caller)
        position = await self._games.position(hand)
        awaited = position.awaited_from(seat)
        state = position.state
        return Offered(
            state.public.version,
            legal_actions(state, seat),
            None if awaited is None else awaited.deadline_ms,
        )

    async def act(
        self, caller: Caller, game_id: str, action: Action, expected_version: int | None, key: str | None
    ) -> Applied:
        """Do an action. The same key and request again give what came of it the first time."""
        caller.require_player()

        async def act(seat: int, command_id: str) -> Applied:
            return await self._engine.act(game_id, command_id, seat, action, expected_version)

        return await self._command(caller, game_id, key, ("Act", game_id, str(action), expected_version), act)

    async def set_auto_play(self, caller: Caller, game_id: str, auto_play: bool, key: str | None) -> Applied:
        """Hand the seat to the server, or take it back (R9.3)."""
        caller.require_player()

        async def set_auto_play(seat: int, command_id: str) -> Applied:
            if auto_play:
                return await self._engine.start_auto_play(game_id, command_id, seat, AutoPlayReason.REQUEST)
            return await self._engine.stop_auto_play(game_id, command_id, seat)

        return await self._command(caller, game_id, key, ("SetAutoPlay", game_id, auto_play), set_auto_play)

    async def _command(
        self, caller: Caller, game_id: str, key: str | None, request: tuple[Any, ...], do: Any
    ) -> Applied:
        hand = await self._games.hand(game_id)
        seat = _seat(hand, caller)
        command_id = _command_id(seat, key)
        if key is None:
            await self._check_not_gone(game_id, seat)
            return await self._done(game_id, await do(seat, command_id))
        digest = digest_of(request)
        # Of two copies that are under way at once, the second finds what became of the first.
        async with self._locks.setdefault((caller.player_id, key), asyncio.Lock()):
            async with connected(self._pool) as connection:
                await first_refusal(connection, caller.player_id, key, digest)
                await _check_not_gone(connection, game_id, seat)
            try:
                return await self._done(game_id, await do(seat, command_id))
            except PlatformError as error:
                if error.reason == "COMMAND_REUSED":
                    raise reused(key) from error
                if is_final(error):
                    async with connected(self._pool) as connection:
                        await keep_refusal(connection, caller.player_id, key, digest, error)
                raise

    async def _check_not_gone(self, game_id: str, seat: int) -> None:
        async with connected(self._pool) as connection:
            await _check_not_gone(connection, game_id, seat)

    async def _done(self, game_id: str, applied: Applied) -> Applied:
        self._feeds.look_at_game(game_id)
        return applied


def _seat(hand: Hand, caller: Caller) -> int:
    seat = hand.seat_of(caller.player_id)
    if seat is None:
        raise PlatformError("FORBIDDEN", "you have no seat in this game")
    return seat


def _command_id(seat: int, key: str | None) -> str:
    """The engine's id of a player's command: all that happens in a game shares one list of ids."""
    if key is None:
        return f"player.{seat}.{new_id()}"
    return f"player.{seat}.key.{hashlib.sha256(key.encode()).hexdigest()[:40]}"


async def _check_not_gone(connection: Connection, game_id: str, seat: int) -> None:
    """Raises PlatformError (FORBIDDEN) for a player who left the game for good."""
    if await row_of(connection, _FIND_DEPARTURE, [game_id, seat]) is not None:
        raise PlatformError("FORBIDDEN", "you left this game; a bot plays in your seat", clause="R8.5")


_FIND_DEPARTURE: Final[LiteralString] = """
select from lobby.departures where game_id = %s and seat = %s and kind <> 'exit'"""
