"""Connection pools with the store's operating limits on every connection."""

from __future__ import annotations

import select
from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

Connection = psycopg.AsyncConnection[TupleRow]

# How the client's side notices a server that is gone without a word: unanswered data, and silence.
_LOST_SERVER = {
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a connection may hold things up.

    A write transaction that is left open hides the newest commits from every reader of the cluster, so the
    database ends it.
    """

    idle_in_transaction_seconds: float = 5.0
    transaction_seconds: float = 30.0
    statement_seconds: float = 30.0
    lock_seconds: float = 10.0


class Pool(AsyncConnectionPool[Connection]):
    """A pool that lends no connection which the server has closed, and asks the server nothing for that."""

    async def getconn(self, timeout: float | None = None) -> Connection:  # noqa: ASYNC109 (the base class's)
        """As in the base class; a restart of the server costs the next callers new connections, no error."""
        while True:
            connection = await super().getconn(timeout)
            if not _has_unread(connection):
                return connection
            await connection.close()
            await self.putconn(connection)  # which has the pool make another


def _has_unread(connection: Connection) -> bool:
    """Whether the server has sent anything on an idle connection: the end of it, or news that make it no
    better than a new one.
    """
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    return bool(poll.poll(0))


def make_pool(
    dsn: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    limits: Limits | None = None,
    application: str = "baohuang",
    wait_seconds: float = 10.0,
) -> Pool:
    """A closed pool of autocommit connections; open it with `async with pool:` or `await pool.open()`.

    Make and open it after a process has forked, inside the running event loop. `wait_seconds` is how long a
    caller waits for a free connection before PoolTimeout, which the store raises as StoreUnavailable.
    """
    bounds = limits or Limits()

    async def configure(connection: Connection) -> None:
        settings = {
            "idle_in_transaction_session_timeout": bounds.idle_in_transaction_seconds,
            "statement_timeout": bounds.statement_seconds,
            "lock_timeout": bounds.lock_seconds,
        }
        if connection.info.server_version >= 170_000:
            settings["transaction_timeout"] = bounds.transaction_seconds
        await connection.execute(
            "select set_config(name, value, false) from unnest(%s::text[], %s::text[]) as s (name, value)",
            [list(settings), [f"{round(seconds * 1000)}ms" for seconds in settings.values()]],
        )

    return Pool(
        dsn,
        connection_class=psycopg.AsyncConnection[TupleRow],
        # One statement is one transaction, and so an append one round trip. Appends demand READ COMMITTED,
        # whatever the database's default is. After five uses psycopg prepares a statement on the server.
        kwargs={
            "autocommit": True,
            "application_name": application,
            "options": "-c default_transaction_isolation=read\\ committed",
            **_LOST_SERVER,
        },
        min_size=min_size,
        max_size=max_size,
        timeout=wait_seconds,
        configure=configure,
        open=False,
        name=application,
    )
