"""A platform that comes back from a dump in a new cluster: nobody runs on it before the cure, and after it
all goes on as if nothing had happened.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from services.eventstore import START, Cursor, EventStore, InvalidCursor, make_pool
from services.eventstore.__main__ import main
from services.local.postgres import LocalPostgres
from tests.faults.ground import FOLLOWERS, Ground, ground, running
from tests.faults.hands import scripted_hands
from tests.faults.servers import Servers

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "restored"
PROCESSES = ["services.engine", "services.lobby follow", "services.replay follow", "services.replay serve"]

FOLLOWED, DUMPED = 6, 9  # commands of each hand before the followers stop, and before the dump


@pytest.fixture
def new_cluster(servers: Servers) -> Iterator[LocalPostgres]:
    with servers.forge.postgres(servers.folder / "new") as postgres:
        yield postgres


async def play(place: Ground, hands: list[Any], first: int, last: int) -> None:
    for number in range(first, last):
        await asyncio.gather(*[place.send(hand, number) for hand in hands if number < len(hand.commands)])


def spend_transactions(postgres: LocalPostgres, count: int) -> None:
    with psycopg.connect(postgres.dsn, autocommit=True) as connection:
        connection.execute(
            f"do $$ begin for i in 1..{count} loop perform pg_current_xact_id(); commit; end loop; "
            "end $$".encode()
        )


def restore(source: LocalPostgres, target: LocalPostgres) -> None:
    """The whole database by pg_dump and psql, as an operator would."""
    dump = subprocess.run(
        [source.bin_dir / "pg_dump", source.dsn_of(DATABASE)], check=True, capture_output=True
    ).stdout
    with psycopg.connect(target.dsn, autocommit=True) as connection:
        connection.execute(f"create database {DATABASE}".encode())
    psql = [source.bin_dir / "psql", "--quiet", "--set=ON_ERROR_STOP=1", target.dsn_of(DATABASE)]
    subprocess.run(psql, check=True, input=dump, stdout=subprocess.DEVNULL)


async def refuse(cursors: list[Cursor], store: EventStore) -> None:
    for cursor in cursors:
        with pytest.raises(InvalidCursor, match="not given out by this log"):
            await store.check_cursor(cursor)


async def test_dump_in_a_new_cluster(
    servers: Servers, new_cluster: LocalPostgres, capsys: pytest.CaptureFixture[str]
) -> None:
    hands = scripted_hands()
    spend_transactions(servers.postgres, 5_000)
    async with ground(servers, DATABASE) as place:
        await place.open_tables(hands)
        await play(place, hands, 0, FOLLOWED)
        await place.wait_followed()
        place.kill(*FOLLOWERS)
        await play(place, hands, FOLLOWED, DUMPED)
        async with make_pool(place.dsn) as pool:
            old_log = await EventStore(pool).read_all(START)
            old_cursors = [*{commit.cursor for commit in old_log}, await EventStore(pool).horizon()]
        restore(servers.postgres, new_cluster)
    dsn = new_cluster.dsn_of(DATABASE)

    for ended in await asyncio.gather(
        *[asyncio.to_thread(run_refused, command, dsn, servers) for command in PROCESSES]
    ):
        assert ended.returncode == 1, ended.stderr
        assert "restored from another cluster" in ended.stderr
        assert "python -m services.eventstore cure-restored-dump" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert await asyncio.to_thread(main, ["cure-restored-dump", "--dsn", dsn]) == 0
    assert await asyncio.to_thread(main, ["check", "--dsn", dsn]) == 0
    assert capsys.readouterr().out == f"renumbered {len(old_log)} commits\nthe log is in order\n"

    async with make_pool(dsn) as pool:
        store = EventStore(pool)
        cured = await store.read_all(START)
        assert [c._replace(tx=0, position=0) for c in cured] == [
            c._replace(tx=0, position=0) for c in old_log
        ]
        await refuse(old_cursors, store)
        for cursor in (START, cured[3].cursor, await store.horizon()):
            await store.check_cursor(cursor)
        async with running(servers._replace(postgres=new_cluster), DATABASE) as place:
            await play(place, hands, DUMPED, 30)
            await place.check(hands, None)
        # Cursors of the old cluster are not taken for ours when the new one has come to their transactions.
        spend_transactions(new_cluster, 10_000)
        rest = await store.read_all(cured[-1].cursor)
        assert len(cured) + len(rest) == sum(len(hand.commands) for hand in hands)
        await refuse(old_cursors, store)
        for cursor in (START, cured[3].cursor, rest[0].cursor, await store.horizon()):
            await store.check_cursor(cursor)


def run_refused(command: str, dsn: str, servers: Servers) -> subprocess.CompletedProcess[str]:
    environment = {
        "BAOHUANG_DATABASE_URL": dsn,
        "BAOHUANG_VALKEY_URL": servers.valkey.url,
        "BAOHUANG_BROKER_URL": servers.valkey.url,
        "BAOHUANG_ENGINE_TARGET": "127.0.0.1:1",
        "BAOHUANG_PORT": "0",
        "BAOHUANG_METRICS_PORT": "0",
    }
    return subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
