"""Followers: each commit once, in order within its stream, whoever works, fails or is killed meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from services.eventstore import Commit, EventStore, Pool, bucket_of
from services.eventstore.errors import CheckpointMoved, RetryLater
from services.eventstore.lag import horizon_lag, refresh_lag_metrics, subscription_lags
from services.eventstore.metrics import PARKED
from services.eventstore.parked import discard_parked, parked_commits, retry_parked
from services.eventstore.pool import Connection
from services.eventstore.subscription import Follower, Subscription
from tests.integration.eventstore.scene import append, append_within, by_hand, read_on

Applied = Callable[[], Awaitable[list[tuple[str, int]]]]
Handler = Callable[[Connection, Commit], Awaitable[None]]


@pytest.fixture
async def applied(pool: Pool) -> AsyncIterator[Applied]:
    """The rows that `write` wrote, in the order of their writing."""
    async with pool.connection() as connection:
        await connection.execute(
            "create table applied (n bigint generated always as identity, stream text, version int)"
        )

    async def rows() -> list[tuple[str, int]]:
        async with pool.connection() as connection:
            cursor = await connection.execute("select stream, version from applied order by n")
            return [(row[0], row[1]) for row in await cursor.fetchall()]

    yield rows
    async with pool.connection() as connection:
        await connection.execute("drop table applied")


async def write(connection: Connection, commit: Commit) -> None:
    await connection.execute(
        "insert into applied (stream, version) values (%s, %s)", [commit.stream, commit.version]
    )


def failing_at(stream: str, version: int, error: Exception, write: Handler = write) -> Handler:
    async def apply(connection: Connection, commit: Commit) -> None:
        await write(connection, commit)
        if (commit.stream, commit.version) == (stream, version):
            raise error

    return apply


async def write_games(store: EventStore, games: int, versions: int) -> None:
    for version in range(versions):
        await asyncio.gather(*(append(store, f"game-{game}", version) for game in range(games)))


async def test_every_commit_is_applied_once_in_order(store: EventStore, pool: Pool, applied: Applied) -> None:
    await write_games(store, 30, 3)
    follower = Follower(pool, Subscription("reader", write))
    assert await follower.catch_up() == 90
    assert await follower.catch_up() == 0
    rows = await applied()
    assert len(rows) == 90
    for game in range(30):
        assert [version for stream, version in rows if stream == f"game-{game}"] == [1, 2, 3]


async def test_competing_followers_share_the_work(store: EventStore, pool: Pool, applied: Applied) -> None:
    followers = [Follower(pool, Subscription("reader", write)) for _ in range(4)]
    tasks = [asyncio.create_task(follower.run()) for follower in followers]
    await write_games(store, 40, 5)
    while len(await applied()) < 200:
        assert not any(task.done() for task in tasks)
    for follower in followers:
        follower.stop()
    await asyncio.gather(*tasks)
    rows = await applied()
    assert len(rows) == 200
    for game in range(40):
        assert [version for stream, version in rows if stream == f"game-{game}"] == [1, 2, 3, 4, 5]


async def test_subscriptions_do_not_know_of_each_other(
    store: EventStore, pool: Pool, applied: Applied
) -> None:
    await write_games(store, 3, 1)
    for name in ("one", "two"):
        assert await Follower(pool, Subscription(name, write)).catch_up() == 3
    assert len(await applied()) == 6


async def test_new_subscription_can_start_at_the_end(store: EventStore, pool: Pool, applied: Applied) -> None:
    await write_games(store, 5, 1)
    follower = Follower(pool, Subscription("reader", write, start=await store.horizon()))
    assert await follower.catch_up() == 0
    await append(store, "game-1", 1)
    assert await follower.catch_up() == 1
    assert await applied() == [("game-1", 2)]


async def test_hidden_commit_is_not_skipped(
    store: EventStore, pool: Pool, database: str, applied: Applied
) -> None:
    """Trap 1 for followers, in one bucket."""
    follower = Follower(pool, Subscription("reader", write))
    same = next(name for n in range(1000) if bucket_of(name := f"other-{n}") == bucket_of("game"))
    async with by_hand(database) as slow:
        await append_within(slow, "game", 0)
        await append(store, same, 0)
        assert await follower.catch_up() == 0
        await slow.commit()
    assert await follower.catch_up() == 2
    assert await applied() == [("game", 1), (same, 1)]


async def test_poison_is_parked_and_the_bucket_goes_on(
    store: EventStore, pool: Pool, applied: Applied
) -> None:
    same = next(name for n in range(1000) if bucket_of(name := f"other-{n}") == bucket_of("game"))
    for version in range(3):
        await append(store, "game", version)
        await append(store, same, version)
    follower = Follower(pool, Subscription("reader", failing_at("game", 2, ZeroDivisionError("no way"))))
    assert await follower.catch_up() == 6
    assert await applied() == [("game", 1), (same, 1), (same, 2), (same, 3)]
    first, behind = await parked_commits(pool, "reader")
    assert (first.stream, first.version, first.attempts) == ("game", 2, 1)
    assert (first.error or "").endswith("ZeroDivisionError: no way")
    assert (behind.stream, behind.version, behind.error) == ("game", 3, None)
    await append(store, "game", 3)
    assert await follower.catch_up() == 1
    assert [parked.version for parked in await parked_commits(pool)] == [2, 3, 4]
    await refresh_lag_metrics(pool)
    assert PARKED.labels("reader")._value.get() == 3


async def test_error_of_the_database_is_poison_too(store: EventStore, pool: Pool, applied: Applied) -> None:
    async def break_a_rule(connection: Connection, commit: Commit) -> None:
        await connection.execute("insert into applied (n) overriding system value values (null)")

    await append(store, "game", 0)
    assert await Follower(pool, Subscription("reader", break_a_rule)).catch_up() == 1
    [parked] = await parked_commits(pool)
    assert "NotNullViolation" in (parked.error or "")


@pytest.mark.parametrize(
    "text", ["half a character \ud800", "a NUL \0", "保" * 9_000, "\ud800" * 9_000, "\x1b[2J\r\n"]
)
async def test_poison_is_parked_whatever_its_error_says(
    text: str, store: EventStore, pool: Pool, applied: Applied
) -> None:
    for version in range(2):
        await append(store, "game", version)
    follower = Follower(pool, Subscription("reader", failing_at("game", 1, ValueError(text))))
    assert await follower.catch_up() == 2
    assert [parked.attempts for parked in await parked_commits(pool)] == [1, 0]
    await retry_parked(pool, "reader")
    assert await follower.catch_up() == 1
    assert [parked.attempts for parked in await parked_commits(pool)] == [2, 0]


async def test_retry_applies_parked_commits_in_order(store: EventStore, pool: Pool, applied: Applied) -> None:
    for version in range(4):
        await append(store, "game", version)
    bad = Follower(pool, Subscription("reader", failing_at("game", 2, ZeroDivisionError())))
    await bad.catch_up()
    assert await retry_parked(pool, "reader") == 3
    assert await bad.catch_up() == 1
    assert [(p.version, p.attempts, p.is_due) for p in await parked_commits(pool)] == [
        (2, 2, False),
        (3, 0, False),
        (4, 0, False),
    ]
    good = Follower(pool, Subscription("reader", write))
    assert await good.catch_up() == 0
    await append(store, "game", 4)
    assert await retry_parked(pool, "reader", "another game") == 0
    assert await retry_parked(pool, "reader", "game") == 3
    assert await good.catch_up() == 4
    assert await parked_commits(pool) == []
    assert await applied() == [("game", version) for version in (1, 2, 3, 4, 5)]


async def test_discarded_commit_frees_those_behind_it(
    store: EventStore, pool: Pool, applied: Applied
) -> None:
    for version in range(3):
        await append(store, "game", version)
    follower = Follower(pool, Subscription("reader", failing_at("game", 2, ZeroDivisionError())))
    await follower.catch_up()
    poison = (await parked_commits(pool))[0]
    assert await discard_parked(pool, "reader", poison.cursor)
    assert not await discard_parked(pool, "reader", poison.cursor)
    await retry_parked(pool, "reader")
    assert await follower.catch_up() == 1
    assert await applied() == [("game", 1), ("game", 3)]


async def test_handler_that_cannot_work_now_is_called_again(
    store: EventStore, pool: Pool, applied: Applied
) -> None:
    await append(store, "game", 0)
    with pytest.raises(RetryLater):
        await Follower(pool, Subscription("reader", failing_at("game", 1, RetryLater("away")))).catch_up()
    assert await applied() == []
    assert await parked_commits(pool) == []
    await Follower(pool, Subscription("reader", write)).catch_up()
    assert await applied() == [("game", 1)]


async def test_running_follower_waits_out_an_outage(store: EventStore, pool: Pool, applied: Applied) -> None:
    calls = 0

    async def away_at_first(connection: Connection, commit: Commit) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RetryLater("the queue is away")
        await write(connection, commit)

    await append(store, "game", 0)
    follower = Follower(pool, Subscription("reader", away_at_first))
    task = asyncio.create_task(follower.run())
    while not await applied():
        assert not task.done()
    follower.stop()
    await task
    assert (calls, await applied()) == (2, [("game", 1)])


async def test_turn_is_rolled_back_if_another_moved_the_checkpoint(
    store: EventStore, pool: Pool, applied: Applied
) -> None:
    """The lock alone would not do: it goes with its session, and the worker may not know."""

    async def write_slowly(connection: Connection, commit: Commit) -> None:
        await write(connection, commit)
        async with pool.connection() as other:
            await other.execute("update eventstore.checkpoints set tx = '5', position = 5")

    await append(store, "game", 0)
    with pytest.raises(CheckpointMoved):
        await Follower(pool, Subscription("reader", write_slowly)).catch_up()
    assert await applied() == []


async def test_locked_bucket_is_left_to_its_worker(
    store: EventStore, pool: Pool, database: str, applied: Applied
) -> None:
    await append(store, "game", 0)
    follower = Follower(pool, Subscription("reader", write))
    async with by_hand(database) as other:
        await other.execute(
            "select pg_advisory_xact_lock(eventstore.lock_class_of('reader'), %s)", [bucket_of("game")]
        )
        assert await follower.catch_up() == 0
        await other.rollback()
    assert await follower.catch_up() == 1


async def test_cancelled_turn_leaves_no_trace(store: EventStore, pool: Pool, applied: Applied) -> None:
    has_begun = asyncio.Event()

    async def hang(connection: Connection, commit: Commit) -> None:
        await write(connection, commit)
        has_begun.set()
        await asyncio.Event().wait()

    await append(store, "game", 0)
    task = asyncio.create_task(Follower(pool, Subscription("reader", hang)).catch_up())
    await has_begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    follower = Follower(pool, Subscription("reader", write))
    while not await follower.catch_up():  # the server may still be ending the cancelled session
        pass
    assert await applied() == [("game", 1)]


async def test_short_turns_do_all_the_work(store: EventStore, pool: Pool, applied: Applied) -> None:
    await write_games(store, 5, 4)
    follower = Follower(pool, Subscription("reader", write, turn_seconds=0))
    assert await follower.catch_up() == 20
    assert len(await applied()) == 20


async def shift_clock(pool: Pool, hours: int) -> None:
    """As if the server's clock had been put back by that after the commits."""
    async with pool.connection() as connection:
        await connection.execute(
            "update eventstore.commits set recorded_at = recorded_at + make_interval(hours => %s)", [hours]
        )


async def test_lag_of_a_subscription(store: EventStore, pool: Pool, applied: Applied) -> None:
    follower = Follower(pool, Subscription("reader", write))
    await follower.prepare()
    await write_games(store, 10, 2)
    [lag] = await subscription_lags(pool)
    assert (lag.subscription, lag.commits, lag.parked) == ("reader", 20, 0)
    assert lag.seconds > 0
    await shift_clock(pool, hours=1)
    assert [(lag.commits, lag.seconds) for lag in await subscription_lags(pool)] == [(20, 0)]
    await follower.catch_up()
    assert [(lag.commits, lag.seconds) for lag in await subscription_lags(pool)] == [(0, 0)]


async def test_lag_of_the_horizon(store: EventStore, pool: Pool, database: str) -> None:
    assert await horizon_lag(pool) == (0, 0)
    async with by_hand(database) as slow:
        await append_within(slow, "slow", 0)
        await append(store, "game", 0)
        hidden = await horizon_lag(pool)
        assert hidden.commits == 1
        assert hidden.seconds > 0
        await shift_clock(pool, hours=1)
        assert await horizon_lag(pool) == (1, 0)
        await slow.commit()
    assert await horizon_lag(pool) == (0, 0)
    assert len(await read_on(store)) == 2
