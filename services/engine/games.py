"""Games as the log has them: fold, decide, append."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from baohuang.rpc.codec import decode_events, encode_events
from baohuang.rules.commands import Command, StartAutoPlay
from baohuang.rules.decide import execute
from baohuang.rules.errors import BaohuangError, Reason, RuleError
from baohuang.rules.events import AutoPlayReason, Event
from baohuang.rules.evolve import evolve
from baohuang.rules.state import State
from services.engine import metrics
from services.engine.cache import StateCache
from services.engine.orders import Order
from services.eventstore import Appended, Commit, EventStore, VersionConflict
from services.kit.errors import PlatformError

SCHEMA_VERSION: Final = 1
"""Of the events that this engine writes, and the only one that it reads."""
CACHED_GAMES: Final = 2_000


class Done(NamedTuple):
    """What an order came to: events and the state after them, of the first time if it `is_repeated`."""

    events: tuple[Event, ...]
    state: State
    is_repeated: bool


class Games:
    """Executes orders against the log. Any number of these may work on the same games at the same time.

    A game's stream is its id. Nothing but the log is trusted: a cached state only saves reading it again. The
    append tells whether that state was the newest, and before anything is refused the log is read.
    """

    def __init__(self, store: EventStore, *, cached_games: int = CACHED_GAMES) -> None:
        self._store = store
        self._cache = StateCache(cached_games)

    async def start(self, order: Order) -> Done:
        """Begins a game.

        Raises `BaohuangError` for a deal that cannot be, `PlatformError` (GAME_EXISTS), `StoreError`.
        """
        events, after = execute(None, order.command)
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
        cached = self._cache.get(order.game_id)
        if cached is not None:
            try:
                done = await self._attempt(order, cached)
            except (BaohuangError, PlatformError, VersionConflict):
                # The log may be ahead of the cached state, or hold this very order: it decides below.
                pass
            else:
                metrics.CACHE.labels("current").inc()
                return done
        while True:
            log = await self._store.read_stream(order.game_id)
            state = self._folded(order.game_id, log)
            earlier = next((commit for commit in log if commit.command_id == order.command_id), None)
            if earlier is not None:
                return _repeated(await self._append_again(order, earlier), log)
            try:
                return await self._attempt(order, state)
            except VersionConflict:
                continue  # each turn means that another order was done, and a game ends

    async def current(self, game_id: str) -> State:
        """The state after all that is in the log; raises `PlatformError` (GAME_NOT_FOUND), `StoreError`."""
        cached = self._cache.get(game_id)
        return self._folded(
            game_id, await self._store.read_stream(game_id, 0 if cached is None else cached.version)
        )

    async def _attempt(self, order: Order, state: State) -> Done:
        """Decides on `state` and appends; raises `VersionConflict` if the log has gone on from there."""
        _check_expected(order, state)
        events, after = execute(state, order.command)
        _check_timeout(order.command, state)
        return await self._done(await self._append(order, state.version, events), events, after)

    async def _done(self, appended: Appended, events: tuple[Event, ...], after: State) -> Done:
        if appended.is_repeated:
            return _repeated(appended, await self._store.read_stream(appended.stream))
        self._cache.put(appended.stream, after)
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

    async def _append_again(self, order: Order, earlier: Commit) -> Appended:
        """Lets the store judge whether an order is the one of an earlier commit; raises `CommandReused`."""
        return await self._store.append(
            order.game_id,
            command_id=order.command_id,
            fingerprint=order.fingerprint,
            expected_version=earlier.first_version - 1,
            payload=earlier.payload,
            event_count=earlier.event_count,
            schema_version=earlier.schema_version,
        )

    def _folded(self, game_id: str, log: Sequence[Commit]) -> State:
        """The state after a log, which may begin where the cached state ends."""
        cached = self._cache.get(game_id)
        known = 0 if cached is None else cached.version
        rest = [commit for commit in log if commit.version > known]
        state = fold(cached, rest)
        if state is None:
            raise PlatformError("GAME_NOT_FOUND", f"there is no game {game_id}")
        metrics.CACHE.labels("absent" if cached is None else "older" if rest else "current").inc()
        self._cache.put(game_id, state)
        return state


def fold(state: State | None, commits: Iterable[Commit]) -> State | None:
    """The state after `state` (None before the first event) and the events of these commits, in order.

    Raises `RuntimeError` for a commit that this program cannot read.
    """
    for commit in commits:
        for event in _events_of(commit):
            state = evolve(state, event)
    return state


def _events_of(commit: Commit | Appended) -> tuple[Event, ...]:
    if commit.schema_version != SCHEMA_VERSION:
        raise RuntimeError(f"{commit.stream} {commit.version}: events of schema {commit.schema_version}")
    try:
        return decode_events(commit.payload)
    except BaohuangError as error:
        # Not a fault of the client, whose errors would be told to him.
        raise RuntimeError(f"{commit.stream} {commit.version}: unreadable events") from error


def _repeated(appended: Appended, log: Iterable[Commit]) -> Done:
    """What an order came to the first time."""
    state = fold(None, [commit for commit in log if commit.version <= appended.version])
    if state is None:
        raise RuntimeError(f"{appended.stream}: the log has lost a commit that it had")
    return Done(_events_of(appended), state, is_repeated=True)


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
