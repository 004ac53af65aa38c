"""Append: idempotent by command id, refused at the wrong version, all or nothing in a batch."""

import asyncio

import pytest

from services.eventstore import (
    START,
    CommandReused,
    Cursor,
    EventStore,
    InvalidCommit,
    InvalidCursor,
    Limits,
    NewCommit,
    Pool,
    StoreUnavailable,
    VersionConflict,
    bucket_of,
    make_pool,
)
from services.eventstore.errors import NotFirstWrite, translated_errors
from services.eventstore.pool import Connection
from tests.integration.eventstore.scene import append, by_hand, read_on


async def test_first_commit_holds_all_its_events(store: EventStore) -> None:
    appended = await append(store, "game", 0, event_count=3)
    [commit] = await store.read_stream("game")
    assert (appended.first_version, appended.version, appended.is_repeated) == (1, 3, False)
    assert (commit.cursor, commit.version, commit.event_count) == (appended.cursor, 3, 3)
    assert (commit.payload, commit.schema_version, commit.bucket) == (b"game/game-0", 1, bucket_of("game"))
    assert await store.stream_version("game") == 3


async def test_unknown_stream_is_empty(store: EventStore) -> None:
    assert await store.read_stream("nobody") == []
    assert await store.stream_version("nobody") == 0


async def test_read_stream_continues_after_a_version(store: EventStore) -> None:
    for version in (0, 2, 4):
        await append(store, "game", version, event_count=2)
    assert [commit.version for commit in await store.read_stream("game", after_version=2)] == [4, 6]
    assert [commit.version for commit in await store.read_stream("game", after_version=3)] == [4, 6]


async def test_same_command_again_gives_the_first_answer(store: EventStore) -> None:
    first = await append(store, "game", 0, "deal")
    await append(store, "game", 1, "play")
    again = await store.append(
        "game", command_id="deal", fingerprint=b"f", expected_version=0, payload=b"drawn anew", event_count=5
    )
    assert again == first._replace(is_repeated=True)
    assert await store.stream_version("game") == 2


async def test_same_command_at_once_is_stored_once(store: EventStore) -> None:
    answers = await asyncio.gather(*(append(store, "game", 0, "deal") for _ in range(20)))
    assert len({answer._replace(is_repeated=False) for answer in answers}) == 1
    assert sorted(answer.is_repeated for answer in answers) == [False] + [True] * 19


async def test_same_id_with_another_content_is_refused(store: EventStore) -> None:
    await append(store, "game", 0, "deal")
    with pytest.raises(CommandReused):
        await append(store, "game", 1, "deal", fingerprint=b"other")
    assert await store.stream_version("game") == 1


async def test_same_id_in_another_stream_is_another_command(store: EventStore) -> None:
    await append(store, "game-1", 0, "deal")
    assert not (await append(store, "game-2", 0, "deal")).is_repeated


@pytest.mark.parametrize("expected", [0, 1, 3])
async def test_wrong_version_is_told_the_actual_one(store: EventStore, expected: int) -> None:
    await append(store, "game", 0, event_count=2)
    with pytest.raises(VersionConflict) as refusal:
        await append(store, "game", expected, "late")
    assert (refusal.value.expected, refusal.value.actual) == (expected, 2)
    assert len(await store.read_stream("game")) == 1


async def test_of_many_at_the_same_version_one_is_stored(store: EventStore) -> None:
    answers = await asyncio.gather(
        *(append(store, "game", 0, f"command-{number}") for number in range(20)), return_exceptions=True
    )
    refusals = [answer for answer in answers if isinstance(answer, VersionConflict)]
    assert [refusal.actual for refusal in refusals] == [1] * 19


@pytest.mark.parametrize(
    "change",
    [
        {"stream": ""},
        {"stream": "x" * 201},
        {"stream": "nul\0"},
        {"stream": "half a character \ud800"},
        {"stream": "保" * 67},
        {"command_id": ""},
        {"command_id": "\udfff"},
        {"event_count": 0},
        {"expected_version": -1},
        {"expected_version": 2**31 - 1},
        {"schema_version": 0},
        {"schema_version": 2**15},
    ],
)
def test_what_breaks_a_rule_of_the_log_is_refused(change: dict[str, object]) -> None:
    good: dict[str, object] = {
        "stream": "game",
        "command_id": "deal",
        "fingerprint": b"f",
        "expected_version": 0,
        "payload": b"",
        "event_count": 1,
    }
    NewCommit(**good)  # type: ignore[arg-type]
    with pytest.raises(InvalidCommit):
        NewCommit(**(good | change))  # type: ignore[arg-type]


