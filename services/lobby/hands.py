"""Hands in the database: written, opened by the engine, ended by what the log says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString

import msgspec
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from baohuang import Due, Outcome, RuleSet
from baohuang.rules.table import Table as Totals
from services.eventstore import Connection, Pool
from services.kit.ids import new_id
from services.lobby.database import connected, row_of, rows_of


@dataclass(frozen=True)
class HandToOpen:
    """A hand whose game the engine is still to be asked for."""

    table_id: str
    number: int
    game_id: str
    rules: RuleSet
    first_drawer: int
    dues: tuple[Due, ...]

    @property
    def command_id(self) -> str:
        """The same for everybody who tries to open this hand, so that it has one game."""
        return f"{self.table_id}.{self.number}"


class Hands:
    """Hands that wait for the engine. Methods raise StoreUnavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def claim_due(self, limit: int) -> list[HandToOpen]:
        """Hands whose opening is due, for this caller to try now; they are due again after a pause."""
        async with connected(self._pool) as connection:
            return [_to_open(row) for row in await rows_of(connection, _CLAIM_DUE, {"limit": limit})]

    async def claim(self, game_id: str) -> HandToOpen | None:
        """A hand that was just written, if nobody has claimed it."""
        async with connected(self._pool) as connection:
            row = await row_of(connection, _CLAIM, [game_id])
        return None if row is None else _to_open(row)

    async def fail(self, hand: HandToOpen, why: str) -> None:
        """Give up a table whose next hand the engine will never open."""
        async with connected(self._pool) as connection:
            await connection.execute(_FAIL, {"game_id": hand.game_id, "why": why})

    async def note_begun(self, game_id: str) -> None:
        """Note that the game of a hand has begun."""
        async with connected(self._pool) as connection:
            await note_begun(connection, game_id)


async def add_hand(
    connection: Connection,
    table_id: str,
    number: int,
    first_drawer: int,
    dues: Sequence[Due],
    pause_seconds: int = 0,
) -> str:
    """Write a table's next hand for those who sit there now; gives its game's id."""
    game_id = new_id()
    await connection.execute(
        _ADD,
        {
            "table_id": table_id,
            "number": number,
            "game_id": game_id,
            "first_drawer": first_drawer,
            "dues": Jsonb(msgspec.to_builtins(dues)),
            "pause_seconds": pause_seconds,
        },
    )
    await connection.execute(_SEAT_PLAYERS, [game_id])
    return game_id


async def note_begun(connection: Connection, game_id: str) -> None:
    """Note that the game of a hand has begun; does nothing if it is known, or no game of a table."""
    await connection.execute(_BEGIN, [game_id])


async def end_hand(connection: Connection, game_id: str, outcome: Outcome) -> None:
    """Store what a hand ended with, and write the table's next hand or its end.

    Does nothing if that was done before, or for no game of a table.
    """
    row = await row_of(connection, _READ_TABLE_OF_GAME, [game_id])
    if row is None or row["hand_status"] == "ended":
        return
    totals = _totals(row).after(outcome)
    reason = None
    if row["status"] not in ("starting", "playing"):
        # Given up in the meantime: the hand counts, the table does not go on.
        status, reason = row["status"], row["reason"]
    elif totals.dissolved:
        status, reason = "dissolved", "a seat was on auto-play at the end of a hand (R9.4)"
    else:
        status = "playing" if totals.hands < row["hands_to_play"] else "finished"
    await connection.execute(_END, {"game_id": game_id, "outcome": Jsonb(msgspec.to_builtins(outcome))})
    await connection.execute(
        _UPDATE_TOTALS,
        {
            "table_id": row["table_id"],
            "status": status,
            "reason": reason,
            "hands": totals.hands,
            "counted": totals.counted,
            "scores": list(totals.scores),
            "penalties": list(totals.penalties),
            "first_drawer": totals.first_drawer,
            "dues": Jsonb(msgspec.to_builtins(totals.dues)),
        },
    )
    if status == "playing":
        pause = row["pause_seconds"] if row["has_players"] else 0
        await add_hand(connection, row["table_id"], totals.hands + 1, totals.first_drawer, totals.dues, pause)


