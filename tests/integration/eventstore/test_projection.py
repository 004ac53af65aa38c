"""A projection is made anew beside the one in use, then takes its place at once."""

import asyncio

import pytest

from services.eventstore import Commit, EventStore, Pool
from services.eventstore.errors import RebuildRefused
from services.eventstore.parked import parked_commits
from services.eventstore.pool import Connection
from services.eventstore.projection import create_projection, rebuild, subscription_of
from services.eventstore.subscription import Follower
from tests.integration.eventstore.scene import append


class Totals:
    """Counts the events of each stream, `factor` times each."""

    name = "totals"

    def __init__(self, factor: int = 1, broken_at: str = "") -> None:
        self.factor = factor
        self.broken_at = broken_at

    async def create(self, connection: Connection) -> None:
        await connection.execute("create table games (stream text primary key, events int not null)")

    async def apply(self, connection: Connection, commit: Commit) -> None:
        if commit.stream == self.broken_at:
            raise ValueError("unreadable")
        await connection.execute(
            """insert into games as g values (%s, %s)
            on conflict (stream) do update set events = g.events + excluded.events""",
            [commit.stream, commit.event_count * self.factor],
        )


async def totals(pool: Pool) -> dict[str, int]:
    async with pool.connection() as connection:
        cursor = await connection.execute("select stream, events from totals.games")
        return {row[0]: row[1] for row in await cursor.fetchall()}


async def schemas(pool: Pool) -> set[str]:
    async with pool.connection() as connection:
        cursor = await connection.execute("select nspname from pg_namespace where nspname like 'totals%'")
        return {row[0] for row in await cursor.fetchall()}


async def write_games(store: EventStore, first: int, last: int) -> None:
    for version in range(first, last):
        await asyncio.gather(*(append(store, f"game-{game}", version) for game in range(12)))


async def test_created_once_by_many(pool: Pool) -> None:
    await asyncio.gather(*(create_projection(pool, Totals()) for _ in range(8)))
    assert await totals(pool) == {}


async def test_rebuild_replaces_what_is_in_use(store: EventStore, pool: Pool) -> None:
    await create_projection(pool, Totals())
    await write_games(store, 0, 3)
    await Follower(pool, subscription_of(Totals())).catch_up()
    assert await rebuild(pool, Totals(factor=10)) == 36
    assert await totals(pool) == {f"game-{game}": 30 for game in range(12)}
    assert await schemas(pool) == {"totals"}
    follower = Follower(pool, subscription_of(Totals(factor=10)))
    assert await follower.catch_up() == 0
    await write_games(store, 3, 4)
    assert await follower.catch_up() == 12
    assert await totals(pool) == {f"game-{game}": 40 for game in range(12)}


async def test_rebuild_beside_followers_and_writers(store: EventStore, pool: Pool) -> None:
    await create_projection(pool, Totals())
    await write_games(store, 0, 3)
    followers = [Follower(pool, subscription_of(Totals())) for _ in range(2)]
    tasks = [asyncio.create_task(follower.run()) for follower in followers]
    writing = asyncio.create_task(write_games(store, 3, 10))
    for _ in range(2):
        await rebuild(pool, Totals())
    await writing
    while await totals(pool) != {f"game-{game}": 10 for game in range(12)}:
        assert not any(task.done() for task in tasks)
    for follower in followers:
        follower.stop()
    await asyncio.gather(*tasks)
    assert await parked_commits(pool) == []
    assert await schemas(pool) == {"totals"}


async def test_rebuild_that_parked_commits_does_not_take_over(store: EventStore, pool: Pool) -> None:
    await create_projection(pool, Totals())
    await write_games(store, 0, 1)
    await Follower(pool, subscription_of(Totals())).catch_up()
    with pytest.raises(RebuildRefused, match="1 commits were parked"):
        await rebuild(pool, Totals(factor=10, broken_at="game-3"))
    assert await totals(pool) == {f"game-{game}": 1 for game in range(12)}
    assert await schemas(pool) == {"totals", "totals_next"}
    await rebuild(pool, Totals(factor=10))
    assert await totals(pool) == {f"game-{game}": 10 for game in range(12)}
    assert await schemas(pool) == {"totals"}


async def test_one_rebuild_at_a_time(store: EventStore, pool: Pool) -> None:
    has_begun, may_go_on = asyncio.Event(), asyncio.Event()

    class Waiting(Totals):
        async def apply(self, connection: Connection, commit: Commit) -> None:
            has_begun.set()
            await may_go_on.wait()
            await super().apply(connection, commit)

    await write_games(store, 0, 1)
    first = asyncio.create_task(rebuild(pool, Waiting()))
    await has_begun.wait()
    with pytest.raises(RebuildRefused, match="already"):
        await rebuild(pool, Totals())
    may_go_on.set()
    assert await first == 12
    assert await totals(pool) == {f"game-{game}": 1 for game in range(12)}


async def test_interrupted_rebuild_is_begun_anew(store: EventStore, pool: Pool) -> None:
    has_begun = asyncio.Event()

    class Hanging(Totals):
        async def apply(self, connection: Connection, commit: Commit) -> None:
            await super().apply(connection, commit)
            has_begun.set()
            await asyncio.Event().wait()

    await write_games(store, 0, 2)
    first = asyncio.create_task(rebuild(pool, Hanging()))
    await has_begun.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    while True:  # the server may still be ending the session that held the lock
        try:
            await rebuild(pool, Totals())
            break
        except RebuildRefused:
            continue
    assert await totals(pool) == {f"game-{game}": 2 for game in range(12)}
