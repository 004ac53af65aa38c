"""Games as the log has them: fold, decide, append."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from baohuang.rpc.codec import encode_events
from baohuang.rules.commands import Command, StartAutoPlay
from baohuang.rules.decide import execute
from baohuang.rules.errors import BaohuangError, Reason, RuleError
from baohuang.rules.events import AutoPlayReason, Event
from baohuang.rules.state import State
from services.engine import metrics
from services.engine.cache import StateCache
from services.engine.feeds import Feeds, News
from services.engine.log import events_of, fold_commits
from services.engine.orders import Order
from services.eventstore import Appended, EventStore, VersionConflict
from services.kit.errors import PlatformError
from services.kit.stored_events import SCHEMA_VERSION

CACHED_GAMES: Final = 2_000
_KNOWN: Final = metrics.CACHE.labels("current")
_NEVER: Final = (1 << 31) - 2
"""A version that no game comes to."""


class Done(NamedTuple):
    """What an order came to: events and the state after them, of the first time if it `is_repeated`."""

    events: tuple[Event, ...]
    state: State
    is_repeated: bool


class _LockOfGame:
    """A lock for each game that somebody is busy with."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, game_id: str) -> asyncio.Lock:
        lock = self._locks.get(game_id)
        if lock is None:
            lock = self._locks[game_id] = asyncio.Lock()
        return lock


