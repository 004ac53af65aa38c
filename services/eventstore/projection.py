"""Tables made from the log, and how to make them anew from zero beside the ones in use."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

from psycopg import sql as composing

from services.eventstore import sql
from services.eventstore.commit import BUCKETS, Commit
from services.eventstore.errors import RebuildRefused, translated_errors
from services.eventstore.pool import Connection, Pool
from services.eventstore.subscription import Follower, Subscription


class Projection(Protocol):
    """Tables in a schema of their own, `name`, that hold nothing but what follows from the log.

    Both methods name their tables without a schema: the connection's search path says whether they work on
    the tables in use or on those of a rebuild. Others read `name.table`. Tables of another origin do not
    belong into this schema, for a rebuild drops it.
    """

    @property
    def name(self) -> str: ...

    async def create(self, connection: Connection) -> None: ...

    async def apply(self, connection: Connection, commit: Commit) -> None: ...


def subscription_of(projection: Projection) -> Subscription:
    """The subscription that keeps the projection in use up to date."""
    return Subscription(projection.name, projection.apply, schema=projection.name)


async def create_projection(pool: Pool, projection: Projection) -> None:
    """Create the projection's schema and tables if they do not exist. Safe to call from many processes at
    once.
    """
    with translated_errors():
        async with pool.connection() as connection, connection.transaction():
            await _lock_in_transaction(connection, projection.name)
            if not await _schema_exists(connection, projection.name):
                await _create(connection, projection, projection.name)


async def rebuild(pool: Pool, projection: Projection) -> int:
    """Make the projection anew from the first commit, then put it in the place of the one in use, all at
    once.

    The one in use stays up to date meanwhile. Gives how many commits were applied. A rebuild that was
    interrupted leaves nothing that the next one would trust. Raises RebuildRefused if another rebuild runs,
    or if commits were parked: the tables of the rebuild then stay in the schema `<name>_next` to be looked
    at.
    """
    next_name = f"{projection.name}_next"
    follower = Follower(pool, Subscription(next_name, projection.apply, schema=next_name))
    with translated_errors():
        async with pool.connection() as connection, _only_rebuild(connection, projection.name):
            await create_projection(pool, projection)
            await Follower(pool, subscription_of(projection)).prepare()
            async with connection.transaction():
                await _drop_schema(connection, next_name)
                await _forget_subscription(connection, next_name)
                await _create(connection, projection, next_name)
            total = await follower.catch_up()
            # With all buckets of the one in use locked, nobody is writing to it; what came meanwhile is
            # little.
            async with _all_buckets(connection, projection.name):
                while applied := await follower.turn(connection):
                    total += applied
                await _refuse_if_parked(connection, next_name)
                await _switch(connection, projection.name, next_name)
            await _drop_schema(connection, f"{projection.name}_old")
    return total


async def _switch(connection: Connection, name: str, next_name: str) -> None:
    old_name = f"{name}_old"
    async with connection.transaction():
        await _drop_schema(connection, old_name)
        # Renaming takes no lock on the tables: queries that run finish on the old ones, later ones find the
        # new.
        await _rename_schema(connection, name, old_name)
        await _rename_schema(connection, next_name, name)
        await _forget_subscription(connection, name)
        for table in ("checkpoints", "parked_commits"):
            await connection.execute(
                composing.SQL("update eventstore.{} set subscription = %s where subscription = %s").format(
                    composing.Identifier(table)
                ),
                [name, next_name],
            )


async def _create(connection: Connection, projection: Projection, schema: str) -> None:
    name = composing.Identifier(schema)
    await connection.execute(composing.SQL("create schema {}").format(name))
    await connection.execute(composing.SQL("set local search_path = {}").format(name))
    await projection.create(connection)


async def _schema_exists(connection: Connection, schema: str) -> bool:
    cursor = await connection.execute("select from pg_namespace where nspname = %s", [schema])
    return cursor.rowcount > 0


async def _drop_schema(connection: Connection, schema: str) -> None:
    await connection.execute(
        composing.SQL("drop schema if exists {} cascade").format(composing.Identifier(schema))
    )


async def _rename_schema(connection: Connection, schema: str, new_name: str) -> None:
    await connection.execute(
        composing.SQL("alter schema {} rename to {}").format(
            composing.Identifier(schema), composing.Identifier(new_name)
        )
    )


async def _forget_subscription(connection: Connection, subscription: str) -> None:
    await connection.execute("delete from eventstore.checkpoints where subscription = %s", [subscription])
    await connection.execute("delete from eventstore.parked_commits where subscription = %s", [subscription])


async def _refuse_if_parked(connection: Connection, subscription: str) -> None:
    cursor = await connection.execute(
        "select count(*) from eventstore.parked_commits where subscription = %s", [subscription]
    )
    row = await cursor.fetchone()
    if row is not None and row[0]:
        raise RebuildRefused(
            f"{row[0]} commits were parked as {subscription}: the projection in use was left as it is"
        )


# A projection's own lock is the one of "bucket" 64, which no commit is in.
_LOCK: composing.SQL = composing.SQL("eventstore.lock_class_of(%s), 64")


async def _lock_in_transaction(connection: Connection, name: str) -> None:
    await connection.execute(composing.SQL("select pg_advisory_xact_lock({})").format(_LOCK), [name])


@contextlib.asynccontextmanager
async def _only_rebuild(connection: Connection, name: str) -> AsyncIterator[None]:
    next_name = f"{name}_next"
    cursor = await connection.execute(
        composing.SQL("select pg_try_advisory_lock({})").format(_LOCK), [next_name]
    )
    row = await cursor.fetchone()
    if row is None or not row[0]:
        raise RebuildRefused(f"the projection {name} is being rebuilt already")
    async with _closing_on_error(connection):
        yield
        await connection.execute(composing.SQL("select pg_advisory_unlock({})").format(_LOCK), [next_name])


@contextlib.asynccontextmanager
async def _all_buckets(connection: Connection, subscription: str) -> AsyncIterator[None]:
    async with _closing_on_error(connection):
        await connection.execute(sql.LOCK_ALL_BUCKETS, {"subscription": subscription})
        yield
        await connection.execute(
            sql.UNLOCK_BUCKETS, {"subscription": subscription, "buckets": list(range(BUCKETS))}
        )


@contextlib.asynccontextmanager
async def _closing_on_error(connection: Connection) -> AsyncIterator[None]:
    """Session locks end with the session: after an error nobody knows which of them are held."""
    try:
        yield
    except BaseException:
        await connection.close()
        raise
