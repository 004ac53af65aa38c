"""Servers that are killed, and a log that comes out of a dump."""

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from services.eventstore import (
    START,
    Commit,
    EventStore,
    InvalidCursor,
    Pool,
    RestoredDump,
    StoreUnavailable,
    make_pool,
    migrate_eventstore,
)
from services.eventstore.__main__ import main
from services.eventstore.pool import Connection
from services.eventstore.restored import check_restored
from services.eventstore.subscription import Follower, Subscription
from services.local.postgres import LocalPostgres
from tests.integration.conftest import Databases
from tests.integration.eventstore.scene import append, read_on


@pytest.fixture
def own_postgres(server_folder: Path, bin_dir: Path | None, tmp_path: Path) -> Iterator[LocalPostgres]:
    """A server for one test, to be killed, or with transaction ids that begin at the beginning."""
    with LocalPostgres(server_folder / tmp_path.name, bin_dir=bin_dir) as server:
        migrate_eventstore(server.dsn)
        yield server


async def test_kill_9_of_the_server_loses_nothing_acknowledged(own_postgres: LocalPostgres) -> None:
    """Writers send each command until it is answered, a follower works, and the server is killed twice."""
    streams, versions = 12, 40
    acknowledged: set[tuple[str, int]] = set()
    progress = asyncio.Condition()

    async def write(store: EventStore, stream: str) -> None:
        for version in range(versions):
            while True:
                try:
                    answer = await append(store, stream, version)
                    break
                except StoreUnavailable:
                    continue
            assert answer.version == version + 1
            async with progress:
                acknowledged.add((stream, answer.version))
                progress.notify_all()

    async def project(connection: Connection, commit: Commit) -> None:
        await connection.execute(
            "insert into applied (stream, version) values (%s, %s)", [commit.stream, commit.version]
        )

    async with make_pool(own_postgres.dsn, min_size=4, max_size=20, wait_seconds=2) as pool:
        store = EventStore(pool)
        async with pool.connection() as connection:
            await connection.execute(
                "create table applied (stream text, version int, primary key (stream, version))"
            )
        follower = Follower(pool, Subscription("reader", project))
        following = asyncio.create_task(follower.run())
        writing = [asyncio.create_task(write(store, f"game-{number}")) for number in range(streams)]
        for count in (100, 300):
            async with progress:
                await progress.wait_for(lambda count=count: len(acknowledged) >= count)
            before = set(acknowledged)
            await asyncio.to_thread(own_postgres.kill)
            await asyncio.to_thread(own_postgres.start)
            with psycopg.connect(own_postgres.dsn) as look:
                stored = set(look.execute("select stream, version from eventstore.log").fetchall())
            assert before <= stored
        await asyncio.gather(*writing)
        applied = 0
        while applied < streams * versions:
            assert not following.done()
            async with pool.connection() as connection:
                row = await (await connection.execute("select count(*) from applied")).fetchone()
            assert row is not None
            applied = row[0]
        follower.stop()
        await following
        # Nobody writes now, so nothing hides the newest commits.
        log = await read_on(store)
        for stream in (f"game-{number}" for number in range(streams)):
            assert [c.version for c in log if c.stream == stream] == list(range(1, versions + 1))
        assert len(log) == streams * versions


async def test_a_restart_of_the_server_between_calls_fails_none_of_them(own_postgres: LocalPostgres) -> None:
    """The pool's idle connections are all dead then, and nobody but the server knows."""

    async def remember(connection: Connection, commit: Commit) -> None:
        pass

    async with make_pool(own_postgres.dsn, min_size=6, max_size=6) as pool:
        await pool.wait()
        store = EventStore(pool)
        follower = Follower(pool, Subscription("reader", remember))
        await follower.prepare()
        for end in (own_postgres.stop, own_postgres.kill):
            version = await store.stream_version("game-0")
            await asyncio.to_thread(end)
            await asyncio.to_thread(own_postgres.start)
            await asyncio.gather(*(append(store, f"game-{game}", version) for game in range(20)))
            await asyncio.to_thread(end)
            await asyncio.to_thread(own_postgres.start)
            # A turn does not wait for the disk: the kill may have taken the one before it away.
            assert await follower.catch_up() in (20, 40)
            assert len(await store.read_stream("game-7")) == version + 1
        assert pool.get_stats()["pool_size"] == 6


