"""Running games in a browser: what has changed since the last message, for as long as somebody watches."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from services.eventstore import StoreError
from services.eventstore.commit import bucket_of
from services.eventstore.wakeups import WakeupListener
from services.replay.frames import Frames, frames_of
from services.replay.library import Library, Shelved
from services.replay.look import Look
from services.replay.sittings import Sittings

_PING_SECONDS: Final = 7.0
_POLL_SECONDS: Final = 1.0
"""How late a commit may be seen of which no word came."""
_MARK: Final = re.compile(r"([0-9]{1,9})[.][0-5]")


class LiveMessage(msgspec.Struct, frozen=True):
    """A message of a stream, `kind` snapshot, steps, ping or end; `mark` is for resuming, "" for none."""

    kind: str
    mark: str
    data: bytes


class _Steps(msgspec.Struct, frozen=True):
    """The first step here and all after it take the place of those that were sent before.

    `waiting_ms`: for how long the players who are asked have had to act, null where spectators lag behind.
    """

    frames: Frames
    waiting_ms: int | None


class _Told(msgspec.Struct, frozen=True):
    game_id: str


class Live:
    """Streams of running games; `wakeups` makes them quick."""

    def __init__(self, library: Library, sittings: Sittings, wakeups: WakeupListener | None = None) -> None:
        self._library = library
        self._sittings = sittings
        self._wakeups = wakeups
        self._ended = asyncio.Event()

    def end(self) -> None:
        """End all streams, and each new one at once."""
        self._ended.set()

    async def watch(self, game_id: str, look: Look, after: str | None) -> AsyncIterator[LiveMessage]:
        """What a spectator may see of a game, and then what happens in it, until it is over.

        `after` is the mark of the last message that was seen: nothing earlier comes again. Without one the
        first message is a snapshot. Nothing is kept for a reader who is slow: he gets what has changed since.
        The stream ends without a last message when the service stops or the log cannot be read; the reader
        comes back then. Raises PlatformError (GAME_NOT_FOUND).
        """
        seen = after
        is_news = asyncio.Event()
        with self._waking(game_id, is_news):
            pinged = time.monotonic()
            while not self._ended.is_set():
                is_news.clear()
                try:
                    shelved = await self._library.find(game_id)
                    names = (await self._sittings.find(game_id)).names
                except StoreError:
                    return
                if not shelved.game.is_running:
                    yield LiveMessage("end", shelved.game.mark, msgspec.json.encode(_Told(game_id)))
                    return
                if shelved.game.mark != seen:
                    yield news_of(shelved, look, names, seen)
                    seen = shelved.game.mark
                elif time.monotonic() - pinged >= _PING_SECONDS:
                    pinged = time.monotonic()
                    yield LiveMessage("ping", "", msgspec.json.encode(_Told(game_id)))
                await self._wait(is_news)

    def _waking(self, game_id: str, is_news: asyncio.Event) -> contextlib.AbstractContextManager[None]:
        if self._wakeups is None:
            return contextlib.nullcontext()
        return self._wakeups.waking(is_news, [bucket_of(game_id)])

    async def _wait(self, is_news: asyncio.Event) -> None:
        """Until there may be news, or for a moment."""
        waits = [asyncio.ensure_future(event.wait()) for event in (is_news, self._ended)]
        try:
            await asyncio.wait(waits, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def news_of(shelved: Shelved, look: Look, names: tuple[str, ...] | None, seen: str | None) -> LiveMessage:
    """What is told to a reader who has seen a running game up to a mark, or nothing of it."""
    game = shelved.game
    version = _version(seen)
    is_later = version is not None and version <= game.version
    # The step that held the last event seen may have grown.
    first = game.step_of(version) if version is not None and is_later else 1
    waiting = None if game.delay_plays else max(0, int(time.time() * 1000) - shelved.changed_ms)
    steps = _Steps(frames_of(game, look, names, first=first), waiting)
    return LiveMessage("steps" if is_later else "snapshot", game.mark, msgspec.json.encode(steps))


def _version(mark: str | None) -> int | None:
    """The number of events that a mark stands for, None for what is no mark."""
    match = _MARK.fullmatch(mark or "")
    return int(match[1]) if match is not None and int(match[1]) else None
