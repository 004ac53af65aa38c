"""News of games for those who watch them here: read from the log once a game, encoded once an audience."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import structlog

from baohuang.rules.events import Audience, Event, Passed, Played, Viewer, redact
from services.eventstore import Commit, EventStore, StoreUnavailable, bucket_of
from services.eventstore.commit import BUCKETS
from services.eventstore.wakeups import WakeupListener
from services.kit.stored_events import UnreadableEvents, decode_stored
from services.lobby.clocks import Position, advance
from services.lobby.known import Hand, KnownGames

POLL_SECONDS: Final = 0.25
"""How long news may take where no word of commits is heard."""
LISTENING_POLL_SECONDS: Final = 2.0
"""The same where words are heard, any of which may get lost."""
MOST_EVENTS: Final = 256
"""How many events of a game are kept for its watchers; who is further behind is cut off."""

_log = structlog.get_logger(__name__)


class Told:
    """An event with its number in the game, and how it is put for each audience, made once."""

    __slots__ = ("_encoded", "event", "version")

    def __init__(self, version: int, event: Event) -> None:
        self.version = version
        self.event = event
        self._encoded: dict[tuple[object, Viewer], Any] = {}

    def encoded(self, viewer: Viewer, encode: Callable[[str, int, Event], Any], game_id: str) -> Any:
        """What `encode(game_id, version, event as the viewer may see it)` gives."""
        audience = None if self.event.audience is Audience.EVERYONE else viewer
        key = encode, audience
        if key not in self._encoded:
            self._encoded[key] = encode(game_id, self.version, redact(self.event, audience))
        return self._encoded[key]


class Feed:
    """The last events of one game that is watched here, and where it stands."""

    def __init__(self, hand: Hand, position: Position, told: Iterable[Told]) -> None:
        self.hand = hand
        self.position = position
        self.error: Exception | None = None
        self._told: deque[Told] = deque(told, MOST_EVENTS)
        self._watchers: set[asyncio.Event] = set()

    @property
    def version(self) -> int:
        """How many events the game has had."""
        return self.position.state.version

    @property
    def is_over(self) -> bool:
        return self.position.state.public.outcome is not None

    @property
    def is_watched(self) -> bool:
        return bool(self._watchers)

    def after(self, version: int) -> list[Told] | None:
        """The events after a version in order; None if they are no longer kept."""
        missing = self.version - version
        if missing > len(self._told):
            return None
        # From the end, where most readers are.
        return list(islice(reversed(self._told), missing))[::-1]

    def shown_version(self, delay: int) -> int:
        """The version up to which a viewer sees who is `delay` plays and passes behind.

        What came before the first play is shown at once.
        """
        if not delay or self.is_over:
            return self.version
        version = self.version
        for told in reversed(self._told):
            if isinstance(told.event, Played | Passed):
                # A commit begins with its play, so this is where one ends.
                version = told.version - 1
                delay -= 1
                if not delay:
                    break
        return version

    def add(self, commits: Iterable[Commit]) -> None:
        """Take in what was read after this version, and wake the watchers. Raises UnreadableEvents."""
        has_news = False
        for commit in commits:
            if commit.version <= self.version:
                continue
            has_news = True
            events = decode_stored(commit.payload, commit.schema_version)
            version = self.version
            self.position = advance(self.position, events, commit.recorded_at_ms, self.hand.seats)
            self._told.extend(numbered(version, events))
        if has_news:
            self.wake()

    def fail(self, error: Exception) -> None:
        """End all that watch this game with an error."""
        self.error = error
        self.wake()

    def wake(self) -> None:
        for watcher in self._watchers:
            watcher.set()

    @contextlib.contextmanager
    def waking(self, watcher: asyncio.Event) -> Iterator[None]:
        """Within, `watcher` is set whenever something happens."""
        self._watchers.add(watcher)
        try:
            yield
        finally:
            self._watchers.discard(watcher)


def numbered(version: int, events: Sequence[Event]) -> list[Told]:
    """Events that come after a version."""
    return [Told(number, event) for number, event in enumerate(events, version + 1)]


class _Bucket(asyncio.Event):
    """Set by the listener when one bucket of the log has new commits."""

    def __init__(self, bucket: int, feeds: Feeds) -> None:
        super().__init__()
        self._bucket = bucket
        self._feeds = feeds

    def set(self) -> None:
        self._feeds.look_at(self._bucket)


class Feeds:
    """The feeds of all games that are watched here. `run` must run for as long as any is."""

    def __init__(self, store: EventStore, games: KnownGames, listener: WakeupListener | None = None) -> None:
        self._store = store
        self._games = games
        self._listener = listener
        self._feeds: dict[str, Feed] = {}
        self._opening = [asyncio.Lock() for _ in range(BUCKETS)]
        self._in_bucket: dict[int, set[str]] = {}
        self._stale: set[int] = set()
        self._woken = asyncio.Event()

    def look_at(self, bucket: int) -> None:
        """There may be something new in a bucket."""
        if bucket in self._in_bucket:
            self._stale.add(bucket)
            self._woken.set()

    def look_at_game(self, game_id: str) -> None:
        """There is something new in a game."""
        self.look_at(bucket_of(game_id))

    @contextlib.asynccontextmanager
    async def watching(self, hand: Hand, watcher: asyncio.Event) -> AsyncIterator[Feed]:
        """The feed of a game, as new as the log; within, `watcher` is set when something happens.

        Raises PlatformError (GAME_NOT_FOUND), StoreUnavailable, UnreadableEvents.
        """
        feed = await self._feed(hand)
        try:
            with feed.waking(watcher):
                yield feed
        finally:
            self._drop_unwatched(feed)

    async def run(self) -> None:
        """Read what is new, for ever; outages are waited out."""
        with contextlib.ExitStack() as stack:
            if self._listener is not None:
                for bucket in range(BUCKETS):
                    stack.enter_context(self._listener.waking(_Bucket(bucket, self), [bucket]))
            while True:
                is_hearing = self._listener is not None and self._listener.is_listening.is_set()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LISTENING_POLL_SECONDS if is_hearing else POLL_SECONDS):
                        await self._woken.wait()
                self._woken.clear()
                stale, self._stale = self._stale or set(self._in_bucket), set()
                try:
                    await self._read(stale)
                except StoreUnavailable as error:
                    _log.warning("watchers wait for the database", cause=str(error))
                    await asyncio.sleep(POLL_SECONDS)
                    self._stale |= stale

    async def _feed(self, hand: Hand) -> Feed:
        game_id, bucket = hand.game_id, bucket_of(hand.game_id)
        async with self._opening[bucket]:
            feed = self._feeds.get(game_id)
            if feed is None or feed.error is not None:
                feed = await self._open(hand)
            else:
                # What the caller has seen happen elsewhere must not be missing here.
                feed.add(await self._store.read_stream(game_id, feed.version))
            # Its last watcher may have gone meanwhile.
            self._feeds[game_id] = feed
            self._in_bucket.setdefault(bucket, set()).add(game_id)
        return feed

    async def _open(self, hand: Hand) -> Feed:
        position = None
        told: deque[Told] = deque(maxlen=MOST_EVENTS)
        for commit in await self._store.read_stream(hand.game_id):
            events = decode_stored(commit.payload, commit.schema_version)
            told.extend(numbered(commit.first_version - 1, events))
            position = advance(position, events, commit.recorded_at_ms, hand.seats)
        if position is None:
            position = await self._games.position(hand)  # raises
        return Feed(hand, position, told)

    async def _read(self, buckets: Iterable[int]) -> None:
        versions = {
            game_id: self._feeds[game_id].version
            for bucket in buckets
            for game_id in self._in_bucket.get(bucket, ())
            if not self._feeds[game_id].is_over
        }
        if not versions:
            return
        by_game: dict[str, list[Commit]] = {}
        for commit in await self._store.read_streams(versions):
            by_game.setdefault(commit.stream, []).append(commit)
        for game_id, commits in by_game.items():
            feed = self._feeds.get(game_id)
            if feed is None:
                continue
            try:
                feed.add(commits)
            except UnreadableEvents as error:
                feed.fail(error)
            else:
                self._games.learn(game_id, feed.position)

    def _drop_unwatched(self, feed: Feed) -> None:
        game_id = feed.hand.game_id
        if feed.is_watched or self._feeds.get(game_id) is not feed:
            return
        del self._feeds[game_id]
        bucket = self._in_bucket[bucket_of(game_id)]
        bucket.discard(game_id)
        if not bucket:
            del self._in_bucket[bucket_of(game_id)]
