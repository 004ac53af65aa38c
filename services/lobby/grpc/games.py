"""`GameService`: views, actions, streams."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, Final

from baohuang.rpc.codec import decode_action, encode_action, encode_event, encode_outcome, encode_view, inside
from baohuang.rpc.lobby.v1 import games_pb2 as pb
from baohuang.rpc.lobby.v1.games_pb2_grpc import GameServiceServicer
from baohuang.rules.events import Event
from services.kit.errors import PlatformError
from services.lobby import metrics, my_games, streams
from services.lobby.engine import Applied
from services.lobby.grpc.access import Access, Context, key_of, secret_of, texts_of

_VERSIONS: Final = 1 << 31


class GamesEdge(GameServiceServicer):
    """Games of hands, for those who play in them and for spectators."""

    def __init__(self, access: Access, slow_reader_seconds: float = streams.SLOW_READER_SECONDS) -> None:
        self._access = access
        self._lobby = access.lobby
        self._slow_reader_seconds = slow_reader_seconds

    async def GetView(self, request: pb.GetViewRequest, context: Context) -> pb.GetViewResponse:
        caller = await self._access.caller(context)
        seen = await self._lobby.play.view(caller, request.game_id, request.as_spectator)
        return pb.GetViewResponse(
            game_id=request.game_id, view=encode_view(seen.view), deadline_ms=seen.deadline_ms
        )

    async def GetLegalActions(
        self, request: pb.GetLegalActionsRequest, context: Context
    ) -> pb.GetLegalActionsResponse:
        caller = await self._access.caller(context)
        offered = await self._lobby.play.legal_actions(caller, request.game_id)
        return pb.GetLegalActionsResponse(
            game_id=request.game_id,
            version=offered.version,
            actions=[encode_action(action) for action in offered.actions],
            deadline_ms=offered.deadline_ms,
        )

    async def Act(self, request: pb.ActRequest, context: Context) -> pb.ActResponse:
        caller = await self._access.caller(context)
        with inside("action"):
            action = decode_action(request.action)
        expected = request.expected_version if request.HasField("expected_version") else None
        _check_version(expected, "expected_version")
        applied = await self._lobby.play.act(
            caller, request.game_id, action, expected, key_of(request.command_id)
        )
        return pb.ActResponse(
            outcome=None if applied.outcome is None else encode_outcome(applied.outcome),
            **_applied(request.game_id, applied),
        )

    async def SetAutoPlay(self, request: pb.SetAutoPlayRequest, context: Context) -> pb.SetAutoPlayResponse:
        caller = await self._access.caller(context)
        applied = await self._lobby.play.set_auto_play(
            caller, request.game_id, request.auto_play, key_of(request.command_id)
        )
        return pb.SetAutoPlayResponse(**_applied(request.game_id, applied))

    async def WatchGame(  # type: ignore[override]  # gRPC also takes a coroutine that writes to its context
        self, request: pb.WatchGameRequest, context: Context
    ) -> None:
        caller = await self._access.caller(context)
        await self._lobby.limits.take("streams", caller.player_id)
        after = request.after_version if request.HasField("after_version") else None
        _check_version(after, "after_version")
        stream = await self._lobby.streams.watch(
            caller, request.game_id, after, request.as_spectator, secret_of(texts_of(context)) or ""
        )
        async with aclosing(stream.messages()) as said:
            async for message in said:
                match message:
                    case streams.Happened(told):
                        for each in told:
                            await self._write(context, each.encoded(stream.viewer, _happened, stream.game_id))
                    case _:
                        await self._write(context, _game_message(stream.game_id, message))

    async def ListMyGames(self, request: pb.ListMyGamesRequest, context: Context) -> pb.ListMyGamesResponse:
        caller = await self._access.caller(context)
        games, cursor = await self._lobby.my_games.listed(caller)
        return pb.ListMyGamesResponse(games=[_my_game(game) for game in games], cursor=cursor.format())

    async def WatchMyGames(  # type: ignore[override]
        self, request: pb.WatchMyGamesRequest, context: Context
    ) -> None:
        caller = await self._access.caller(context)
        await self._lobby.limits.take("streams", caller.player_id)
        cursor = None
        if request.HasField("after_cursor"):
            cursor = await self._lobby.my_games.check_cursor(request.after_cursor)
        items = self._lobby.my_games.watch(caller, cursor, secret_of(texts_of(context)) or "")
        async with aclosing(items):
            async for item in items:
                await self._write(context, _my_games_message(item))

    async def _write(self, context: Context, message: Any) -> None:
        """Send a message. Raises PlatformError (READER_TOO_SLOW) if its reader does not take it."""
        try:
            async with asyncio.timeout(self._slow_reader_seconds):
                await context.write(message)
        except TimeoutError as error:
            metrics.STREAMS_CUT.labels("stuck").inc()
            raise PlatformError(
                "READER_TOO_SLOW", "read too slowly: open the stream again after the last message received"
            ) from error


def _check_version(version: int | None, field: str) -> None:
    if version is not None and version >= _VERSIONS:
        raise PlatformError.malformed(field, "no number of an event")


def _applied(game_id: str, applied: Applied) -> dict[str, Any]:
    return {
        "game_id": game_id,
        "version": applied.version,
        "events": [encode_event(event) for event in applied.events],
    }


def _happened(game_id: str, version: int, event: Event) -> pb.WatchGameResponse:
    """One event of a game, as an audience sees it."""
    happened = pb.WatchGameResponse.Happened(version=version, event=encode_event(event))
    return pb.WatchGameResponse(game_id=game_id, happened=happened)


def _game_message(game_id: str, message: streams.Message) -> pb.WatchGameResponse:
    kinds = pb.WatchGameResponse
    match message:
        case streams.Snapshot(version, view):
            snapshot = kinds.Snapshot(version=version, view=encode_view(view))
            return kinds(game_id=game_id, snapshot=snapshot)
        case streams.Asked(version, actions, deadline_ms):
            asked = kinds.Asked(
                version=version,
                actions=[encode_action(action) for action in actions],
                deadline_ms=deadline_ms,
            )
            return kinds(game_id=game_id, asked=asked)
        case streams.Ended(outcome):
            return kinds(game_id=game_id, ended=kinds.Ended(outcome=encode_outcome(outcome)))
        case _:
            return kinds(game_id=game_id, keep_alive=kinds.KeepAlive())


def _my_games_message(item: my_games.Item) -> pb.WatchMyGamesResponse:
    kinds = pb.WatchMyGamesResponse
    cursor = "" if item.cursor is None else item.cursor.format()
    match item.message:
        case my_games.AllGames(games):
            return kinds(cursor=cursor, all_games=kinds.AllGames(games=[_my_game(game) for game in games]))
        case my_games.Began(game):
            return kinds(cursor=cursor, began=kinds.Began(game=_my_game(game)))
        case my_games.AskedIn(game):
            return kinds(cursor=cursor, asked=kinds.Asked(game=_my_game(game)))
        case my_games.EndedIn(game, outcome):
            ended = kinds.Ended(game=_my_game(game), outcome=encode_outcome(outcome))
            return kinds(cursor=cursor, ended=ended)
        case _:
            return kinds(keep_alive=kinds.KeepAlive())


def _my_game(game: my_games.MyGame) -> pb.MyGame:
    return pb.MyGame(**game._asdict())