class Games:
    """Executes orders against the log. Any number of these may work on the same games at the same time.

    A game's stream is its id. Nothing but the log is trusted: a cached state only saves reading it again. The
    append tells whether that state was the newest, and before anything is refused the log is asked.
    """

    def __init__(
        self, store: EventStore, feeds: Feeds | None = None, *, cached_games: int = CACHED_GAMES
    ) -> None:
        self._store = store
        self._feeds = feeds
        self._cache = StateCache(cached_games)
        self._orders = _LockOfGame()
        self._readings = _LockOfGame()

    async def start(self, order: Order) -> Done:
        """Begins a game.

        Raises `BaohuangError` for a deal that cannot be, `PlatformError` (GAME_EXISTS), `StoreError`.
        """
        events, after = execute(None, order.command)
        async with self._orders.of(order.game_id):
            try:
                appended = await self._append(order, 0, events)
            except VersionConflict as error:
                raise PlatformError("GAME_EXISTS", f"there is a game {order.game_id} already") from error
            return await self._done(appended, events, after)

    async def execute(self, order: Order) -> Done:
        """Does what an order asks, or gives again what came of it the first time.

        An order that loses a race is decided anew on the state that the winner left, as long as its expected
        version holds. Raises `RuleError`, `PlatformError` (GAME_NOT_FOUND, VERSION_CONFLICT), `StoreError`.
        """
        # One at a time: else a game that is fought over takes all connections.
        async with self._orders.of(order.game_id):
            return await self._execute(order)

    async def _execute(self, order: Order) -> Done:
        state = self._cache.get(order.game_id)
        is_cached = state is not None
        if state is None:
            state = await self.current(order.game_id)
        while True:  # each turn means that another order was done, and a game ends
            try:
                done = await self._attempt(order, state)
            except VersionConflict:
                pass
            except (BaohuangError, PlatformError):
                # The log may have gone on from this state, or hold this very order.
                found = await self._look_up(order)
                if isinstance(found, Appended):
                    return await self._done_before(found)
                if found == state.version:
                    raise
            else:
                if is_cached:
                    _KNOWN.inc()
                return done
            state, is_cached = await self.current(order.game_id), False

    async def current(self, game_id: str) -> State:
        """The state after all that is in the log; raises `PlatformError` (GAME_NOT_FOUND), `StoreError`."""
        if self._cache.get(game_id) is not None:
            return await self._read(game_id)
        # Of many who ask for it at once one reads it whole.
        async with self._readings.of(game_id):
            return await self._read(game_id)

    async def _read(self, game_id: str) -> State:
        cached = self._cache.get(game_id)
        rest = await self._store.read_stream(game_id, 0 if cached is None else cached.version)
        state = fold_commits(cached, rest)
        if state is None:
            raise PlatformError("GAME_NOT_FOUND", f"there is no game {game_id}")
        metrics.CACHE.labels("absent" if cached is None else "older" if rest else "current").inc()
        self._cache.put(game_id, state)
        return state

    async def events_after(self, game_id: str, version: int, last: int) -> list[Event]:
        """The events of a game behind the first `version`, up to and with number `last`."""
        events: list[Event] = []
        for commit in await self._store.read_stream(game_id, version):
            # A commit of which only some are wanted comes whole.
            first = max(version + 1 - commit.first_version, 0)
            events += events_of(commit)[first : max(last + 1 - commit.first_version, 0)]
        return events

    async def _attempt(self, order: Order, state: State) -> Done:
        """Decides on `state` and appends; raises `VersionConflict` if the log has gone on from there."""
        _check_expected(order, state)
        events, after = execute(state, order.command)
        _check_timeout(order.command, state)
        return await self._done(await self._append(order, state.version, events), events, after)

    async def _done(self, appended: Appended, events: tuple[Event, ...], after: State) -> Done:
        if appended.is_repeated:
            return await self._done_before(appended)
        self._cache.put(appended.stream, after)
        self._tell(appended.stream, News(events, after))
        if after.public.outcome is not None:
            metrics.GAMES_FINISHED.labels(
                after.public.rules.name, str(after.public.outcome.termination)
            ).inc()
        return Done(events, after, is_repeated=False)

    async def _append(self, order: Order, version: int, events: Sequence[Event]) -> Appended:
        return await self._store.append(
            order.game_id,
            command_id=order.command_id,
            fingerprint=order.fingerprint,
            expected_version=version,
            payload=encode_events(events),
            event_count=len(events),
            schema_version=SCHEMA_VERSION,
        )

    async def _look_up(self, order: Order) -> Appended | int:
        """The commit of an order that was done before, else the game's version; raises `CommandReused`.

        One call, without reading the log: the store looks for the command before it compares versions.
        """
        try:
            return await self._store.append(
                order.game_id,
                command_id=order.command_id,
                fingerprint=order.fingerprint,
                expected_version=_NEVER,
                payload=b"",
                event_count=1,
            )
        except VersionConflict as error:
            return error.actual

    async def _done_before(self, appended: Appended) -> Done:
        """What an order came to the first time."""
        log = await self._store.read_stream(appended.stream)
        state = fold_commits(None, [commit for commit in log if commit.version <= appended.version])
        if state is None:
            raise RuntimeError(f"{appended.stream}: the log has lost a commit that it had")
        events = events_of(appended)
        self._tell(appended.stream, News(events, state))
        return Done(events, state, is_repeated=True)

    def _tell(self, game_id: str, news: News) -> None:
        if self._feeds is not None:
            self._feeds.tell(game_id, news)


def _check_expected(order: Order, state: State) -> None:
    """Raises `PlatformError` unless what the order answers is still asked."""
    public, expected = state.public, order.expected_version
    # Not equality: in an open step other seats' answers, and auto-play, change nothing for this one (R5.0).
    if expected is not None and not public.opened_version <= expected <= public.version:
        raise PlatformError(
            "VERSION_CONFLICT",
            f"expected version {expected}, but the game is at version {public.version}",
            details={"version": public.version},
        )


def _check_timeout(command: Command, state: State) -> None:
    """Raises `RuleError` if a seat is said to have run out of time that is not awaited (R9.1)."""
    if (
        isinstance(command, StartAutoPlay)
        and command.why is AutoPlayReason.TIMEOUT
        and command.seat not in state.to_act
    ):
        # The seat may have answered in the last moment, in a step whose version stands still.
        raise RuleError(
            Reason.NOT_YOUR_TURN,
            f"seat {command.seat} is not awaited, so its time cannot have run out",
            clause="R9.1",
            seat=command.seat,
        )
