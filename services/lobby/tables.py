"""Tables in the database: opened and read."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final, LiteralString

import msgspec
import psycopg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from baohuang import RuleSet, RuleSetError
from services.eventstore import Connection, MigrationError, Pool
from services.kit.errors import PlatformError, to_platform_error
from services.kit.ids import is_id, new_id
from services.kit.paging import Place as PlaceInList
from services.lobby import seating
from services.lobby.answers import once
from services.lobby.callers import Caller
from services.lobby.database import connected, row_of, rows_of
from services.lobby.hands import add_hand
from services.lobby.messages import tables as messages
from services.lobby.messages.common import Due, Rules
from services.lobby.messages.players import Player
from services.lobby.seating import Place, Seating

AWAY_SECONDS: Final = 60
"""After so much silence a player counts as away."""
MOST_TABLES: Final = 100
"""Of one host, or with one player, at a time; programs may sit at `MOST_TABLES_OF_BOT`."""
MOST_TABLES_OF_BOT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Filters:
    """Which tables a list shows."""

    status: str | None = None
    preset: str | None = None
    is_open: bool = False


class Tables:
    """Opens and reads tables. Methods raise StoreUnavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def create(self, caller: Caller, request: messages.NewTable, key: str | None) -> messages.Table:
        """A new table with the caller as host; with five bots it begins at once.

        Raises PlatformError for rules, bots or seats that cannot be.
        """
        caller.require("play", "bot")
        rules = rule_set(request.rules)
        places = _first_places(caller, request)

        async def create(connection: Connection) -> messages.Table:
            await _check_count(connection, caller)
            table = Seating(new_id(), "gathering", caller.player_id, request.bots_allowed, places)
            await insert_table(connection, table, rules, request)
            await begin_if_ready(connection, table)
            return await read_table(connection, table.table_id, caller)

        return await once(self._pool, caller.player_id, key, ("CreateTable", request), messages.Table, create)

    async def get(self, table_id: str, caller: Caller | None) -> messages.Table:
        """A table as it stands. Raises PlatformError (TABLE_NOT_FOUND), also for a private one of others."""
        async with connected(self._pool) as connection, connection.transaction():
            # One snapshot: the totals fit the hands.
            await connection.execute("set transaction isolation level repeatable read, read only")
            return await read_table(connection, table_id, caller)

    async def page(self, filters: Filters, limit: int, after: str | None) -> messages.TablePage:
        """The newest public tables, or those older than the last one of the page that gave `after`.

        Raises PlatformError (MALFORMED_REQUEST) for an `after` that no page gave.
        """
        time_us, table_id = (None, None) if after is None else PlaceInList.parse(after)
        parameters = {
            "limit": limit + 1,
            "time_us": time_us,
            "table_id": table_id,
            "status": filters.status,
            "preset": filters.preset,
            "is_open": filters.is_open,
        }
        async with connected(self._pool) as connection:
            rows = await rows_of(connection, _READ_PAGE, parameters)
        shown = rows[:limit]
        return messages.TablePage(
            tables=[_summary(row) for row in shown],
            next=PlaceInList(shown[-1]["created_at_us"], shown[-1]["table_id"]).format()
            if len(rows) > limit
            else None,
        )

    async def check(self) -> None:
        """Raises StoreUnavailable unless the lobby's tables can be read, MigrationError if there are none."""
        async with connected(self._pool) as connection:
            try:
                await connection.execute("select from lobby.players limit 1")
            except psycopg.errors.UndefinedTable as error:
                raise MigrationError(
                    "the lobby lacks tables in this database: run `python -m services.lobby migrate`"
                ) from error


def rule_set(rules: Rules) -> RuleSet:
    """The rule set of a request. Raises PlatformError with the place of the fault in the request."""
    try:
        return RuleSet.preset(rules.preset, **rules.options)
    except RuleSetError as error:
        if "preset" in error.details:
            where = "rules.preset"
        elif "option" in error.details:
            where = f"rules.options.{error.details['option']}"
        else:
            where = "rules.options"
        raise to_platform_error(error).at(where) from error


async def insert_table(
    connection: Connection, table: Seating, rules: RuleSet, request: messages.NewTable
) -> None:
    """Write a new table with its five seats."""
    await connection.execute(
        _INSERT_TABLE,
        {
            "table_id": table.table_id,
            "status": table.status,
            "host_id": table.host_id,
            "preset": rules.name,
            "options": Jsonb(rules.options()),
            "hands": request.hands,
            "is_private": request.is_private,
            "code": _new_code() if request.is_private else None,
            "bots_allowed": request.bots_allowed,
            "turn_seconds": request.pace.turn_seconds,
            "opening_seconds": request.pace.opening_seconds,
            "pause_seconds": request.pace.pause_seconds,
            "spectator_delay": request.spectator_delay,
            "player_ids": [place.player_id for place in table.places],
            "bots": [place.bot for place in table.places],
            "ready": [place.ready for place in table.places],
        },
    )


