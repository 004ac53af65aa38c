"""Old games move to the archive and back under running writers and followers; nobody notices."""

import asyncio
import io

import psycopg
import pytest

from services.eventstore import START, Commit, EventStore, Pool
from services.eventstore.__main__ import main
from services.eventstore.archive import archive_quiet_streams, archive_streams, unarchive_streams
from services.eventstore.pool import Connection
from services.eventstore.subscription import Follower, Subscription
from tests.integration.eventstore.scene import append, read_on

GAMES = [f"game-{number}" for number in range(25)]


def age(database: str, streams: list[str], days: float) -> None:
    """As if the commits of these streams had been stored so long ago."""
    with psycopg.connect(database) as connection:
        connection.execute(
            "update eventstore.commits set recorded_at = recorded_at - make_interval(secs => %s * 86400) "
            "where stream = any(%s)",
            [days, streams],
        )


def lying(database: str, table: str) -> set[str]:
    with psycopg.connect(database) as connection:
        return {row[0] for row in connection.execute(f"select stream from eventstore.{table}".encode())}


async def test_moves_under_writers_and_followers(store: EventStore, pool: Pool) -> None:
    """Each commit is applied once, each page read on a cursor of before goes on, appends and repeats work."""
    versions = 12

    async def note(connection: Connection, commit: Commit) -> None:
        await connection.execute(
            "insert into seen (stream, version) values (%s, %s)", [commit.stream, commit.version]
        )

    async with pool.connection() as connection:
        await connection.execute(
            "create table seen (stream text, version int, primary key (stream, version))"
        )
    followers = [Follower(pool, Subscription("reader", note)) for _ in range(2)]
    following = [asyncio.create_task(follower.run()) for follower in followers]

    async def write(stream: str) -> None:
        for version in range(versions):
            first = await append(store, stream, version)
            assert await append(store, stream, version) == first._replace(is_repeated=True)

    async def move(is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            await archive_streams(pool, GAMES[::2])
            await unarchive_streams(pool, GAMES[::3])

    async def read_slowly() -> list[Commit]:
        read: list[Commit] = []
        async with asyncio.timeout(60):
            while len(read) < versions * len(GAMES):
                read += await store.read_all(read[-1].cursor if read else START, 7)
        return read

    is_over = asyncio.Event()
    moving = asyncio.create_task(move(is_over))
    reading = asyncio.create_task(read_slowly())
    await asyncio.gather(*[write(stream) for stream in GAMES])
    is_over.set()
    await moving
    expected = sorted((stream, version) for stream in GAMES for version in range(1, versions + 1))
    assert sorted((commit.stream, commit.version) for commit in await reading) == expected
    async with asyncio.timeout(60):
        while True:
            async with pool.connection() as connection:
                rows = await (await connection.execute("select stream, version from seen")).fetchall()
            if len(rows) == len(expected):
                break
    assert sorted(rows) == expected
    for follower in followers:
        follower.stop()
    await asyncio.gather(*following)


async def test_quiet_streams_move(
    store: EventStore, pool: Pool, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.eventstore.archive._COMMITS_PER_LOOK", 7)
    for version in range(3):
        for game in GAMES:
            await append(store, game, version)
    old, going_on, young = GAMES[:10], GAMES[10:12], GAMES[12:]
    age(database, old + going_on, days=40)
    for game in going_on:
        await append(store, game, 3)
    log = await read_on(store)
    assert await archive_quiet_streams(pool, 41 * 86_400) == 0
    assert await archive_quiet_streams(pool, 30 * 86_400) == 30
    assert await archive_quiet_streams(pool, 30 * 86_400) == 0
    assert lying(database, "archived_commits") == set(old)
    assert lying(database, "commits") == {*going_on, *young}
    assert await read_on(store) == log
    # A game that was not over after all goes on, and its new part moves in its turn.
    assert (await append(store, old[0], 3)).version == 4
    age(database, GAMES, days=40)
    assert await archive_quiet_streams(pool, 30 * 86_400) == 1 + 2 * 4 + 13 * 3


async def test_a_clock_that_was_wrong_for_a_while_keeps_nothing_back(
    store: EventStore, pool: Pool, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits of the future between old ones, more than the command looks at in one step."""
    monkeypatch.setattr("services.eventstore.archive._COMMITS_PER_LOOK", 3)
    for game in GAMES:
        await append(store, game, 0)
    before, future, after = GAMES[:5], GAMES[5:20], GAMES[20:]
    age(database, before + after, days=40)
    age(database, future, days=-4_000)
    assert await archive_quiet_streams(pool, 30 * 86_400) == 10
    assert lying(database, "commits") == set(future)


async def test_command_moves_what_is_older(
    store: EventStore, database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for game in GAMES[:3]:
        await append(store, game, 0)
    age(database, GAMES[:2], days=2)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    for time, moved in (("3d", 0), ("47h", 2), ("60m", 0)):
        assert await asyncio.to_thread(main, ["archive", "--dsn", database, "--older-than", time]) == 0
        assert capsys.readouterr().out == f"moved {moved} commits\n"


@pytest.mark.parametrize(
    "arguments", [["--older-than", "soon"], ["--older-than", "-3d"], ["--older-than", "3d", "game-1"]]
)
def test_command_refuses_what_it_cannot_mean(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["archive", "--dsn", "postgresql://x", *arguments])
    assert end.value.code == 2
