"""What a stream of a game says, whatever the wire."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from baohuang import Action, Outcome, View
from baohuang.rules.events import Viewer
from baohuang.rules.legal import legal_actions
from baohuang.rules.views import view
from services.eventstore import EventStore
from services.kit.errors import PlatformError
from services.kit.stored_events import decode_stored
from services.lobby import metrics
from services.lobby.callers import Caller, Callers
from services.lobby.clocks import Decision, Position
from services.lobby.feeds import Feed, Feeds, Told, numbered
from services.lobby.games import position_after
from services.lobby.known import Hand, KnownGames, game_not_found
from services.lobby.presence import Presence

KEEP_ALIVE_SECONDS: Final = 7.0
SLOW_READER_SECONDS: Final = 10.0
"""How long a message may wait for its reader."""
_TICK_SECONDS: Final = 0.5
MOST_STREAMS: Final = 5_000
"""Of one process."""
MOST_STREAMS_OF_PLAYER: Final = 100
MOST_STREAMS_OF_BOT: Final = 1_000


class Snapshot(NamedTuple):
    """The game after its first `version` events, as the viewer may see it."""

    version: int
    view: View


class Happened(NamedTuple):
    """Events in order."""

    told: Sequence[Told]


class Asked(NamedTuple):
    """The viewer's action is awaited; told once for each decision, and again after a resumption."""

    version: int
    actions: Sequence[Action]
    deadline_ms: int | None


class KeepAlive(NamedTuple):
    """There was nothing to tell for a while."""


class Ended(NamedTuple):
    """The hand is over; nothing follows."""

    outcome: Outcome


Message = Snapshot | Happened | Asked | KeepAlive | Ended


class Watcher(asyncio.Event):
    """Wakes one stream: when there is something to tell, and when it has been silent for too long."""

    def __init__(self, keep_alive_seconds: float) -> None:
        super().__init__()
        self._keep_alive_seconds = keep_alive_seconds
        self._silent_since = time.monotonic()

    def is_silent(self) -> bool:
        """Whether it is time for a sign of life."""
        return time.monotonic() - self._silent_since >= self._keep_alive_seconds

    def has_spoken(self) -> None:
        """Something was told just now."""
        self._silent_since = time.monotonic()


class Sender(Protocol):
    """Sends to a reader who may not read."""

    @property
    def sending_since(self) -> float | None:
        """Since when, by the monotonic clock, a message waits for its reader."""

    def cut(self) -> None:
        """Give the reader up."""


