"""Players who leave in the middle of a hand: told to the engine, however long it is away."""

from __future__ import annotations

from typing import Final, LiteralString, NamedTuple

import structlog

from baohuang.rules.events import AutoPlayReason, ForfeitReason
from services.eventstore import Pool
from services.kit.errors import PlatformError
from services.lobby import metrics
from services.lobby.database import connected, rows_of
from services.lobby.engine import Engine

_AT_ONCE: Final = 20
# Nothing is left to tell.
_DONE: Final = frozenset({"ALREADY_FORFEITED", "ON_AUTO_PLAY", "GAME_OVER", "COMMAND_REUSED"})

_log = structlog.get_logger(__name__)


class Departure(NamedTuple):
    """A player who leaves a seat: to auto-play (`exit`) or for good (`forced_exit`, `removed`)."""

    command_id: str
    game_id: str
    seat: int
    kind: str


class Departures:
    """Tells the engine who left. Methods raise StoreUnavailable."""

    def __init__(self, pool: Pool, engine: Engine) -> None:
        self._pool = pool
        self._engine = engine

    async def tell_due(self) -> int:
        """Tell those that are due; gives how many were tried."""
        async with connected(self._pool) as connection:
            rows = await rows_of(connection, _CLAIM_DUE, {"limit": _AT_ONCE})
        for row in rows:
            await self._tell(Departure(**row))
        return len(rows)

    async def _tell(self, departure: Departure) -> None:
        try:
            await self._command(departure)
        except PlatformError as error:
            if error.reason not in _DONE:
                # A game that has not begun yet will, or its hand is given up and the row goes with it.
                metrics.DEPARTURES_FAILED.labels(error.reason).inc()
                _log.warning("a departure waits", game_id=departure.game_id, cause=str(error))
                return
        async with connected(self._pool) as connection:
            await connection.execute(_NOTE_DONE, [departure.command_id])

    async def _command(self, departure: Departure) -> None:
        game_id, command_id, seat = departure.game_id, departure.command_id, departure.seat
        if departure.kind == "exit":
            await self._engine.start_auto_play(game_id, command_id, seat, AutoPlayReason.LEFT)
        else:
            await self._engine.forfeit(game_id, command_id, seat, ForfeitReason(departure.kind))


_CLAIM_DUE: Final[LiteralString] = """
with due as (
    select command_id from lobby.departures
    where not done and due_at <= clock_timestamp()
    order by due_at limit %(limit)s
    for update skip locked
)
update lobby.departures
set attempts = attempts + 1, due_at = clock_timestamp() + interval '1 second' * (1 << least(attempts, 5)),
    done = not exists (
        select from lobby.hands where hands.game_id = departures.game_id and status in ('opening', 'playing')
    )
from due where departures.command_id = due.command_id
returning departures.command_id, game_id, seat, kind"""

_NOTE_DONE: Final[LiteralString] = "update lobby.departures set done = true where command_id = %s"