async def test_connections_notice_a_server_that_is_gone_without_a_word(pool: Pool) -> None:
    """No packet comes back from a host without power: the kernel must give up on it, and soon."""
    async with pool.connection() as connection:
        with socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
            assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
            assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 10


async def test_restored_dump_is_found_and_cured(
    databases: Databases, database: str, own_postgres: LocalPostgres, capsys: pytest.CaptureFixture[str]
) -> None:
    async def remember(connection: Connection, commit: Commit) -> None:
        if commit.stream == "poison":
            raise ValueError("unreadable")
        await connection.execute("insert into applied values (%s, %s)", [commit.stream, commit.version])

    subscription = Subscription("reader", remember)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("create table applied (stream text, version int)")
        # The old cluster is older than the new one will be for the rest of this test.
        connection.execute(
            "do $$ begin for i in 1..5000 loop perform pg_current_xact_id(); commit; end loop; end $$"
        )
    async with make_pool(database) as pool:
        store = EventStore(pool)
        for version in range(3):
            for game in range(10):
                await append(store, f"game-{game}", version)
        await append(store, "poison", 0)
        await Follower(pool, subscription).catch_up()
        for game in range(10):
            await append(store, f"game-{game}", 3)
        await check_restored(pool)
        old_log = await read_on(store)
    restore(databases.server, database, own_postgres)

    async with make_pool(own_postgres.dsn) as pool:
        store = EventStore(pool)
        assert await store.read_all(START) == []
        with pytest.raises(RestoredDump, match="cure-restored-dump"):
            await check_restored(pool)
    assert await asyncio.to_thread(main, ["check", "--dsn", own_postgres.dsn]) == 1
    assert "RESTORED_DUMP" in capsys.readouterr().err
    assert await asyncio.to_thread(main, ["cure-restored-dump", "--dsn", own_postgres.dsn]) == 0
    assert await asyncio.to_thread(main, ["check", "--dsn", own_postgres.dsn]) == 0
    assert await asyncio.to_thread(main, ["cure-restored-dump", "--dsn", own_postgres.dsn]) == 0
    assert capsys.readouterr().out == "renumbered 41 commits\nthe log is in order\nrenumbered 0 commits\n"

    async with make_pool(own_postgres.dsn) as pool:
        store = EventStore(pool)
        assert [c._replace(tx=0, position=0) for c in await read_on(store)] == [
            c._replace(tx=0, position=0) for c in old_log
        ]
        with pytest.raises(InvalidCursor):
            await store.check_cursor(old_log[0].cursor)
        for game in range(10):
            await append(store, f"game-{game}", 4)
        assert [c.version for c in await read_on(store)][-10:] == [5] * 10
        # The follower goes on where it was: ten old commits and ten new ones.
        assert await Follower(pool, subscription).catch_up() == 20
        async with pool.connection() as connection:
            rows = await (await connection.execute("select stream, version from applied")).fetchall()
        assert sorted(rows) == sorted(
            (f"game-{game}", version) for game in range(10) for version in range(1, 6)
        )


def restore(source: LocalPostgres, database: str, target: LocalPostgres) -> None:
    """The whole database by pg_dump and psql, as an operator would."""
    programs = source.bin_dir
    dump = subprocess.run([programs / "pg_dump", database], check=True, capture_output=True).stdout
    with psycopg.connect(target.dsn, autocommit=True) as connection:
        connection.execute("drop schema eventstore cascade; drop schema migrations cascade")
    subprocess.run(
        [programs / "psql", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction", target.dsn],
        check=True,
        input=dump,
        stdout=subprocess.DEVNULL,
    )