class Registry:
    """All streams of this process, so that they are bounded, kept alive, and end with it.

    One clock for all: a timer for each would cost more than what the streams have to say.
    """

    def __init__(self, slow_reader_seconds: float = SLOW_READER_SECONDS) -> None:
        self.is_stopping = False
        self._slow_reader_seconds = slow_reader_seconds
        self._of_player: dict[str, int] = {}
        self._watchers: set[Watcher] = set()
        self._senders: set[Sender] = set()

    async def run(self) -> None:
        """Look after all streams, for ever."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self.tick()

    def tick(self) -> None:
        """Wake who has been silent for too long, and cut off who does not read."""
        for watcher in self._watchers:
            if watcher.is_silent():
                watcher.set()
        now = time.monotonic()
        for sender in list(self._senders):
            since = sender.sending_since
            if since is not None and now - since >= self._slow_reader_seconds:
                metrics.STREAMS_CUT.labels("stuck").inc()
                sender.cut()

    @contextlib.contextmanager
    def sending(self, sender: Sender) -> Iterator[None]:
        """Within, a sender is cut off when its reader does not read."""
        self._senders.add(sender)
        try:
            yield
        finally:
            self._senders.discard(sender)

    def stop(self) -> None:
        """End all streams, each after what it is telling."""
        self.is_stopping = True
        for watcher in self._watchers:
            watcher.set()

    @contextlib.contextmanager
    def counted(self, kind: str, caller: Caller, watcher: Watcher) -> Iterator[None]:
        """One more stream of a player. Raises PlatformError (TOO_MANY, SERVICE_UNAVAILABLE)."""
        mine = self._of_player.get(caller.player_id, 0)
        most = MOST_STREAMS_OF_BOT if caller.is_bot else MOST_STREAMS_OF_PLAYER
        if mine >= most:
            raise PlatformError("TOO_MANY", f"you have {most} streams open already")
        if len(self._watchers) >= MOST_STREAMS:
            raise PlatformError("SERVICE_UNAVAILABLE", "too many streams here now; try again")
        self._of_player[caller.player_id] = mine + 1
        self._watchers.add(watcher)
        gauge = metrics.STREAMS.labels(kind)
        gauge.inc()
        try:
            yield
        finally:
            gauge.dec()
            self._watchers.discard(watcher)
            self._of_player[caller.player_id] -= 1
            if not self._of_player[caller.player_id]:
                del self._of_player[caller.player_id]

    def check(self) -> None:
        """Raises PlatformError (SERVICE_UNAVAILABLE) once this process stops."""
        if self.is_stopping:
            raise PlatformError(
                "SERVICE_UNAVAILABLE", "the server is stopping: open the stream again where it ended"
            )


class Streams:
    """Streams of games."""

    def __init__(
        self,
        store: EventStore,
        games: KnownGames,
        feeds: Feeds,
        callers: Callers,
        presence: Presence,
        registry: Registry,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    ) -> None:
        self.store = store
        self.games = games
        self.feeds = feeds
        self.callers = callers
        self.presence = presence
        self.registry = registry
        self.keep_alive_seconds = keep_alive_seconds

    async def watch(
        self, caller: Caller, game_id: str, after_version: int | None, as_spectator: bool, secret: str
    ) -> Stream:
        """A stream that is about to begin: what can be refused is refused before its first message.

        Raises PlatformError (GAME_NOT_FOUND; MALFORMED_REQUEST for events that the game has not had).
        """
        self.registry.check()
        hand = await self.games.hand(game_id)
        seat = None if as_spectator else hand.seat_of(caller.player_id)
        position = await self.games.position(hand)
        if after_version is not None and after_version > position.state.version:
            raise PlatformError.malformed("Last-Event-ID", "the game has not had so many events")
        return Stream(self, caller, hand, seat, after_version, secret)


class Stream:
    """One viewer's stream of one game."""

    def __init__(
        self, streams: Streams, caller: Caller, hand: Hand, seat: Viewer, after: int | None, secret: str
    ) -> None:
        self.game_id = hand.game_id
        self.viewer = seat
        self._streams = streams
        self._caller = caller
        self._hand = hand
        self._version = after
        self._secret = secret
        self._delay = hand.spectator_delay if seat is None else 0
        self._asked: Decision | None = None

    async def messages(self) -> AsyncGenerator[Message, None]:
        """Everything in order, to the end of the hand.

        Raises PlatformError where it ends before: resumable ones, and UNAUTHENTICATED for a token that was
        revoked meanwhile.
        """
        every = self._streams
        watcher = Watcher(every.keep_alive_seconds)
        life = SignOfLife(every.callers, every.presence, self._caller, self._secret, every.keep_alive_seconds)
        with every.registry.counted("game", self._caller, watcher):
            async with every.feeds.watching(self._hand, watcher) as feed:
                async for message in self._beginning(feed):
                    yield message
                while True:
                    watcher.clear()
                    if feed.error is not None:
                        raise feed.error
                    shown = feed.shown_version(self._delay)
                    if shown > self._next:
                        told = feed.after(self._next)
                        if told is None:
                            metrics.STREAMS_CUT.labels("behind").inc()
                            raise _too_slow()
                        told = told[: shown - self._next]
                        self._version = shown
                        watcher.has_spoken()
                        yield Happened(told)
                        continue
                    if feed.is_over:
                        outcome = feed.position.state.public.outcome
                        if outcome is not None:
                            yield Ended(outcome)
                        return
                    asked = self.ask(feed.position)
                    if asked is not None:
                        yield asked
                        continue
                    every.registry.check()
                    await life.check()
                    if watcher.is_silent():
                        watcher.has_spoken()
                        yield KeepAlive()
                        continue
                    await watcher.wait()

    @property
    def _next(self) -> int:
        return self._version or 0

    async def _beginning(self, feed: Feed) -> AsyncIterator[Message]:
        shown = feed.shown_version(self._delay)
        if self._version is None:
            self._version = shown
            position = feed.position
            if shown < feed.version:
                position = await position_at(self._streams.store, self._hand, shown)
            yield Snapshot(shown, view(position.state, self.viewer))
        elif self._version < shown and feed.after(self._version) is None:
            # Longer ago than what is kept: from the log, to where the feed goes on.
            commits = await self._streams.store.read_stream(self.game_id, self._version)
            for commit in commits:
                events = decode_stored(commit.payload, commit.schema_version)
                told = [
                    each
                    for each in numbered(commit.first_version - 1, events)
                    if self._version < each.version <= shown
                ]
                if told:
                    self._version = told[-1].version
                    yield Happened(told)

    def ask(self, position: Position) -> Asked | None:
        """The question to the viewer's seat, unless it was told (R5.0: others' answers bring up none)."""
        awaited = None if self.viewer is None else position.awaited_from(self.viewer)
        if self.viewer is None or awaited is None or awaited.kind != "player":
            self._asked = None
            return None
        if awaited.decision == self._asked:
            return None
        self._asked = awaited.decision
        state = position.state
        return Asked(state.public.version, legal_actions(state, self.viewer), awaited.deadline_ms)


class SignOfLife:
    """Notes that a stream's player is there, and that his token is still good, every few seconds."""

    def __init__(
        self, callers: Callers, presence: Presence, caller: Caller, secret: str, every_seconds: float
    ) -> None:
        self._callers = callers
        self._presence = presence
        self._caller = caller
        self._secret = secret
        self._every_seconds = every_seconds
        self._due = time.monotonic() + every_seconds

    async def check(self) -> None:
        """Raises PlatformError (UNAUTHENTICATED) for a token that was revoked or has expired."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self._every_seconds
        self._presence.note(self._caller.player_id)
        await self._callers.caller(self._secret)


async def is_woken(watcher: asyncio.Event, seconds: float) -> bool:
    """Whether a watcher is set within some seconds; it is cleared then."""
    try:
        async with asyncio.timeout(seconds):
            await watcher.wait()
    except TimeoutError:
        return False
    watcher.clear()
    return True


async def position_at(store: EventStore, hand: Hand, version: int) -> Position:
    """Where a game stood after the commits that end with `version` or before."""
    commits = [each for each in await store.read_stream(hand.game_id) if each.version <= version]
    position = position_after(None, commits, hand.seats)
    if position is None:
        raise game_not_found(hand.game_id)
    return position


def _too_slow() -> PlatformError:
    return PlatformError(
        "READER_TOO_SLOW", "read too slowly: open the stream again after the last event received"
    )
