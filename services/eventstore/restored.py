"""A log that came out of a dump: how to notice, and how to make it readable again.

Rows carry the id of the transaction that wrote them, and readers stop at the horizon of running transactions.
In another cluster, whose transaction ids are lower, restored rows would be stored and never seen, and new
ones would sort before them.
"""

from __future__ import annotations

import psycopg
from psycopg.rows import TupleRow

from services.eventstore import sql
from services.eventstore.errors import MigrationError, RestoredDump, translated_errors
from services.eventstore.pool import Connection, Pool


async def check_restored(pool: Pool) -> None:
    """The start-up guard of everything that appends or reads.

    Raises RestoredDump, StoreUnavailable, and MigrationError where there is no log.
    """
    try:
        with translated_errors():
            async with pool.connection() as connection:
                is_restored = await _is_restored(connection)
    except psycopg.errors.UndefinedTable as error:
        raise MigrationError(
            "there is no log in this database: run `python -m services.eventstore migrate`"
        ) from error
    if is_restored:
        raise RestoredDump(
            "the log was restored from another cluster, so that readers would never see most of it: stop "
            "every service and run `python -m services.eventstore cure-restored-dump`"
        )


async def cure_restored_dump(dsn: str) -> int:
    """Renumber a restored log in its old order so that this cluster's readers see it; gives how many rows.

    Checkpoints and parked commits move along, so subscriptions go on where they were; cursors that outsiders
    hold are no longer valid (`EventStore.check_cursor` refuses them). Does nothing, and gives 0, if the log
    is in order. Everything that uses the log must be stopped. Raises StoreUnavailable.
    """
    with translated_errors():
        async with await psycopg.AsyncConnection[TupleRow].connect(dsn) as connection:
            await connection.execute(sql.LOCK_EVERYTHING)
            if not await _is_restored(connection):
                return 0
            count = (await connection.execute(sql.RENUMBER)).rowcount
            await connection.execute(sql.INDEX_RENUMBERED)
            await connection.execute(sql.BEGIN_GENERATION)
            for statement in sql.MOVE_RENUMBERED:
                await connection.execute(statement)
            return count


async def _is_restored(connection: Connection) -> bool:
    row = await (await connection.execute(sql.IS_RESTORED)).fetchone()
    return row is not None and bool(row[0])
