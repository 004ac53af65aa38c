"""The traps of a log on Postgres, each as a check that holds for the store and fails for its mutants."""

import asyncio
from dataclasses import replace

from services.eventstore import (
    START,
    CheckpointMoved,
    CommandReused,
    Commit,
    Connection,
    EventStore,
    ForeignWriter,
    NewCommit,
    NotFirstWrite,
    Pool,
    StoreUnavailable,
    VersionConflict,
    WrongIsolation,
    bucket_of,
)
from services.eventstore.subscription import Follower, Subscription
from tests.integration.eventstore.scene import (
    append,
    append_within,
    by_hand,
    insert_past_the_store,
    read_on,
    waiting_backend,
)

EVERY_BUCKET = list(range(64))


async def check_commit_order_gap(dsn: str, pool: Pool) -> None:
    """Trap 1: a row whose position was handed out first appears last."""
    await _check_commit_order_gap(dsn, pool, None)


async def check_commit_order_gap_in_buckets(dsn: str, pool: Pool) -> None:
    """The same for those who read some buckets only."""
    await _check_commit_order_gap(dsn, pool, EVERY_BUCKET)


async def _check_commit_order_gap(dsn: str, pool: Pool, buckets: list[int] | None) -> None:
    store = EventStore(pool)
    async with by_hand(dsn) as slow:
        await append_within(slow, "slow", 0)
        await append(store, "quick", 0)
        seen = await read_on(store, buckets=buckets)
        await slow.commit()
    seen += await read_on(store, seen[-1].cursor if seen else START, buckets=buckets)
    assert [commit.stream for commit in seen] == ["slow", "quick"]


async def check_half_cure(dsn: str, pool: Pool) -> None:
    """Trap 2: within the horizon, the order of positions is not the order of transactions."""
    await _check_half_cure(dsn, pool, None)


async def check_half_cure_in_buckets(dsn: str, pool: Pool) -> None:
    """The same for those who read some buckets only."""
    await _check_half_cure(dsn, pool, EVERY_BUCKET)


async def _check_half_cure(dsn: str, pool: Pool, buckets: list[int] | None) -> None:
    store = EventStore(pool)
    async with by_hand(dsn) as early:
        await insert_past_the_store(early, "early-1", 1)
        await append(store, "between", 0)
        await insert_past_the_store(early, "early-2", 1)
        await early.commit()
    for limit in (1, 2, 3):
        seen = await read_on(store, limit=limit, buckets=buckets)
        assert [commit.stream for commit in seen] == ["early-1", "early-2", "between"]


async def check_stream_inversion(dsn: str, pool: Pool) -> None:
    """Trap 3: a transaction with an early xid appends after one with a later xid."""
    store = EventStore(pool)
    async with by_hand(dsn) as early:
        await early.execute("select pg_current_xact_id()")
        await append(store, "game", 0)
        try:
            await append_within(early, "game", 1)
            await early.commit()
        except NotFirstWrite:
            await early.rollback()
    versions = [commit.version for commit in await read_on(store)]
    assert versions == sorted(versions)


async def check_old_snapshot(dsn: str, pool: Pool) -> None:
    """Under REPEATABLE READ an append would judge by a snapshot older than its lock."""
    store = EventStore(pool)
    async with by_hand(dsn) as old:
        await old.execute("set transaction isolation level repeatable read")
        await old.execute("select 1")
        await append(store, "game", 0)
        try:
            status = await append_within(old, "game", 0)
        except WrongIsolation:
            return
        except ForeignWriter as error:
            raise AssertionError("the append did not see what was committed before it") from error
        assert status == "conflict"


async def check_stream_lock(dsn: str, pool: Pool) -> None:
    """An appender waits for the one before it, owns no xid meanwhile, and then sees what that one wrote."""
    store = EventStore(pool)
    async with by_hand(dsn) as first:
        await append_within(first, "game", 0)
        second = asyncio.create_task(append(store, "game", 0, command_id="other"))
        waits_for, xid = await waiting_backend(pool, second)
        await first.commit()
        [outcome] = await asyncio.gather(second, return_exceptions=True)
        assert isinstance(outcome, VersionConflict)
        assert outcome.actual == 1
    assert (waits_for, xid) == ("advisory", None)