def parse_dues(dues: Any) -> tuple[Due, ...]:
    """What is owed, as the database keeps it."""
    return msgspec.convert(dues, tuple[Due, ...])


def _to_open(row: DictRow) -> HandToOpen:
    return HandToOpen(
        row["table_id"],
        row["number"],
        row["game_id"],
        RuleSet.preset(row["preset"], **row["options"]),
        row["first_drawer"],
        parse_dues(row["dues"]),
    )


def _totals(row: DictRow) -> Totals:
    return Totals(
        hands=row["hands_played"],
        counted=row["hands_counted"],
        scores=tuple(row["scores"]),
        penalties=tuple(row["penalties"]),
        first_drawer=row["first_drawer"],
        dues=parse_dues(row["dues"]),
    )


_ADD: Final[LiteralString] = """
with readiness as (
    update lobby.seats set ready = false where table_id = %(table_id)s and ready
)
insert into lobby.hands (table_id, number, game_id, first_drawer, dues, bots, due_at)
select %(table_id)s, %(number)s, %(game_id)s, %(first_drawer)s, %(dues)s,
    (select array_agg(bot order by seat) from lobby.seats where table_id = %(table_id)s),
    clock_timestamp() + %(pause_seconds)s * interval '1 second'"""

_SEAT_PLAYERS: Final[LiteralString] = """
insert into lobby.sittings (player_id, game_id, seat)
select player_id, game_id, seat from lobby.hands join lobby.seats using (table_id)
where game_id = %s and player_id is not null"""

_BEGIN: Final[LiteralString] = """
with begun as (
    update lobby.hands set status = 'playing' where game_id = %s and status = 'opening' returning table_id
)
update lobby.tables set status = 'playing', changed_at = clock_timestamp() from begun
where tables.table_id = begun.table_id and status = 'starting'"""

# A claim is a promise to try now; the next one may try after 1, 2, 4, ... 32 seconds, whatever became of it.
_CLAIMED: Final[LiteralString] = """
claimed as (
    update lobby.hands
    set attempts = attempts + 1, due_at = clock_timestamp() + interval '1 second' * (1 << least(attempts, 5))
    from due where hands.game_id = due.game_id
    returning hands.*
)
select claimed.table_id, number, game_id, claimed.first_drawer, claimed.dues, preset, options
from claimed join lobby.tables using (table_id)"""

_CLAIM_DUE: Final[LiteralString] = f"""
with due as (
    select game_id from lobby.hands
    where status = 'opening' and due_at <= clock_timestamp()
    order by due_at limit %(limit)s
    for update skip locked
), {_CLAIMED}"""

_CLAIM: Final[LiteralString] = f"""
with due as (
    select game_id from lobby.hands
    where game_id = %s and status = 'opening' and attempts = 0 and due_at <= clock_timestamp()
    for update skip locked
), {_CLAIMED}"""

_FAIL: Final[LiteralString] = """
with failed as (
    update lobby.hands set status = 'failed'
    where game_id = %(game_id)s and status = 'opening'
    returning table_id
)
update lobby.tables set status = 'failed', reason = %(why)s, changed_at = clock_timestamp()
from failed where tables.table_id = failed.table_id and status in ('starting', 'playing')"""

_READ_TABLE_OF_GAME: Final[LiteralString] = """
select tables.*, hands.status as hand_status,
    exists (select from lobby.seats where seats.table_id = tables.table_id and player_id is not null)
        as has_players
from lobby.hands join lobby.tables using (table_id) where game_id = %s
for update of tables"""

_END: Final[LiteralString] = """
update lobby.hands set status = 'ended', outcome = %(outcome)s, ended_at = clock_timestamp()
where game_id = %(game_id)s"""

_UPDATE_TOTALS: Final[LiteralString] = """
update lobby.tables
set status = %(status)s, reason = %(reason)s, hands_played = %(hands)s, hands_counted = %(counted)s,
    scores = %(scores)s, penalties = %(penalties)s, first_drawer = %(first_drawer)s, dues = %(dues)s,
    changed_at = clock_timestamp()
where table_id = %(table_id)s"""
