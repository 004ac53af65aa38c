"""Archived streams: nobody who reads or appends can tell where their rows lie."""

from services.eventstore import EventStore, Pool
from services.eventstore.archive import archive_streams, unarchive_streams
from services.eventstore.subscription import Follower, Subscription
from tests.integration.eventstore.scene import append, read_on


async def count(pool: Pool, table: str) -> int:
    async with pool.connection() as connection:
        row = await (await connection.execute(f"select count(*) from eventstore.{table}".encode())).fetchone()
    assert row is not None
    return int(row[0])


async def test_there_and_back_changes_nothing_for_readers(store: EventStore, pool: Pool) -> None:
    for version in range(3):
        for game in range(30):
            await append(store, f"game-{game}", version)
    log, stream = await read_on(store), await store.read_stream("game-7")
    finished = [f"game-{game}" for game in range(0, 30, 2)]
    assert await archive_streams(pool, finished) == 45
    assert (await count(pool, "commits"), await count(pool, "archived_commits")) == (45, 45)
    assert (await read_on(store, limit=7), await store.read_stream("game-7")) == (log, stream)
    assert await archive_streams(pool, finished) == 0
    assert await unarchive_streams(pool, finished) == 45
    assert (await count(pool, "commits"), await count(pool, "archived_commits")) == (90, 0)
    assert await read_on(store, limit=7) == log


async def test_reader_in_the_middle_misses_nothing(store: EventStore, pool: Pool) -> None:
    for version in range(4):
        await append(store, "game-1", version)
        await append(store, "game-2", version)
    page = await store.read_all((await read_on(store))[0].cursor, 3)
    await archive_streams(pool, ["game-1"])
    rest = await read_on(store, page[-1].cursor)
    assert [(c.stream, c.version) for c in page + rest] == [
        ("game-2", 1),
        *((stream, version) for version in (2, 3, 4) for stream in ("game-1", "game-2")),
    ]


async def test_archived_stream_is_still_a_stream(store: EventStore, pool: Pool) -> None:
    first = await append(store, "game", 0)
    await archive_streams(pool, ["game"])
    assert await store.stream_version("game") == 1
    assert await append(store, "game", 0) == first._replace(is_repeated=True)
    assert (await append(store, "game", 1)).version == 2
    assert [commit.version for commit in await store.read_stream("game")] == [1, 2]
    assert await archive_streams(pool, ["game"]) == 1


async def test_new_subscription_reads_the_archive_too(store: EventStore, pool: Pool) -> None:
    for game in range(10):
        await append(store, f"game-{game}", 0)
    await archive_streams(pool, [f"game-{game}" for game in range(5)])
    seen: list[str] = []

    async def remember(connection: object, commit: object) -> None:
        seen.append(commit.stream)  # type: ignore[attr-defined]

    assert await Follower(pool, Subscription("reader", remember)).catch_up() == 10
    assert sorted(seen) == [f"game-{game}" for game in range(10)]
