"""How fast the log takes and gives commits, how late followers are, and what a game takes on the disk.

Every append waits for the disk.
"""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import uvloop

from baohuang.rpc.codec import decode_events, encode_events
from benchmarks import servers
from benchmarks.figures import Figure, figure, percentile
from benchmarks.hands import hand, payloads
from services.eventstore import START, Commit, Connection, EventStore, NewCommit, Pool, make_pool
from services.eventstore.subscription import Follower, Subscription
from services.eventstore.wakeups import WakeupListener

HANDS = 40
LIVE_GAMES = 20
ROWS = 40_000
STREAMS = 400
BATCH = 200
RECORDED_GAMES = 20_000
PACKED_BYTES = 700
WRITERS = 2
PAGE = 2_000
RUNS = 3
APPENDS_PER_SECOND = 500.0
FOLLOW_SECONDS = 10.0


async def _size(pool: Pool) -> int:
    async with pool.connection() as connection:
        row = await (
            await connection.execute("select pg_total_relation_size('eventstore.commits')")
        ).fetchone()
    assert row is not None
    return int(row[0])


async def _empty(pool: Pool) -> None:
    async with pool.connection() as connection:
        await connection.execute("truncate eventstore.commits")


async def _analyze(pool: Pool) -> None:
    """What the server does by itself within a minute, and no measurement waits for."""
    async with pool.connection() as connection:
        await connection.execute("analyze eventstore.commits")


async def _live(pool: Pool) -> list[Figure]:
    """Hands that are appended move by move, all at the same time."""
    store = EventStore(pool)
    before = await _size(pool)
    events = 0

    async def append_all(number: int) -> None:
        nonlocal events
        recorded = hand(number % HANDS)
        version = 0
        for count, payload in zip(map(len, recorded.commits), payloads(recorded), strict=True):
            await store.append(
                f"live-{number}",
                command_id=f"seat{version % 5}-{version}",
                fingerprint=bytes(32),
                expected_version=version,
                payload=payload,
                event_count=count,
            )
            version += count
        events += version

    await asyncio.gather(*[append_all(number) for number in range(LIVE_GAMES)])
    taken = await _size(pool) - before
    return [
        figure("live game on the disk", "bytes", [taken / LIVE_GAMES]),
        figure("event of a live game on the disk", "bytes", [taken / events]),
    ]