async def begin_if_ready(connection: Connection, table: Seating) -> str | None:
    """Write the first hand of a gathering table whose five are ready; gives its game's id."""
    if table.status != "gathering" or not table.is_ready:
        return None
    await connection.execute(_START, [table.table_id])
    return await add_hand(connection, table.table_id, 1, 0, ())


async def read_table(
    connection: Connection, table_id: str, caller: Caller | None, *, is_leaving: bool = False
) -> messages.Table:
    """A table as a caller sees it, maybe for the last time. Raises PlatformError (TABLE_NOT_FOUND)."""
    table = await row_of(connection, _READ_TABLE, [table_id]) if is_id(table_id) else None
    if table is None:
        raise table_not_found(table_id)
    seats = await rows_of(connection, _READ_SEATS, [AWAY_SECONDS, table_id])
    insiders = (table["host_id"], *[seat["player_id"] for seat in seats])
    is_insider = is_leaving or (caller is not None and (caller.is_operator or caller.player_id in insiders))
    if table["is_private"] and not is_insider:
        raise table_not_found(table_id)
    hands = await rows_of(connection, _READ_HANDS, [table_id])
    return _table(table, seats, hands, table["code"] if is_insider else None)


def table_not_found(table_id: str) -> PlatformError:
    """The refusal for a table that is none, or is not for the caller's eyes."""
    return PlatformError("TABLE_NOT_FOUND", f"there is no table {table_id[:64]!r}")


async def check_seats(connection: Connection, caller: Caller) -> None:
    """Raises PlatformError (TOO_MANY) if the caller sits at as many live tables as he may."""
    most = MOST_TABLES_OF_BOT if caller.is_bot else MOST_TABLES
    row = await row_of(connection, _COUNT_SEATS, [caller.player_id])
    if row is not None and row["tables"] >= most:
        raise PlatformError("TOO_MANY", f"you sit at {most} tables already")


async def _check_count(connection: Connection, caller: Caller) -> None:
    await check_seats(connection, caller)
    most = MOST_TABLES_OF_BOT if caller.is_bot else MOST_TABLES
    row = await row_of(connection, _COUNT_HOSTED, [caller.player_id])
    if row is not None and row["tables"] >= most:
        raise PlatformError("TOO_MANY", f"you host {most} tables already")


def _first_places(caller: Caller, request: messages.NewTable) -> tuple[Place, ...]:
    places = []
    for seat, bot in enumerate(request.bots):
        places.append(Place() if bot is None else Place(bot=seating.checked_bot(bot, f"bots[{seat}]")))
    table = Seating("", "gathering", caller.player_id, request.bots_allowed, tuple(places))
    if not request.sit or (request.seat is None and not any(place.is_free for place in places)):
        return table.places
    caller.require_player()
    return seating.join(table, caller, request.seat).places


def _new_code() -> str:
    # No letters or digits that are taken for each other when read aloud or copied by hand.
    return "".join([secrets.choice("ABCDEFGHJKMNPQRSTUVWXYZ23456789") for _ in range(8)])


def _summary(row: DictRow) -> messages.TableSummary:
    return messages.TableSummary(
        table_id=row["table_id"],
        status=row["status"],
        created_at_ms=row["created_at_us"] // 1000,
        rules=Rules(row["preset"], row["options"]),
        hands_to_play=row["hands_to_play"],
        hands_played=row["hands_played"],
        free_seats=row["free_seats"],
        bots_allowed=row["bots_allowed"],
        latest_game_id=row["latest_game_id"],
    )


def _player(row: DictRow, prefix: str) -> Player | None:
    if row[f"{prefix}player_id"] is None:
        return None
    names = ("player_id", "name", "is_bot", "created_at_ms")
    return Player(*[row[f"{prefix}{name}"] for name in names])


def _seat(row: DictRow) -> messages.TableSeat:
    return messages.TableSeat(
        seat=row["seat"],
        player=_player(row, ""),
        bot=row["bot"],
        ready=row["bot"] is not None or row["ready"],
        away=bool(row["away"]),
    )


