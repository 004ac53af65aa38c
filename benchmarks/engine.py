"""What a validated, durable move costs beside a bare insert, and what reading a game back costs.

Both servers are processes of their own, with as many connections to the same Postgres, and are driven in
turns by the same generator with the same requests. Every commit waits for the disk.
"""

import asyncio
import itertools
import random
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import grpc.aio
import uvloop

from baohuang.rpc.codec import encode_rules
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from benchmarks import servers
from benchmarks.figures import Figure, figure, percentile
from benchmarks.hands import RULES, SALT, Hand, hand, payloads
from services.engine.games import Games
from services.eventstore import EventStore, make_pool

ROUNDS = 5
ROUND_SECONDS = 3.0
OPEN_ROUNDS = 3
OPEN_SECONDS = 3.0
CLIENTS = 50
OPEN_GAMES = 200
HANDS = 50
READS = 300
SERVICE = "/baohuang.rpc.engine.v1.EngineService/"

Method = Any  # takes and gives bytes: the generator shares the machine with what it drives


class Table:
    """One game and the requests that play it, in order."""

    def __init__(self, name: str, recorded: Hand) -> None:
        self.create = pb.CreateGameRequest(
            game_id=name,
            command_id="create",
            rules=encode_rules(RULES),
            seed=recorded.seed.to_bytes(32, "big"),
            salt=SALT,
        ).SerializeToString()
        self.acts = self._acts(name, recorded)
        self.turn = asyncio.Lock()

    @staticmethod
    def _acts(name: str, recorded: Hand) -> Iterator[bytes]:
        for act in recorded.acts:
            request = pb.ActRequest()
            request.CopyFrom(act)
            request.game_id = name
            yield request.SerializeToString()


class Driver:
    """Drives one server."""

    def __init__(self, name: str, channel: grpc.aio.Channel, *, has_games: bool) -> None:
        self._name = name
        self._act: Method = channel.unary_unary(f"{SERVICE}Act")
        self._create: Method | None = channel.unary_unary(f"{SERVICE}CreateGame") if has_games else None
        self._games = 0

    async def tables(self, count: int) -> list[Table]:
        """New games."""
        tables = []
        for _ in range(count):
            self._games += 1
            tables.append(Table(f"{self._name}-{self._games}", hand(self._games % HANDS)))
        if self._create is not None:
            await asyncio.gather(*[self._create(table.create) for table in tables])
        return tables

    async def acts_per_second(self, seconds: float) -> float:
        """With all clients, each of which sends its next move when the last one was answered."""
        tables = await self.tables(CLIENTS)
        done = 0
        begin = time.perf_counter()
        end = begin + seconds

        async def play(table: Table) -> None:
            nonlocal done
            for request in table.acts:
                await self._act(request)
                done += 1
                if time.perf_counter() >= end:
                    return

        await asyncio.gather(*[play(table) for table in tables])
        return done / (time.perf_counter() - begin)

    async def waits(self, rate: float, seconds: float) -> list[float]:
        """Milliseconds from when a move was due to its answer, with moves due at random, `rate` a second."""
        # A game's next move comes long after its last one: what waits, waits for the server.
        tables = itertools.cycle(await self.tables(OPEN_GAMES))
        chance = random.Random(1)
        waits: list[float] = []

        async def move(table: Table, due: float) -> None:
            async with table.turn:
                await self._act(next(table.acts))
            waits.append((time.perf_counter() - due) * 1000)

        due = time.perf_counter()
        end = due + seconds
        async with asyncio.TaskGroup() as group:
            while due < end:
                pause = due - time.perf_counter()
                if pause > 0:
                    await asyncio.sleep(pause)
                group.create_task(move(next(tables), due))
                due += chance.expovariate(rate)
        return waits


async def _acts(dsn: str, bare: str, engine: str) -> list[Figure]:
    async with AsyncExitStack() as stack:
        channels = [await stack.enter_async_context(grpc.aio.insecure_channel(to)) for to in (bare, engine)]
        inserts = Driver("bare", channels[0], has_games=False)
        moves = Driver("engine", channels[1], has_games=True)
        for driver in (inserts, moves):
            await driver.acts_per_second(1.0)
        rounds = [
            [await driver.acts_per_second(ROUND_SECONDS) for driver in (inserts, moves)]
            for _ in range(ROUNDS)
        ]
        figures = [
            figure(f"bare insert, {CLIENTS} clients", "calls/s", [each[0] for each in rounds]),
            figure(f"Act, {CLIENTS} clients", "calls/s", [each[1] for each in rounds]),
            figure("Act beside bare insert", "%", [100 * each[1] / each[0] for each in rounds], 70),
        ]
        rate = max(each[1] for each in rounds) / 2
        waits: dict[str, list[float]] = {"bare insert": [], "Act": []}
        for _ in range(OPEN_ROUNDS):
            for kind, driver in zip(waits, (inserts, moves), strict=True):
                waits[kind] += await driver.waits(rate, OPEN_SECONDS)
        for kind, each in waits.items():
            p50, p99 = percentile(each, 50), percentile(each, 99)
            goal = 3 * p50 if kind == "Act" else None
            figures.append(figure(f"{kind} at {rate:,.0f}/s, p50", "ms", [p50]))
            figures.append(figure(f"{kind} at {rate:,.0f}/s, p99", "ms", [p99], goal, is_ceiling=True))
        return [*figures, *await _reading(dsn)]


async def _reading(dsn: str) -> list[Figure]:
    recorded = next(one for one in map(hand, range(HANDS)) if len(one.events) == 300)
    async with make_pool(dsn) as pool:
        store = EventStore(pool)
        version = 0
        for number, (events, payload) in enumerate(zip(recorded.commits, payloads(recorded), strict=True)):
            await store.append(
                "to-read",
                command_id=f"c{number}",
                fingerprint=b"",
                expected_version=version,
                payload=payload,
                event_count=len(events),
            )
            version += len(events)
        warm = Games(store)
        for _ in range(10):
            await warm.current("to-read")
        cold_ms, warm_ms = [], []
        for _ in range(READS):
            begin = time.perf_counter()
            await Games(store).current("to-read")
            between = time.perf_counter()
            await warm.current("to-read")
            cold_ms.append((between - begin) * 1000)
            warm_ms.append((time.perf_counter() - between) * 1000)
    return [
        figure("read and fold 300 events, p50", "ms", [percentile(cold_ms, 50)], 5, is_ceiling=True),
        figure("the same from the cache, p50", "ms", [percentile(warm_ms, 50)], 0.3, is_ceiling=True),
    ]


def measure() -> list[Figure]:
    """Two servers, one Postgres."""
    for seed in range(HANDS):
        hand(seed)
    with (
        servers.folder() as where,
        servers.postgres(where) as dsn,
        servers.listening("benchmarks.bare", BAOHUANG_DATABASE_URL=dsn) as bare,
        servers.listening("services.engine", BAOHUANG_DATABASE_URL=dsn) as engine,
    ):
        return uvloop.run(_acts(dsn, bare, engine))
