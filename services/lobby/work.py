"""Work that lies in the database until it is done: hands to open, turns to send, times to keep."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, LiteralString

import structlog

from baohuang.rules.events import AutoPlayReason
from services.eventstore import Connection, Pool, StoreUnavailable
from services.eventstore.subscription import Follower, Subscription
from services.eventstore.wakeups import WakeupListener
from services.kit.errors import PlatformError
from services.lobby import metrics
from services.lobby.broker import BrokerAway, TurnSender
from services.lobby.database import connected
from services.lobby.engine import Engine, EngineAway, EngineRefused
from services.lobby.hands import Hands, HandToOpen
from services.lobby.turns import ClockTurn, Turns

_HANDS_AT_ONCE = 20
_TURNS_AT_ONCE = 100
_PAUSE_SECONDS = 1.0

# Somebody was quicker: the player in the last moment, or another clock.
_OVERTAKEN: Final = frozenset(
    {
        "VERSION_CONFLICT",
        "COMMAND_REUSED",
        "NOT_YOUR_TURN",
        "ALREADY_ANSWERED",
        "GAME_OVER",
        "ON_AUTO_PLAY",
        "NOT_ON_AUTO_PLAY",
        "ALREADY_FORFEITED",
    }
)

_log = structlog.get_logger(__name__)


class Wakes(Follower):
    """A follower that wakes others after a turn that applied something, when its writes can be seen."""

    def __init__(
        self,
        pool: Pool,
        subscription: Subscription,
        listener: WakeupListener | None,
        wakes: Sequence[asyncio.Event],
    ) -> None:
        super().__init__(pool, subscription, listener)
        self._wakes = wakes

    async def turn(self, connection: Connection | None = None) -> int:
        """As the follower's."""
        applied = await super().turn(connection)
        if applied:
            for woken in self._wakes:
                woken.set()
        return applied