async def _read_all(pool: Pool) -> list[Figure]:
    """Commits of one event each, as tuples, and with the events themselves."""
    store = EventStore(pool)
    moves = [encode_events(events) for events in hand(0).commits if len(events) == 1]
    for version in range(ROWS // STREAMS):
        payload = moves[version % len(moves)]
        await store.append_batch(
            [
                NewCommit(f"row-{stream}", str(version), bytes(32), version, payload, 1)
                for stream in range(STREAMS)
            ]
        )
    await _analyze(pool)
    rates: list[list[float]] = [[], []]
    for _ in range(RUNS):
        for runs, decode in zip(rates, (False, True), strict=True):
            cursor, rows = START, 0
            begin = time.perf_counter()
            while page := await store.read_all(cursor, PAGE):
                if decode:
                    for commit in page:
                        decode_events(commit.payload)
                rows += len(page)
                cursor = page[-1].cursor
            runs.append(rows / (time.perf_counter() - begin))
    return [
        figure("read_all", "commits/s", rates[0]),
        figure("read_all and the events decoded", "commits/s", rates[1], 70_000),
    ]


async def _recorded(pool: Pool) -> list[Figure]:
    """Recorded games, one commit each, from two writers at once."""
    store = EventStore(pool)
    # A game of a tournament is packed to that; random bytes, so that the server finds nothing to compress.
    chance = random.Random(1)
    packed = [(chance.randbytes(PACKED_BYTES), len(one.events)) for one in map(hand, range(HANDS))]
    await _empty(pool)
    before = await _size(pool)
    rates = []
    games = events = 0

    async def write(batches: int) -> None:
        nonlocal games, events
        for _ in range(batches):
            batch = []
            for _ in range(BATCH):
                payload, count = packed[games % HANDS]
                batch.append(NewCommit(f"recorded-{games}", "record", bytes(32), 0, payload, count))
                games += 1
                events += count
            await store.append_batch(batch)

    for _ in range(RUNS):
        begin, done = time.perf_counter(), games
        await asyncio.gather(*[write(RECORDED_GAMES // BATCH // WRITERS) for _ in range(WRITERS)])
        rates.append((games - done) / (time.perf_counter() - begin))
    taken = await _size(pool) - before
    return [
        figure(f"append_batch of {BATCH}, {WRITERS} writers", "games/s", rates, 10_000),
        figure(f"recorded game of {PACKED_BYTES} bytes on the disk", "bytes", [taken / games]),
        figure("event of a recorded game on the disk", "bytes", [taken / events]),
    ]


class Told:
    """When each commit was applied and could be seen so: the follower's turn had ended."""

    def __init__(self) -> None:
        self.applied: dict[str, float] = {}
        self._in_turn: list[str] = []
        self._changed = asyncio.Event()

    async def until_applied(self, count: int) -> None:
        while len(self.applied) < count:
            self._changed.clear()
            await self._changed.wait()

    async def apply(self, connection: Connection, commit: Commit) -> None:
        await connection.execute("insert into followed values (%s, %s)", [commit.stream, commit.version])
        self._in_turn.append(f"{commit.stream}/{commit.version}")

    def end_turn(self) -> None:
        now = time.monotonic()
        self.applied.update(dict.fromkeys(self._in_turn, now))
        self._in_turn.clear()
        self._changed.set()


class Timed(Follower):
    """A follower that notes the end of its turns."""

    def __init__(self, pool: Pool, told: Told, listener: WakeupListener) -> None:
        super().__init__(pool, Subscription("followed", told.apply), listener)
        self._told = told

    async def turn(self, connection: Connection | None = None) -> int:
        applied = await super().turn(connection)
        self._told.end_turn()
        return applied


async def _follow(pool: Pool, dsn: str, valkey: str) -> list[Figure]:
    """The appends come from another process, at random moments."""
    await _empty(pool)
    await _analyze(pool)
    async with AsyncExitStack() as stack:
        async with pool.connection() as connection:
            await connection.execute("create table followed (stream text, version integer)")
        listener = await stack.enter_async_context(WakeupListener(valkey))
        await listener.is_listening.wait()
        told = Told()
        follower = Timed(pool, told, listener)
        await follower.catch_up()
        following = asyncio.create_task(follower.run())
        appender = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.appender", dsn, valkey),
            *(str(APPENDS_PER_SECOND), str(FOLLOW_SECONDS)),
            cwd=servers.ROOT,
            stdout=subprocess.PIPE,
        )
        output, _ = await appender.communicate()
        lines = [line.split() for line in output.decode().splitlines()]
        acknowledged = {name: float(moment) for name, moment in lines}
        await asyncio.wait_for(told.until_applied(len(acknowledged)), 30)
        follower.stop()
        await following
    lags = [1000 * (told.applied[name] - moment) for name, moment in acknowledged.items()]
    rate = len(acknowledged) / (max(acknowledged.values()) - min(acknowledged.values()))
    return [
        figure(f"follower's lag at {rate:,.0f} appends/s, p50", "ms", [percentile(lags, 50)]),
        figure("the same, p99", "ms", [percentile(lags, 99)], 50, is_ceiling=True),
    ]


async def _measure(dsn: str, valkey: str) -> list[Figure]:
    figures: list[Figure] = []
    async with make_pool(dsn) as pool:
        steps: list[Callable[[Pool], Awaitable[list[Figure]]]] = [_live, _read_all, _recorded]
        for step in steps:
            figures += await step(pool)
        figures += await _follow(pool, dsn, valkey)
    return figures


def measure() -> list[Figure]:
    """One Postgres, one Valkey, one further process that appends."""
    with servers.folder() as where, servers.postgres(where) as dsn, servers.valkey(where) as valkey:
        return uvloop.run(_measure(dsn, valkey))