def new(stream: str, command_id: str = "batch", expected_version: int = 0, count: int = 1) -> NewCommit:
    return NewCommit(stream, command_id, b"f", expected_version, f"{stream}/{command_id}".encode(), count)


async def test_batch_gives_results_in_its_order(store: EventStore) -> None:
    await append(store, "b", 0)
    results = await store.append_batch([new("c"), new("b", expected_version=1, count=4), new("a")])
    assert [(result.stream, result.version) for result in results] == [("c", 1), ("b", 5), ("a", 1)]
    log = {commit.cursor: commit.stream for commit in await read_on(store)}
    assert [log[result.cursor] for result in results] == ["c", "b", "a"]


async def test_batch_again_repeats_what_was_stored(store: EventStore) -> None:
    first = await store.append_batch([new("a"), new("b")])
    await append(store, "a", 1)
    again = await store.append_batch([new("a"), new("b"), new("c")])
    assert again[:2] == [result._replace(is_repeated=True) for result in first]
    assert (again[2].stream, again[2].version, again[2].is_repeated) == ("c", 1, False)
    assert len(await read_on(store)) == 4


async def test_batch_with_one_conflict_stores_nothing(store: EventStore) -> None:
    await append(store, "b", 0)
    with pytest.raises(VersionConflict) as refusal:
        await store.append_batch([new("a"), new("b"), new("c")])
    assert (refusal.value.stream, refusal.value.actual) == ("b", 1)
    assert [commit.stream for commit in await read_on(store)] == ["b"]


async def test_batch_with_one_reused_command_stores_nothing(store: EventStore) -> None:
    await append(store, "b", 0, "batch", fingerprint=b"other")
    with pytest.raises(CommandReused):
        await store.append_batch([new("a"), new("b")])
    assert [commit.stream for commit in await read_on(store)] == ["b"]


async def test_batch_of_nothing_writes_nothing(store: EventStore) -> None:
    assert await store.append_batch([]) == []


async def test_batch_bounds(store: EventStore) -> None:
    with pytest.raises(InvalidCommit):
        await store.append_batch([new("a"), new("a", "other", 1)])
    with pytest.raises(InvalidCommit):
        await store.append_batch([new(f"game-{number}") for number in range(501)])
    assert len(await store.append_batch([new(f"game-{number}") for number in range(500)])) == 500


async def test_rows_beside_a_batch_stand_or_fall_with_it(store: EventStore, pool: Pool) -> None:
    async with pool.connection() as connection:
        await connection.execute("create table results (stream text)")

    async def write_results(connection: Connection, results: list[object]) -> None:
        await connection.execute("insert into results values ('a')")

    async def fail(connection: Connection, results: list[object]) -> None:
        await connection.execute("insert into results values ('b')")
        raise ZeroDivisionError

    await store.append_batch([new("a")], also=write_results)
    with pytest.raises(ZeroDivisionError):
        await store.append_batch([new("b")], also=fail)
    async with pool.connection() as connection:
        rows = await (await connection.execute("select stream from results")).fetchall()
    assert rows == [("a",)]
    assert [commit.stream for commit in await read_on(store)] == ["a"]


async def test_rows_beside_a_batch_that_take_too_long_are_given_up_with_it(database: str) -> None:
    """The open transaction hides newer commits from all readers, so the server ends it."""

    async def hang(connection: Connection, results: list[object]) -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(connection.pgconn.socket, ended.set)
        await ended.wait()
        asyncio.get_running_loop().remove_reader(connection.pgconn.socket)
        await connection.execute("select 1")

    async with make_pool(database, limits=Limits(idle_in_transaction_seconds=0.1)) as pool:
        store = EventStore(pool)
        with pytest.raises(StoreUnavailable):
            await store.append_batch([new("a"), new("b")], also=hang)
        assert await read_on(store) == []
        assert not (await store.append_batch([new("a"), new("b")]))[0].is_repeated


async def test_batch_is_the_first_write_of_its_transaction(database: str) -> None:
    async with by_hand(database) as connection:
        await connection.execute("select pg_current_xact_id()")
        with pytest.raises(NotFirstWrite), translated_errors():
            await connection.execute("select eventstore.lock_streams(array['game'])")