class Worklist:
    """Does some kind of work for ever: when woken, and now and then in case nobody did the waking."""

    def __init__(
        self,
        name: str,
        do_some: Callable[[], Awaitable[int]],
        next_seconds: Callable[[], Awaitable[float | None]] | None = None,
        *,
        pause_seconds: float = _PAUSE_SECONDS,
    ) -> None:
        """`next_seconds` tells how long until something is due, where that is known."""
        self._name = name
        self._do_some = do_some
        self._next_seconds = next_seconds
        self._pause_seconds = pause_seconds
        self._is_stopping = False
        self.woken = asyncio.Event()

    def stop(self) -> None:
        """Make `run` return after what it is doing."""
        self._is_stopping = True
        self.woken.set()

    async def run(self) -> None:
        """Work until `stop`; outages are waited out."""
        while not self._is_stopping:
            self.woken.clear()
            pause = self._pause_seconds
            try:
                if await self._do_some():
                    continue
                known = None if self._next_seconds is None else await self._next_seconds()
                pause = pause if known is None else min(pause, known)
            except StoreUnavailable as error:
                _log.warning("work waits for the database", work=self._name, cause=str(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self.woken.wait()


class HandOpener:
    """Has the engine create the games of hands that are written down."""

    def __init__(self, hands: Hands, engine: Engine) -> None:
        self._hands = hands
        self._engine = engine

    async def open_due(self) -> int:
        """Try those that are due; gives how many were tried. Raises StoreUnavailable."""
        hands = await self._hands.claim_due(_HANDS_AT_ONCE)
        await asyncio.gather(*(self._open(hand) for hand in hands))
        return len(hands)

    async def open_now(self, game_id: str) -> None:
        """Try a hand that was just written, unless somebody else does. Raises StoreUnavailable."""
        hand = await self._hands.claim(game_id)
        if hand is not None:
            await self._open(hand)

    async def _open(self, hand: HandToOpen, deadline_seconds: float = 5.0) -> None:
        """Try to open one; if the engine is away, it will be tried again by whoever claims it next."""
        try:
            await self._engine.open_hand(hand, deadline_seconds)
        except EngineAway as error:
            metrics.OPENINGS_FAILED.labels("ENGINE_AWAY").inc()
            _log.warning("a hand waits", table_id=hand.table_id, game_id=hand.game_id, cause=str(error))
        except EngineRefused as error:
            metrics.OPENINGS_FAILED.labels("ENGINE_REFUSED").inc()
            _log.error("a table failed", table_id=hand.table_id, game_id=hand.game_id, cause=str(error))
            await self._hands.fail(hand, str(error))
        else:
            metrics.HANDS_OPENED.inc()
            await self._hands.note_begun(hand.game_id)


class TurnDispatcher:
    """Sends the turns of built-in bots to the workers, and again those that nothing came of."""

    def __init__(self, turns: Turns, sender: TurnSender) -> None:
        self._turns = turns
        self._sender = sender

    async def send_due(self) -> int:
        """Send those that are due; gives how many were sent. Raises StoreUnavailable."""
        turns = await self._turns.claim_of_bots(_TURNS_AT_ONCE)
        if not turns:
            return 0
        try:
            sent = await self._sender.send(turns)
        except BrokerAway as error:
            sent = error.sent
            metrics.SENDS_FAILED.inc(len(turns) - sent)
            _log.warning("turns wait for the broker", turns=len(turns) - sent, cause=str(error))
            await self._turns.release(turns[sent:])
        for turn in turns[:sent]:
            metrics.TURNS_SENT.labels("first" if turn.sends == 1 else "again").inc()
        return sent


class Clock:
    """Ends the time of players, and plays for them from then on (R9.1).

    The commands have ids that follow from the decision, so that any number of clocks do each of them once.
    """

    def __init__(self, turns: Turns, engine: Engine) -> None:
        self._turns = turns
        self._engine = engine

    async def enforce_due(self) -> int:
        """See to what is due; gives how many decisions. Raises StoreUnavailable."""
        turns = await self._turns.claim_of_clocks(_TURNS_AT_ONCE)
        await asyncio.gather(*(self._enforce(turn) for turn in turns))
        return len(turns)

    async def _enforce(self, turn: ClockTurn) -> None:
        decision = f"{turn.seat}.{turn.version}.{turn.answers}.{turn.starts}"
        try:
            if turn.kind == "player":
                applied = await self._engine.start_auto_play(
                    turn.game_id, f"timeout.{decision}", turn.seat, AutoPlayReason.TIMEOUT, turn.version
                )
                if not applied.is_repeated:
                    metrics.TURNS_TIMED_OUT.inc()
            else:
                await self._engine.auto_act(turn.game_id, f"auto.{decision}", turn.seat, turn.version)
        except PlatformError as error:
            if error.reason in _OVERTAKEN:
                return
            metrics.CLOCKS_FAILED.labels(error.reason).inc()
            log = _log.warning if error.is_retryable else _log.error
            log("a clock waits", game_id=turn.game_id, seat=turn.seat, tries=turn.tries, cause=str(error))
            if error.is_retryable:
                await self._turns.release([turn])


async def refresh_metrics(pool: Pool) -> None:
    """Set the gauges of waiting work to what is true now. Raises StoreUnavailable."""
    async with connected(pool) as connection:
        row = await (await connection.execute(_COUNT_WAITING)).fetchone()
    if row is not None:
        gauges = (
            metrics.TURNS_WAITING,
            metrics.TURNS_LATE,
            metrics.CLOCKS_RUNNING,
            metrics.HANDS_WAITING,
            metrics.TICKETS_WAITING,
        )
        for gauge, count in zip(gauges, row, strict=True):
            gauge.set(count)


_COUNT_WAITING: Final[LiteralString] = """
select count(*) filter (where kind = 'bot'),
    count(*) filter (where kind = 'bot' and sends > 1),
    count(*) filter (where kind = 'player'),
    (select count(*) from lobby.hands where status = 'opening'),
    (select count(*) from lobby.tickets where status = 'waiting')
from lobby.turns"""