async def check_batch_lock(dsn: str, pool: Pool) -> None:
    """A batch waits for each of its streams before it owns an xid."""
    store = EventStore(pool)
    async with by_hand(dsn) as first:
        await append_within(first, "game-2", 0)
        batch = asyncio.create_task(store.append_batch([_new("game-1"), _new("game-2", command_id="other")]))
        waits_for, xid = await waiting_backend(pool, batch)
        await first.commit()
        [outcome] = await asyncio.gather(batch, return_exceptions=True)
        assert isinstance(outcome, VersionConflict)
        assert (outcome.stream, outcome.actual) == ("game-2", 1)
    assert (waits_for, xid) == ("advisory", None)
    assert await store.stream_version("game-1") == 0


async def check_lock_order(dsn: str, pool: Pool) -> None:
    """Two batches that name their streams in opposite orders do not wait for each other."""
    store = EventStore(pool)
    async with by_hand(dsn) as holder:
        cursor = await holder.execute(
            "select name from unnest(array['a', 'b']) as s (name) order by eventstore.lock_key_of(name)"
        )
        low, high = [str(row[0]) for row in await cursor.fetchall()]
        for contended in (low, high):
            await holder.execute("select pg_advisory_xact_lock(eventstore.lock_key_of(%s))", [contended])
            one = asyncio.create_task(store.append_batch([_new(low, "one"), _new(high, "one")]))
            await waiting_backend(pool, one)
            two = asyncio.create_task(store.append_batch([_new(high, "two"), _new(low, "two")]))
            while await _count_waiting(pool) < 2:
                assert not two.done()
            await holder.commit()
            outcomes = await asyncio.gather(one, two, return_exceptions=True)
            assert not [outcome for outcome in outcomes if isinstance(outcome, StoreUnavailable)]


async def check_once(dsn: str, pool: Pool) -> None:
    """A command again is the same commit; its id for another content, and a wrong version, are refused."""
    store = EventStore(pool)
    first = await append(store, "game", 0, "deal")
    outcomes = await asyncio.gather(
        append(store, "game", 0, "deal"),
        append(store, "game", 1, "deal", fingerprint=b"another content"),
        append(store, "game", 0, "late"),
        append(store, "game", 2, "early"),
        return_exceptions=True,
    )
    assert outcomes[0] == first._replace(is_repeated=True)
    assert [type(outcome) for outcome in outcomes[1:]] == [CommandReused, VersionConflict, VersionConflict]
    assert len(await read_on(store)) == 1


async def check_once_in_batch(dsn: str, pool: Pool) -> None:
    """The same for batches, of which then nothing is stored."""
    store = EventStore(pool)
    await store.append_batch([_new("game-2")])
    batches = [
        [_new("game-1"), replace(_new("game-2"), fingerprint=b"another content")],
        [_new("game-1"), _new("game-2", command_id="late")],
    ]
    refused = await asyncio.gather(*map(store.append_batch, batches), return_exceptions=True)
    assert [type(outcome) for outcome in refused] == [CommandReused, VersionConflict]
    assert await store.stream_version("game-1") == 0
    again = await store.append_batch([_new("game-1"), _new("game-2")])
    assert [result.is_repeated for result in again] == [False, True]
    assert len(await read_on(store)) == 2


async def check_silent_loss(dsn: str, pool: Pool) -> None:
    """An append that meets a row of a writer without the lock fails; it never claims to have written."""
    store = EventStore(pool)
    async with by_hand(dsn) as stranger:
        await insert_past_the_store(stranger, "game", 1)
        honest = asyncio.create_task(append(store, "game", 0))
        await waiting_backend(pool, honest)
        await stranger.commit()
        [outcome] = await asyncio.gather(honest, return_exceptions=True)
        assert isinstance(outcome, ForeignWriter)


