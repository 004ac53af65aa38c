"""Server-sent events: streams as text, each event encoded once for all who see it alike."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final

import msgspec
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Send

from baohuang.codec_json import event_to_json
from baohuang.rules.events import Event
from services.kit.errors import PlatformError, to_platform_error
from services.kit.rest import problem_of
from services.kit.rpc import note_error
from services.lobby import my_games, streams
from services.lobby.messages import games as messages
from services.lobby.shown import show_outcome, show_view

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
# How long a browser waits before it opens a broken stream again.
_BEGINNING: Final = b"retry: 1000\n\n"

_encoder = msgspec.json.Encoder()


def sse(name: str, data: Any, event_id: object = None) -> bytes:
    """One event. `data` becomes JSON, which holds no line ends."""
    head = b"" if event_id is None else f"id: {event_id}\n".encode()
    return head + f"event: {name}\ndata: ".encode() + _encoder.encode(data) + b"\n\n"


def happened(game_id: str, version: int, event: Event) -> bytes:
    """One event of a game, as an audience sees it."""
    data = {"game_id": game_id, "version": version, "event": event_to_json(event)}
    return sse("event", data, version)


async def game_chunks(stream: streams.Stream) -> AsyncGenerator[bytes, None]:
    """A stream of a game."""
    game_id, viewer = stream.game_id, stream.viewer
    async with aclosing(stream.messages()) as said:
        async for message in said:
            match message:
                case streams.Happened(told):
                    yield b"".join([each.encoded(viewer, happened, game_id) for each in told])
                case streams.Snapshot(version, view):
                    data: dict[str, Any] = {"game_id": game_id, "version": version, "view": show_view(view)}
                    yield sse("snapshot", data, version)
                case streams.Asked(version, actions, deadline_ms):
                    data = {
                        "game_id": game_id,
                        "version": version,
                        "actions": [str(action) for action in actions],
                        "deadline_ms": deadline_ms,
                    }
                    yield sse("asked", data)
                case streams.Ended(outcome):
                    yield sse("ended", {"game_id": game_id, "outcome": show_outcome(outcome)})
                case streams.KeepAlive():
                    yield sse("ping", {"game_id": game_id})


async def my_games_chunks(items: AsyncGenerator[my_games.Item, None]) -> AsyncGenerator[bytes, None]:
    """The stream of all games of a player."""
    async with aclosing(items):
        async for item in items:
            yield my_games_chunk(item)


def my_games_chunk(item: my_games.Item) -> bytes:
    """One message of the stream of all games of a player."""
    event_id = None if item.cursor is None else item.cursor.format()
    match item.message:
        case my_games.AllGames(games):
            return sse("all_games", {"games": [show_my_game(game) for game in games]}, event_id)
        case my_games.EndedIn(game, outcome):
            data = msgspec.structs.asdict(show_my_game(game)) | {"outcome": show_outcome(outcome)}
            return sse("ended", data, event_id)
        case my_games.Began(game):
            return sse("began", show_my_game(game), event_id)
        case my_games.AskedIn(game):
            return sse("asked", show_my_game(game), event_id)
        case _:
            return sse("ping", {})


def show_my_game(game: my_games.MyGame) -> messages.MyGame:
    """One game of a player."""
    return messages.MyGame(**game._asdict())


class EventStream(ASGIResponse):
    """An answer without an end of its own. What goes wrong in it is its last event, `error`, a problem."""

    _should_set_content_length = False

    def __init__(self, chunks: AsyncGenerator[bytes, None], registry: streams.Registry) -> None:
        super().__init__(body=b"", media_type=EVENT_STREAM, headers=_HEADERS, status_code=HTTPStatus.OK)
        self.sending_since: float | None = None
        self._chunks = chunks
        self._registry = registry
        self._until_cut = asyncio.timeout(None)

    def cut(self) -> None:
        """Give up a reader who is gone or does not read: what he missed he can have by resuming."""
        self._until_cut.reschedule(asyncio.get_running_loop().time())

    async def send_body(self, send: Send, receive: Receive) -> None:
        """Sends until the stream ends, its reader goes, or takes too long over a message."""
        is_whole = False
        async with aclosing(self._chunks):
            with contextlib.suppress(TimeoutError):
                async with self._until_cut:
                    leaving = asyncio.create_task(self._await_gone(receive))
                    try:
                        with self._registry.sending(self):
                            await self._send_all(send)
                        is_whole = True
                    finally:
                        leaving.cancel()
        if is_whole:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> None:
        await self._send(send, _BEGINNING)
        try:
            async for chunk in self._chunks:
                await self._send(send, chunk)
        except Exception as raised:  # noqa: BLE001 (the edge: each becomes an error on the wire)
            error = to_platform_error(raised)
            note_error(error, raised)
            await self._send(send, error_event(error))

    async def _send(self, send: Send, chunk: bytes) -> None:
        self.sending_since = time.monotonic()
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self.sending_since = None

    async def _await_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.cut()


def error_event(error: PlatformError) -> bytes:
    """The last event of a stream that could not go on. If `status` is 503, it can be resumed."""
    return sse("error", problem_of(error))