def _table(table: DictRow, seats: list[DictRow], hands: list[DictRow], code: str | None) -> messages.Table:
    return messages.Table(
        table_id=table["table_id"],
        status=table["status"],
        created_at_ms=table["created_at_ms"],
        rules=Rules(table["preset"], table["options"]),
        host=_player(table, "host_"),
        is_private=table["is_private"],
        code=code,
        bots_allowed=table["bots_allowed"],
        pace=messages.Pace(
            turn_seconds=table["turn_seconds"],
            opening_seconds=table["opening_seconds"],
            pause_seconds=table["pause_seconds"],
        ),
        spectator_delay=table["spectator_delay"],
        seats=[_seat(seat) for seat in seats],
        hands_to_play=table["hands_to_play"],
        hands=[msgspec.convert(row, messages.Hand) for row in hands],
        totals=messages.Totals(
            table["hands_played"], table["hands_counted"], table["scores"], table["penalties"]
        ),
        next_hand=messages.NextHand(table["first_drawer"], msgspec.convert(table["dues"], list[Due])),
        reason=table["reason"],
    )


_INSERT_TABLE: Final[LiteralString] = """
with new_table as (
    insert into lobby.tables (
        table_id, status, host_id, preset, options, hands_to_play, is_private, code, bots_allowed,
        turn_seconds, opening_seconds, pause_seconds, spectator_delay
    )
    values (
        %(table_id)s, %(status)s, %(host_id)s, %(preset)s, %(options)s, %(hands)s, %(is_private)s, %(code)s,
        %(bots_allowed)s, %(turn_seconds)s, %(opening_seconds)s, %(pause_seconds)s, %(spectator_delay)s
    )
    returning table_id
)
insert into lobby.seats (table_id, seat, player_id, bot, ready)
select table_id, place - 1, player_id, bot, ready
from new_table,
    unnest(%(player_ids)s::text[], %(bots)s::text[], %(ready)s::boolean[])
        with ordinality as sitting (player_id, bot, ready, place)"""

_START: Final[LiteralString] = """
update lobby.tables set status = 'starting', changed_at = clock_timestamp() where table_id = %s"""

_READ_TABLE: Final[LiteralString] = """
select tables.*, (extract(epoch from tables.created_at) * 1000)::bigint as created_at_ms,
    host.player_id as host_player_id, host.name as host_name, host.is_bot as host_is_bot,
    (extract(epoch from host.created_at) * 1000)::bigint as host_created_at_ms
from lobby.tables left join lobby.players as host on host.player_id = host_id
where table_id = %s"""

_READ_SEATS: Final[LiteralString] = """
select seat, bot, ready, player_id, name, is_bot,
    (extract(epoch from players.created_at) * 1000)::bigint as created_at_ms,
    seen_at < clock_timestamp() - %s * interval '1 second' as away
from lobby.seats left join lobby.players using (player_id)
where table_id = %s order by seat"""

_READ_HANDS: Final[LiteralString] = """
select number, game_id, status, first_drawer, dues, outcome,
    (extract(epoch from created_at) * 1000)::bigint as created_at_ms,
    (extract(epoch from ended_at) * 1000)::bigint as ended_at_ms
from lobby.hands where table_id = %s order by number"""

_READ_PAGE: Final[LiteralString] = """
select table_id, status, preset, options, hands_to_play, hands_played, bots_allowed,
    (extract(epoch from created_at) * 1000000)::bigint as created_at_us,
    (
        select count(*) from lobby.seats
        where seats.table_id = tables.table_id and player_id is null and bot is null
    ) as free_seats,
    (select game_id from lobby.hands where hands.table_id = tables.table_id order by number desc limit 1)
        as latest_game_id
from lobby.tables
where not is_private
    and (%(status)s::text is null or status = %(status)s)
    and (%(preset)s::text is null or preset = %(preset)s)
    and (
        not %(is_open)s or status = 'gathering' and exists (
            select from lobby.seats
            where seats.table_id = tables.table_id and player_id is null and bot is null
        )
    )
    and (
        %(time_us)s::bigint is null
        or (created_at, table_id)
            < (timestamptz 'epoch' + %(time_us)s * interval '1 microsecond', %(table_id)s)
    )
order by created_at desc, table_id desc
limit %(limit)s"""

_COUNT_SEATS: Final[LiteralString] = """
select count(*) as tables from lobby.seats join lobby.tables using (table_id)
where player_id = %s and status in ('gathering', 'starting', 'playing')"""

_COUNT_HOSTED: Final[LiteralString] = """
select count(*) as tables from lobby.tables
where host_id = %s and status in ('gathering', 'starting', 'playing')"""
