"""Tables in the database: opened, read, and carried from hand to hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from baohuang import Due, Outcome, RuleSet
from baohuang.rules.table import Table as Totals
from services.eventstore import Connection, MigrationError, Pool
from services.eventstore.errors import translated_errors
from services.kit.errors import PlatformError
from services.kit.ids import is_id, new_id
from services.kit.paging import Place
from services.lobby import messages, sql


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


@dataclass(frozen=True)
class Opened:
    """A table that was asked for; `first_hand` is to be opened, None if the request was answered before."""

    table_id: str
    first_hand: HandToOpen | None


class TableStore:
    """The lobby's own tables. Holds nothing but its pool. Methods raise StoreUnavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def open(
        self, rules: RuleSet, bots: Sequence[str], hands: int, idempotency_key: str | None
    ) -> Opened:
        """Write a table with its first hand. The same key and request again give the table of the first time.

        Raises PlatformError (COMMAND_REUSED) for the same key with another request.
        """
        table_id, game_id = new_id(), new_id()
        options = rules.options()
        digest = _digest([rules.name, sorted(options.items()), list(bots), hands])
        parameters = {
            "table_id": table_id,
            "game_id": game_id,
            "preset": rules.name,
            "options": Jsonb(options),
            "bots": list(bots),
            "hands": hands,
            "key": idempotency_key,
            "digest": digest,
        }
        with translated_errors():
            async with self._pool.connection() as connection:
                # One statement is one transaction: a table never lacks its seats or its first hand.
                inserted = await (await connection.execute(sql.OPEN_TABLE, parameters)).fetchone()
                if inserted is not None:
                    return Opened(table_id, HandToOpen(table_id, 1, game_id, rules, 0, ()))
                found = await (await connection.execute(sql.FIND_BY_KEY, [idempotency_key])).fetchone()
        if found is None:
            raise RuntimeError("a table that conflicts by its idempotency key is not there")
        if found[1] != digest:
            raise PlatformError(
                "COMMAND_REUSED",
                f"the idempotency key {idempotency_key!r} is that of another request, for table {found[0]}",
            ).at("Idempotency-Key")
        return Opened(found[0], None)

    async def get(self, table_id: str) -> messages.Table:
        """A table as it stands. Raises PlatformError (TABLE_NOT_FOUND)."""
        if not is_id(table_id):
            raise _not_found(table_id)
        with translated_errors():
            # One transaction and one snapshot: the totals fit the hands.
            async with self._pool.connection() as connection, connection.transaction():
                await connection.execute("set transaction isolation level repeatable read, read only")
                cursor = connection.cursor(row_factory=dict_row)
                table = await (await cursor.execute(sql.READ_TABLE, [table_id])).fetchone()
                if table is None:
                    raise _not_found(table_id)
                seats = await (await cursor.execute(sql.READ_SEATS, [table_id])).fetchall()
                hands = await (await cursor.execute(sql.READ_HANDS, [table_id])).fetchall()
        return _table_message(table, seats, hands)

    async def page(self, limit: int, after: str | None) -> messages.TablePage:
        """The newest tables, or those older than the last one of the page that gave `after`.

        Raises PlatformError (MALFORMED_REQUEST) for an `after` that no page gave.
        """
        time_us, table_id = (None, None) if after is None else Place.parse(after)
        with translated_errors():
            async with self._pool.connection() as connection:
                cursor = connection.cursor(row_factory=dict_row)
                parameters = {"limit": limit + 1, "time_us": time_us, "table_id": table_id}
                rows = await (await cursor.execute(sql.READ_PAGE, parameters)).fetchall()
        shown = rows[:limit]
        return messages.TablePage(
            tables=[
                messages.TableSummary(
                    table_id=row["table_id"],
                    status=row["status"],
                    created_at_ms=row["created_at_us"] // 1000,
                    rules=messages.Rules(row["preset"], row["options"]),
                    hands_to_play=row["hands_to_play"],
                    hands_played=row["hands_played"],
                    latest_game_id=row["latest_game_id"],
                )
                for row in shown
            ],
            next=_place_of(shown[-1]).format() if len(rows) > limit else None,
        )

    async def claim_hands_to_open(self, limit: int) -> list[HandToOpen]:
        """Hands whose opening is due, for this caller to try now; they are due again after a pause."""
        with translated_errors():
            async with self._pool.connection() as connection:
                cursor = connection.cursor(row_factory=dict_row)
                rows = await (await cursor.execute(sql.CLAIM_HANDS_TO_OPEN, {"limit": limit})).fetchall()
        return [
            HandToOpen(
                row["table_id"],
                row["number"],
                row["game_id"],
                RuleSet.preset(row["preset"], **row["options"]),
                row["first_drawer"],
                _parse_dues(row["dues"]),
            )
            for row in rows
        ]

    async def fail_hand(self, hand: HandToOpen, why: str) -> None:
        """Give up a table whose next hand the engine will never open."""
        with translated_errors():
            async with self._pool.connection() as connection:
                await connection.execute(
                    sql.FAIL_HAND, {"table_id": hand.table_id, "number": hand.number, "why": why}
                )

    async def note_begun(self, game_id: str) -> None:
        """Note that the game of a hand has begun."""
        with translated_errors():
            async with self._pool.connection() as connection:
                await note_begun(connection, game_id)

    async def check(self) -> None:
        """Raises StoreUnavailable unless the lobby's tables can be read, MigrationError if there are none."""
        with translated_errors():
            async with self._pool.connection() as connection:
                try:
                    await connection.execute("select from lobby.tables limit 1")
                except psycopg.errors.UndefinedTable as error:
                    raise MigrationError(
                        "the lobby has no tables in this database: run `python -m services.lobby migrate`"
                    ) from error


