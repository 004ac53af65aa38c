"""A disk without room: the client is told UNAVAILABLE, nothing is half written, and with room all goes on."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.eventstore import START, EventStore, StoreUnavailable, make_pool, migrate_eventstore
from tests.faults.forge import ForgedPostgres
from tests.faults.ground import Ground, ground
from tests.faults.hands import scripted_hands
from tests.faults.servers import Servers

TMPFS_BYTES = 200 << 20


@contextlib.asynccontextmanager
async def full_disk(place: Ground, table: str) -> AsyncIterator[None]:
    """No more room for the rows of an empty table: its file is the device that is always full."""
    postgres = place.servers.postgres
    (path,) = (await place.query(f"select pg_relation_filepath('{table}')"))[0]  # type: ignore[arg-type]
    file = postgres.cluster_dir / path
    assert file.stat().st_size == 0, "the table is to be empty"
    aside = file.with_name(f"{file.name}.aside")
    async with place.postgres_stopped():
        file.rename(aside)
        file.symlink_to("/dev/full")
    try:
        yield
    finally:
        async with place.postgres_stopped():
            aside.replace(file)


async def test_disk_full_of_commits(servers: Servers, undisturbed: list[tuple[Any, ...]]) -> None:
    hands = scripted_hands()
    async with ground(servers, "full_of_commits") as place:
        await place.open_tables(hands)
        async with full_disk(place, "eventstore.commits"):
            for hand in 2 * hands:
                attempt = asyncio.create_task(place.attempt(hand, 0))
                assert await place.refused(attempt) == "STORE_UNAVAILABLE"
        assert await place.log() == []
        for hand in hands:
            for number in range(len(hand.commands)):
                assert not await place.send(hand, number)
        await place.check(hands, undisturbed)


async def test_disk_full_of_a_projection(servers: Servers, undisturbed: list[tuple[Any, ...]]) -> None:
    """Followers wait for room instead of parking what they cannot write."""
    hands = scripted_hands()
    async with ground(servers, "full_of_games") as place:
        await place.open_tables(hands)
        async with full_disk(place, "replay.games"):
            for hand in hands:
                for number in range(len(hand.commands)):
                    await place.send(hand, number)
            follower = place.processes["replay"]
            await follower.wait_logged("could not extend file")
            assert await place.query("select * from eventstore.parked_commits") == []
        await place.check(hands, undisturbed)


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.fail("this test mounts a small tmpfs, which takes root")
    mounted = folder / "small"
    mounted.mkdir(mode=0o711)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES},mode=711", "tmpfs", mounted], check=True
    )
    try:
        yield mounted
    finally:
        subprocess.run(["umount", mounted], check=True)


@pytest.mark.system
async def test_whole_disk_full(small_disk: Path, servers: Servers) -> None:
    """With the server's own log on it, so that it may have to stop."""
    with contextlib.ExitStack() as stack:
        postgres = servers.forge.postgres(small_disk / "postgres", programs_of=servers.postgres)
        stack.enter_context(postgres)
        await asyncio.to_thread(fill_until_refused, postgres, small_disk / "ballast")


def fill_until_refused(postgres: ForgedPostgres, ballast: Path) -> None:
    migrate_eventstore(postgres.dsn)
    payload = os.urandom(20_000)

    async def append(store: EventStore, number: int) -> bool:
        appended = await store.append(
            "game",
            command_id=f"c{number}",
            fingerprint=b"",
            expected_version=number,
            payload=payload,
            event_count=1,
        )
        return appended.is_repeated

    async def fill() -> int:
        done = 0
        async with make_pool(postgres.dsn, max_size=2, wait_seconds=2) as pool:
            store = EventStore(pool)
            for _ in range(100):
                await append(store, done)
                done += 1
            write_until_full(ballast)
            while True:
                try:
                    await append(store, done)
                except StoreUnavailable:
                    return done
                done += 1

    async def go_on(done: int) -> None:
        async with make_pool(postgres.dsn, max_size=2) as pool:
            store = EventStore(pool)
            stored = await store.stream_version("game")
            # The answer to the last one may have been lost with the server.
            assert stored in (done, done + 1)
            assert await append(store, done) is (stored == done + 1)
            for number in range(done + 1, done + 50):
                assert not await append(store, number)
            log = []
            while page := await store.read_all(log[-1].cursor if log else START):
                log += page
            assert [(c.version, c.payload == payload) for c in log] == [
                (version, True) for version in range(1, done + 51)
            ]

    done = asyncio.run(fill())
    ballast.unlink()
    postgres.restart_if_ended()
    asyncio.run(go_on(done))


def write_until_full(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
