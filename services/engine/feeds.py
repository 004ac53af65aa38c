"""News of games for those who follow them here: of own appends at once, of other engines' from the log."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from baohuang.rules.events import Event
from baohuang.rules.evolve import fold
from baohuang.rules.state import State
from services.engine.log import events_of
from services.eventstore import EventStore, bucket_of
from services.eventstore.wakeups import WakeupListener

POLL_SECONDS: Final = 0.25
"""How long news from other engines may take where no word of it is heard."""
LISTENING_POLL_SECONDS: Final = 2.0
"""The same where words are heard, any of which may get lost."""


class News(NamedTuple):
    """Events in order, and the state after them."""

    events: Sequence[Event]
    state: State


async def read_news(store: EventStore, game_id: str, state: State) -> News:
    """All that the log has after a state of the game; raises `StoreUnavailable`."""
    commits = await store.read_stream(game_id, state.version)
    events = [event for commit in commits for event in events_of(commit)]
    return News(events, fold(events, state))


class Feed:
    """The news of one game. Keeps the last of it only: who is further behind reads the log."""

    def __init__(self, store: EventStore, game_id: str, state: State) -> None:
        self._store = store
        self._game_id = game_id
        self._last = News((), state)
        self._known_version = state.version
        self._error: Exception | None = None
        # Something may have been appended since the state was read.
        self._is_stale = asyncio.Event()
        self._is_stale.set()
        self._followers: set[asyncio.Event] = set()

    @contextlib.contextmanager
    def waking(self, follower: asyncio.Event) -> Iterator[None]:
        """Within, `follower` is set whenever there may be news, and so at first."""
        self._followers.add(follower)
        follower.set()
        try:
            yield
        finally:
            self._followers.discard(follower)

    @property
    def is_followed(self) -> bool:
        return bool(self._followers)

    def is_ahead_of(self, state: State) -> bool:
        """Whether more is known to have happened, though it may have to be read yet."""
        return self._known_version > state.version

    async def after(self, state: State) -> News:
        """What happened after a state, as far as it is known here. Raises what reading the log raised."""
        if self._error is not None:
            raise self._error
        missing = self._last.state.version - state.version
        if missing <= 0:
            return News((), state)
        if missing <= len(self._last.events):
            return News(self._last.events[-missing:], self._last.state)
        return await read_news(self._store, self._game_id, state)

    def tell(self, news: News) -> None:
        """Passes on what was appended or read, unless it is known."""
        self._known_version = max(self._known_version, news.state.version)
        fresh = news.state.version - self._last.state.version
        if fresh > len(news.events):
            self._is_stale.set()  # something before it is not known here
        elif fresh > 0:
            self._last = News(news.events[-fresh:], news.state)
            self._wake()

    async def run(self, listener: WakeupListener | None) -> None:
        """Reads the log on word of a commit, and now and then without; until cancelled or it fails."""
        try:
            with contextlib.ExitStack() as stack:
                if listener is not None:
                    stack.enter_context(listener.waking(self._is_stale, [bucket_of(self._game_id)]))
                while True:
                    is_hearing = listener is not None and listener.is_listening.is_set()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(LISTENING_POLL_SECONDS if is_hearing else POLL_SECONDS):
                            await self._is_stale.wait()
                    self._is_stale.clear()
                    self.tell(await read_news(self._store, self._game_id, self._last.state))
        except Exception as error:  # noqa: BLE001 (each follower's stream ends with it)
            self._error = error
            self._wake()

    def _wake(self) -> None:
        for follower in self._followers:
            follower.set()


class Feeds:
    """The feeds of all games that are followed here."""

    def __init__(self, store: EventStore, listener: WakeupListener | None = None) -> None:
        self._store = store
        self._listener = listener
        self._feeds: dict[str, tuple[Feed, asyncio.Task[None]]] = {}

    def tell(self, game_id: str, news: News) -> None:
        """Passes on what this engine appended."""
        if game_id in self._feeds:
            self._feeds[game_id][0].tell(news)

    @contextlib.contextmanager
    def following(self, game_id: str, state: State, follower: asyncio.Event) -> Iterator[Feed]:
        """The feed of a game of which `state` is known; within, it sets `follower` when there is news."""
        feed, task = self._feeds.get(game_id, (None, None))
        if feed is None or task is None or task.done():
            feed = Feed(self._store, game_id, state)
            task = asyncio.create_task(feed.run(self._listener))
            self._feeds[game_id] = feed, task
        try:
            with feed.waking(follower):
                yield feed
        finally:
            if not feed.is_followed:
                task.cancel()
                if self._feeds.get(game_id) == (feed, task):
                    del self._feeds[game_id]
