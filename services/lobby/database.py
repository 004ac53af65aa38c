"""How the lobby talks to its database."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, LiteralString

from psycopg.rows import DictRow, dict_row

from services.eventstore import Connection, Pool
from services.eventstore.errors import translated_errors

Parameters = Mapping[str, Any] | Sequence[Any]


@contextlib.asynccontextmanager
async def connected(pool: Pool) -> AsyncIterator[Connection]:
    """A connection on which each statement is a transaction. Raises StoreUnavailable."""
    with translated_errors():
        async with pool.connection() as connection:
            yield connection


@contextlib.asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """A connection in a transaction. Raises StoreUnavailable."""
    async with connected(pool) as connection, connection.transaction():
        yield connection


async def rows_of(connection: Connection, statement: LiteralString, parameters: Parameters) -> list[DictRow]:
    """All rows that a statement gives."""
    cursor = connection.cursor(row_factory=dict_row)
    return await (await cursor.execute(statement, parameters)).fetchall()


async def row_of(connection: Connection, statement: LiteralString, parameters: Parameters) -> DictRow | None:
    """The first row that a statement gives."""
    cursor = connection.cursor(row_factory=dict_row)
    return await (await cursor.execute(statement, parameters)).fetchone()


async def lock(connection: Connection, *names: str) -> None:
    """Keep out everybody who locks the same name, until the transaction ends."""
    await connection.execute(
        "select pg_advisory_xact_lock(hashtextextended(%s, 0))", [" ".join(("lobby", *names))]
    )