async def test_listener_hears_of_new_commits_only(pool: Pool) -> None:
    heard: list[list[int]] = []

    class Listener:
        def committed(self, buckets: object) -> None:
            heard.append(list(buckets))  # type: ignore[call-overload]

    store = EventStore(pool, Listener())
    await append(store, "game", 0)
    await append(store, "game", 0)
    with pytest.raises(VersionConflict):
        await append(store, "game", 7, "late")
    await store.append_batch([new("a"), new("b")])
    assert heard == [[bucket_of("game")], sorted({bucket_of("a"), bucket_of("b")})]


async def test_buckets_are_the_same_in_the_database(pool: Pool) -> None:
    names = ["game", "保皇", "x" * 200, *(f"game-{number}" for number in range(300))]
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "select eventstore.bucket_of(name) "
            "from unnest(%s::text[]) with ordinality s (name, n) order by n",
            [names],
        )
        assert [row[0] for row in await cursor.fetchall()] == [bucket_of(name) for name in names]
    assert len({bucket_of(name) for name in names}) > 60


async def test_reading_some_buckets_shows_their_streams_only(store: EventStore) -> None:
    for number in range(30):
        await append(store, f"game-{number}", 0)
    everything = await read_on(store, limit=7)
    some = list(range(0, 64, 3))
    assert await read_on(store, limit=7, buckets=some) == [c for c in everything if c.bucket in some]
    assert await read_on(store, buckets=[]) == []
    with pytest.raises(ValueError, match="buckets"):
        await store.read_all(START, buckets=[64])


async def test_horizon_is_behind_what_can_be_seen(store: EventStore) -> None:
    await append(store, "game", 0)
    horizon = await store.horizon()
    assert await store.read_all(horizon) == []
    await append(store, "game", 1)
    assert [commit.version for commit in await store.read_all(horizon)] == [2]


async def test_cursor_text_round_trip_and_refusals(store: EventStore) -> None:
    appended = await append(store, "game", 0)
    assert Cursor.parse(appended.cursor.format()) == appended.cursor
    await store.check_cursor(appended.cursor)
    for text in ("", "1", "1-", "-1", "x-1", "1-1-1", "1" * 17 + "-1", "1-ffffffffffffffff", "1-1\n"):
        with pytest.raises(InvalidCursor):
            Cursor.parse(text)
    with pytest.raises(InvalidCursor):
        await store.check_cursor(Cursor(1 << 40, 1))


async def test_lost_connection_is_unavailable_and_the_command_may_be_sent_again(
    store: EventStore, pool: Pool, database: str
) -> None:
    async with by_hand(database) as holder:
        await holder.execute("select pg_advisory_xact_lock(eventstore.lock_key_of('game'))")
        waiting = asyncio.create_task(append(store, "game", 0))
        async with by_hand(database) as observer:
            await observer.set_autocommit(True)
            killed = 0
            while not killed:
                cursor = await observer.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where datname = current_database() and wait_event = 'advisory'"
                )
                killed = cursor.rowcount
        with pytest.raises(StoreUnavailable) as failure:
            await waiting
    assert failure.value.is_retryable
    assert not (await append(store, "game", 0)).is_repeated


async def test_full_disk_is_unavailable_and_leaves_nothing_half_written(
    store: EventStore, pool: Pool
) -> None:
    async with pool.connection() as connection:
        await connection.execute(
            """create function eventstore.fail() returns trigger language plpgsql as
            $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$;
            create trigger full_disk before insert on eventstore.commits
            for each row when (new.stream = 'b') execute function eventstore.fail()"""
        )
    with pytest.raises(StoreUnavailable):
        await append(store, "b", 0)
    with pytest.raises(StoreUnavailable):
        await store.append_batch([new("a"), new("b")])
    assert await read_on(store) == []
    async with pool.connection() as connection:
        await connection.execute("drop trigger full_disk on eventstore.commits")
    assert not (await append(store, "b", 0)).is_repeated


async def test_no_free_connection_is_unavailable(database: str) -> None:
    async with make_pool(database, max_size=1, wait_seconds=0.05) as small:
        await small.wait(timeout=60)
        async with small.connection():
            with pytest.raises(StoreUnavailable):
                await append(EventStore(small), "game", 0)


async def test_connections_carry_the_operating_limits(pool: Pool) -> None:
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "select name from pg_settings where setting::bigint > 0 and name in "
            "('idle_in_transaction_session_timeout', 'statement_timeout', 'lock_timeout', "
            "'transaction_timeout')"
        )
        limited = {row[0] for row in await cursor.fetchall()}
        expected = {"idle_in_transaction_session_timeout", "statement_timeout", "lock_timeout"}
        if connection.info.server_version >= 170_000:
            expected.add("transaction_timeout")
    assert limited == expected
