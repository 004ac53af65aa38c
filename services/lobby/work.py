"""The two kinds of work that lie in the database until they are done: hands to open and turns to send."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

import structlog

from services.eventstore import Connection, Pool, StoreUnavailable
from services.eventstore.errors import translated_errors
from services.eventstore.subscription import Follower, Subscription
from services.eventstore.wakeups import WakeupListener
from services.lobby import metrics, sql
from services.lobby.broker import BrokerAway, Turn, TurnSender
from services.lobby.engine import Engine, EngineAway, EngineRefused
from services.lobby.tables import HandToOpen, TableStore

RESEND_SECONDS = 4
_HANDS_AT_ONCE = 20
_TURNS_AT_ONCE = 100

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
    """Does some kind of work for ever: when woken, and every second in case nobody did the waking."""

    def __init__(self, name: str, do_some: Callable[[], Awaitable[int]], pause_seconds: float = 1.0) -> None:
        self._name = name
        self._do_some = do_some
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
            try:
                if await self._do_some():
                    continue
            except StoreUnavailable as error:
                _log.warning("work waits for the database", work=self._name, cause=str(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause_seconds):
                    await self.woken.wait()


class HandOpener:
    """Has the engine create the games of hands that are written down."""

    def __init__(self, tables: TableStore, engine: Engine) -> None:
        self._tables = tables
        self._engine = engine

    async def open_due(self) -> int:
        """Try those that are due; gives how many were tried. Raises StoreUnavailable."""
        hands = await self._tables.claim_hands_to_open(_HANDS_AT_ONCE)
        await asyncio.gather(*(self.open(hand) for hand in hands))
        return len(hands)

    async def open(self, hand: HandToOpen, deadline_seconds: float = 5.0) -> None:
        """Try to open one; if the engine is away, it will be tried again by whoever claims it next."""
        try:
            await self._engine.open_hand(hand, deadline_seconds)
        except EngineAway as error:
            metrics.OPENINGS_FAILED.labels("ENGINE_AWAY").inc()
            _log.warning("a hand waits", table_id=hand.table_id, game_id=hand.game_id, cause=str(error))
        except EngineRefused as error:
            metrics.OPENINGS_FAILED.labels("ENGINE_REFUSED").inc()
            _log.error("a table failed", table_id=hand.table_id, game_id=hand.game_id, cause=str(error))
            await self._tables.fail_hand(hand, str(error))
        else:
            metrics.HANDS_OPENED.inc()
            await self._tables.note_begun(hand.game_id)


class TurnDispatcher:
    """Sends the turns of built-in bots to the workers, and again those that nothing came of."""

    def __init__(self, pool: Pool, sender: TurnSender) -> None:
        self._pool = pool
        self._sender = sender

    async def send_due(self) -> int:
        """Send those that are due; gives how many were sent. Raises StoreUnavailable."""
        turns = await self._claim()
        if not turns:
            return 0
        try:
            sent = await self._sender.send(turns)
        except BrokerAway as error:
            sent = error.sent
            metrics.SENDS_FAILED.inc(len(turns) - sent)
            _log.warning("turns wait for the broker", turns=len(turns) - sent, cause=str(error))
            await self._release(turns[sent:])
        for turn in turns[:sent]:
            metrics.TURNS_SENT.labels("first" if turn.sends == 1 else "again").inc()
        return sent

    async def _claim(self) -> list[Turn]:
        with translated_errors():
            async with self._pool.connection() as connection:
                parameters = {"limit": _TURNS_AT_ONCE, "resend_seconds": RESEND_SECONDS}
                rows = await (await connection.execute(sql.CLAIM_TURNS, parameters)).fetchall()
        return [Turn._make(row) for row in rows]

    async def _release(self, turns: list[Turn]) -> None:
        with translated_errors():
            async with self._pool.connection() as connection:
                await connection.execute(
                    sql.RELEASE_TURNS,
                    {
                        "games": [turn.game_id for turn in turns],
                        "seats": [turn.seat for turn in turns],
                        "versions": [turn.version for turn in turns],
                    },
                )


async def refresh_metrics(pool: Pool) -> None:
    """Set the gauges of waiting work to what is true now. Raises StoreUnavailable."""
    with translated_errors():
        async with pool.connection() as connection:
            row = await (await connection.execute(sql.COUNT_WAITING)).fetchone()
    if row is not None:
        metrics.TURNS_WAITING.set(row[0])
        metrics.TURNS_LATE.set(row[1])
        metrics.HANDS_WAITING.set(row[2])
