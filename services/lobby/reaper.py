"""Ends what nobody is left to end: every state that a table, seat, ticket or turn can be in has a way out."""

from __future__ import annotations

from typing import Final, LiteralString

import structlog

from services.eventstore import Pool
from services.lobby import metrics
from services.lobby.answers import KEPT_SECONDS
from services.lobby.database import connected, rows_of, transaction
from services.lobby.seating import free
from services.lobby.seats import close_table, lock_seating, write_seating
from services.lobby.tables import AWAY_SECONDS

SEAT_SECONDS: Final = 300
"""After so much silence a player loses his seat at a gathering table."""
IDLE_SECONDS: Final = 3_600
"""A table that gathers and at which nothing happens for so long is dissolved."""
STUCK_TRIES: Final = 60
"""So often, over half an hour, a clock tries a decision; for a bot's it may be a whole day's worth."""
_AT_ONCE: Final = 100

_log = structlog.get_logger(__name__)


class Reaper:
    """Any number of these may work at once. Methods raise StoreUnavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def reap(self) -> int:
        """Do all that is due; gives 0, for the next time is after a pause."""
        for what, statement, parameters in (
            ("ready", _UNREADY_AWAY, {"seconds": AWAY_SECONDS}),
            ("ticket", _EXPIRE_TICKETS, {"seconds": AWAY_SECONDS}),
            ("idle table", _CLOSE_IDLE, {"seconds": IDLE_SECONDS}),
            ("stuck table", _FAIL_STUCK, {"tries": STUCK_TRIES}),
            ("answer", _FORGET_ANSWERS, {"seconds": KEPT_SECONDS, "limit": 1_000}),
            ("departure", _FORGET_DEPARTURES, {"seconds": KEPT_SECONDS}),
        ):
            async with connected(self._pool) as connection:
                cursor = await connection.execute(statement, parameters)
                self._note(what, cursor.rowcount)
        await self._free_seats()
        return 0

    async def _free_seats(self) -> None:
        async with connected(self._pool) as connection:
            rows = await rows_of(connection, _LONG_AWAY, {"seconds": SEAT_SECONDS, "limit": _AT_ONCE})
        for row in rows:
            async with transaction(self._pool) as connection:
                before = await lock_seating(connection, row["table_id"])
                if before.status != "gathering" or before.seat_of(row["player_id"]) is None:
                    continue
                after = free(before, row["player_id"])
                await write_seating(connection, before, after)
                if after.host_id is None:
                    await close_table(connection, before.table_id, "everybody left")
            self._note("seat", 1)

    def _note(self, what: str, count: int) -> None:
        if count > 0:
            metrics.REAPED.labels(what).inc(count)
            _log.info("reaped", what=what, count=count)


_UNREADY_AWAY: Final[LiteralString] = """
update lobby.seats set ready = false from lobby.tables, lobby.players
where tables.table_id = seats.table_id and players.player_id = seats.player_id
    and status = 'gathering' and ready
    and seen_at < clock_timestamp() - %(seconds)s * interval '1 second'"""

_LONG_AWAY: Final[LiteralString] = """
select table_id, player_id
from lobby.tables join lobby.seats using (table_id) join lobby.players using (player_id)
where status = 'gathering' and seen_at < clock_timestamp() - %(seconds)s * interval '1 second'
order by table_id, seat limit %(limit)s"""

_EXPIRE_TICKETS: Final[LiteralString] = """
update lobby.tickets set status = 'expired' from lobby.players
where players.player_id = tickets.player_id and status = 'waiting'
    and greatest(tickets.seen_at, players.seen_at) < clock_timestamp() - %(seconds)s * interval '1 second'"""

_CLOSE_IDLE: Final[LiteralString] = """
update lobby.tables
set status = 'dissolved', reason = 'nothing happened for too long', changed_at = clock_timestamp()
where status = 'gathering' and changed_at < clock_timestamp() - %(seconds)s * interval '1 second'"""

# The log of such a game cannot be read by this release, or the engine refuses what the lobby knows of it.
_FAIL_STUCK: Final[LiteralString] = """
with stuck as (
    delete from lobby.turns using lobby.hands
    where turns.game_id = hands.game_id
        and sends >= case kind when 'bot' then 24 * %(tries)s else %(tries)s end
    returning hands.table_id, hands.game_id
), failed as (
    update lobby.hands set status = 'failed' from stuck
    where hands.game_id = stuck.game_id and hands.status = 'playing'
)
update lobby.tables
set status = 'failed', reason = 'its game does not go on', changed_at = clock_timestamp()
from stuck where tables.table_id = stuck.table_id and status in ('starting', 'playing')"""

_FORGET_ANSWERS: Final[LiteralString] = """
with old as (
    select player_id, key from lobby.answers
    where created_at < clock_timestamp() - %(seconds)s * interval '1 second'
    order by created_at limit %(limit)s
    for update skip locked
)
delete from lobby.answers using old where (answers.player_id, answers.key) = (old.player_id, old.key)"""

_FORGET_DEPARTURES: Final[LiteralString] = """
delete from lobby.departures
where done and kind = 'exit' and due_at < clock_timestamp() - %(seconds)s * interval '1 second'"""