async def note_begun(connection: Connection, game_id: str) -> None:
    """Note that the game of a hand has begun; does nothing if it is known, or no game of a table."""
    await connection.execute(sql.BEGIN_HAND, [game_id])


async def end_hand(connection: Connection, game_id: str, outcome: Outcome) -> None:
    """Store what a hand ended with, and write the table's next hand or its end.

    Does nothing if that was done before, or for no game of a table.
    """
    cursor = connection.cursor(row_factory=dict_row)
    row = await (await cursor.execute(sql.READ_TABLE_OF_GAME, [game_id])).fetchone()
    if row is None or row["hand_status"] == "ended":
        return
    totals = _totals(row).after(outcome)
    if totals.dissolved:
        status = "dissolved"
    else:
        status = "playing" if totals.hands < row["hands_to_play"] else "finished"
    dues = Jsonb(msgspec.to_builtins(totals.dues))
    outcome_json = Jsonb(msgspec.to_builtins(outcome))
    await connection.execute(sql.END_HAND, {"game_id": game_id, "outcome": outcome_json})
    await connection.execute(
        sql.UPDATE_TOTALS,
        {
            "table_id": row["table_id"],
            "status": status,
            "hands": totals.hands,
            "counted": totals.counted,
            "scores": list(totals.scores),
            "penalties": list(totals.penalties),
            "first_drawer": totals.first_drawer,
            "dues": dues,
        },
    )
    if status == "playing":
        await connection.execute(
            sql.ADD_HAND,
            {
                "table_id": row["table_id"],
                "number": totals.hands + 1,
                "game_id": new_id(),
                "first_drawer": totals.first_drawer,
                "dues": dues,
            },
        )


def _not_found(table_id: str) -> PlatformError:
    return PlatformError("TABLE_NOT_FOUND", f"there is no table {table_id[:64]!r}")


def _digest(content: object) -> bytes:
    return hashlib.sha256(msgspec.json.encode(content)).digest()


def _place_of(row: DictRow) -> Place:
    return Place(row["created_at_us"], row["table_id"])


def _parse_dues(dues: Any) -> tuple[Due, ...]:
    return msgspec.convert(dues, tuple[Due, ...])


def _totals(row: DictRow) -> Totals:
    return Totals(
        hands=row["hands_played"],
        counted=row["hands_counted"],
        scores=tuple(row["scores"]),
        penalties=tuple(row["penalties"]),
        first_drawer=row["first_drawer"],
        dues=_parse_dues(row["dues"]),
        dissolved=row["status"] == "dissolved",
    )


def _table_message(table: DictRow, seats: list[DictRow], hands: list[DictRow]) -> messages.Table:
    return messages.Table(
        table_id=table["table_id"],
        status=table["status"],
        created_at_ms=table["created_at_ms"],
        rules=messages.Rules(table["preset"], table["options"]),
        seats=[messages.Seat(row["seat"], row["bot"]) for row in seats],
        hands_to_play=table["hands_to_play"],
        hands=[msgspec.convert(row, messages.Hand) for row in hands],
        totals=messages.Totals(
            table["hands_played"], table["hands_counted"], table["scores"], table["penalties"]
        ),
        next_hand=messages.NextHand(
            table["first_drawer"], msgspec.convert(table["dues"], list[messages.DueMessage])
        ),
        dissolved=table["status"] == "dissolved",
        failure=table["failure"],
    )