async def check_silent_loss_in_batch(dsn: str, pool: Pool) -> None:
    """The same for a batch, of which then nothing is stored."""
    store = EventStore(pool)
    async with by_hand(dsn) as stranger:
        await insert_past_the_store(stranger, "game-2", 1)
        honest = asyncio.create_task(store.append_batch([_new("game-1"), _new("game-2")]))
        await waiting_backend(pool, honest)
        await stranger.commit()
        [outcome] = await asyncio.gather(honest, return_exceptions=True)
        assert isinstance(outcome, ForeignWriter)
    assert await store.stream_version("game-1") == 0


async def check_follower_gap(dsn: str, pool: Pool) -> None:
    """Traps 1 and 2 for followers: in one bucket, what is hidden is not passed over."""
    for turn_seconds in (60, 0):  # all in one turn, and one commit a turn: the checkpoint rests behind each
        await _check_follower_gap(dsn, pool, f"game-in-{turn_seconds}-seconds", turn_seconds)


async def _check_follower_gap(dsn: str, pool: Pool, game: str, turn_seconds: float) -> None:
    store = EventStore(pool)
    applied: list[tuple[str, int]] = []

    async def remember(connection: Connection, commit: Commit) -> None:
        applied.append((commit.stream, commit.version))

    start = await store.horizon()
    follower = Follower(pool, Subscription(game, remember, start=start, turn_seconds=turn_seconds))
    other = next(name for number in range(1000) if bucket_of(name := f"{game}-{number}") == bucket_of(game))
    await append(store, other, 0)
    async with by_hand(dsn) as slow:
        await append_within(slow, game, 0)
        await append(store, other, 1)
        await follower.catch_up()
        await insert_past_the_store(slow, game, 2)
        await slow.commit()
    await follower.catch_up()
    assert applied == [(other, 1), (game, 1), (game, 2), (other, 2)]


async def check_compare_and_set(dsn: str, pool: Pool) -> None:
    """A turn does not stand if another worker moved the checkpoint: a lock can be lost unnoticed."""

    async def overtake(connection: Connection, commit: Commit) -> None:
        async with pool.connection() as other:
            await other.execute("update eventstore.checkpoints set tx = '5', position = 5")

    await append(EventStore(pool), "game", 0)
    turn = Follower(pool, Subscription("reader", overtake)).catch_up()
    [outcome] = await asyncio.gather(turn, return_exceptions=True)
    assert isinstance(outcome, CheckpointMoved)


async def check_bucket_lock(dsn: str, pool: Pool) -> None:
    """A bucket that another worker has locked is left to it."""

    async def apply(connection: Connection, commit: Commit) -> None:
        raise AssertionError("applied a commit of another worker's bucket")

    await append(EventStore(pool), "game", 0)
    async with by_hand(dsn) as worker:
        await worker.execute(
            "select pg_advisory_lock(eventstore.lock_class_of('reader'), eventstore.bucket_of('game'))"
        )
        assert await Follower(pool, Subscription("reader", apply)).catch_up() == 0


async def check_parked_stream(dsn: str, pool: Pool) -> None:
    """Nothing is applied over the gap that a parked commit leaves in its stream."""
    store = EventStore(pool)
    applied: list[int] = []

    async def fail_at_2(connection: Connection, commit: Commit) -> None:
        if commit.version == 2:
            raise ValueError("unreadable")
        applied.append(commit.version)

    follower = Follower(pool, Subscription("reader", fail_at_2, turn_seconds=0))
    for version in range(4):
        await append(store, "game", version)
        await follower.catch_up()
    assert applied == [1]


def _new(stream: str, command_id: str = "batch") -> NewCommit:
    return NewCommit(stream, command_id, b"f", 0, b"payload", 1)


async def _count_waiting(pool: Pool) -> int:
    async with pool.connection() as connection:
        cursor = await connection.execute(
            """select count(*) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'"""
        )
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0])
