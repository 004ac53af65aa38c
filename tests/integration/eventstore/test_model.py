"""Random appenders, readers, archivers and crashes against a model of the log that is a few lists."""

import asyncio
import random
from dataclasses import dataclass, field

import psycopg
import pytest

from services.eventstore import (
    START,
    CommandReused,
    Commit,
    Cursor,
    EventStore,
    NewCommit,
    Pool,
    VersionConflict,
)
from services.eventstore.archive import archive_streams, unarchive_streams
from services.eventstore.pool import Connection
from tests.integration.eventstore.scene import append_within

STREAMS = [f"game-{number}" for number in range(8)]


@dataclass
class Reader:
    buckets: list[int] | None
    after: Cursor = START
    seen: list[Commit] = field(default_factory=list)


@dataclass
class Machine:
    """Does random things to the real log and to `streams`, which says what the log must hold."""

    store: EventStore
    pool: Pool
    dsn: str
    chance: random.Random
    streams: dict[str, list[NewCommit]] = field(default_factory=lambda: {name: [] for name in STREAMS})
    open: dict[str, Connection] = field(default_factory=dict)
    readers: list[Reader] = field(default_factory=list)
    count: int = 0

    def version(self, stream: str) -> int:
        return sum(commit.event_count for commit in self.streams[stream])

    def idle_streams(self) -> list[str]:
        return [stream for stream in STREAMS if stream not in self.open]

    def new(self, stream: str, expected_version: int | None = None) -> NewCommit:
        self.count += 1
        expected = self.version(stream) if expected_version is None else expected_version
        name = f"command-{self.count}"
        return NewCommit(stream, name, name.encode(), expected, name.encode(), self.chance.randint(1, 5))

    async def send(self, commit: NewCommit, fingerprint: bytes | None = None) -> tuple[int, bytes, bool]:
        answer = await self.store.append(
            commit.stream,
            command_id=commit.command_id,
            fingerprint=fingerprint or commit.fingerprint,
            expected_version=commit.expected_version,
            payload=commit.payload,
            event_count=commit.event_count,
        )
        return answer.version, answer.payload, answer.is_repeated

    async def append(self) -> None:
        commit = self.new(self.chance.choice(self.idle_streams()))
        answer = await self.send(commit)
        assert answer == (commit.expected_version + commit.event_count, commit.payload, False)
        self.streams[commit.stream].append(commit)

    async def append_at_wrong_version(self) -> None:
        stream = self.chance.choice(self.idle_streams())
        wrong = self.version(stream) + self.chance.choice([-1, 1, 3])
        if wrong >= 0:
            with pytest.raises(VersionConflict) as refusal:
                await self.send(self.new(stream, wrong))
            assert refusal.value.actual == self.version(stream)

    async def repeat(self) -> None:
        known = [commit for stream in self.idle_streams() for commit in self.streams[stream]]
        if known:
            commit = self.chance.choice(known)
            answer = await self.send(commit)
            assert answer == (commit.expected_version + commit.event_count, commit.payload, True)
            with pytest.raises(CommandReused):
                await self.send(commit, fingerprint=b"another content")

    async def append_batch(self) -> None:
        streams = self.chance.sample(self.idle_streams(), 3)
        batch = []
        for stream in streams:
            is_old = self.streams[stream] and self.chance.random() < 0.3
            batch.append(self.chance.choice(self.streams[stream]) if is_old else self.new(stream))
        results = await self.store.append_batch(batch)
        for commit, result in zip(batch, results, strict=True):
            assert result.is_repeated == (commit in self.streams[commit.stream])
            assert result.version == commit.expected_version + commit.event_count
            if not result.is_repeated:
                self.streams[commit.stream].append(commit)

    async def begin(self) -> None:
        """An append whose transaction stays open for a while."""
        if len(self.open) == 5:
            return
        stream = self.chance.choice(self.idle_streams())
        connection = await psycopg.AsyncConnection.connect(self.dsn)
        assert await append_within(connection, stream, self.version(stream)) == "appended"
        self.open[stream] = connection

    async def end(self) -> None:
        """Such a transaction commits, is rolled back, or its session is killed."""
        if not self.open:
            return
        stream = self.chance.choice(list(self.open))
        connection = self.open.pop(stream)
        match self.chance.choice(["commit", "rollback", "kill"]):
            case "commit":
                await connection.commit()
                version = self.version(stream)
                name = f"{stream}-{version}"
                payload = f"{stream}/{name}".encode()
                self.streams[stream].append(NewCommit(stream, name, b"f", version, payload, 1))
            case "rollback":
                await connection.rollback()
            case "kill":
                async with self.pool.connection() as killer:
                    await killer.execute(
                        "select pg_terminate_backend(%s, 10000)", [connection.info.backend_pid]
                    )
        await connection.close()

    async def read(self) -> None:
        reader = self.chance.choice(self.readers)
        page = await self.store.read_all(reader.after, self.chance.randint(1, 6), reader.buckets)
        if page:
            reader.seen += page
            reader.after = page[-1].cursor

    async def read_stream(self) -> None:
        stream = self.chance.choice(STREAMS)
        after = self.chance.randint(0, self.version(stream))
        found = await self.store.read_stream(stream, after)
        expected = [c for c in self.streams[stream] if c.expected_version + c.event_count > after]
        assert [(c.command_id, c.first_version, c.payload) for c in found] == [
            (c.command_id, c.expected_version + 1, c.payload) for c in expected
        ]

    async def archive(self) -> None:
        some = self.chance.sample(self.idle_streams(), 2)
        await self.chance.choice([archive_streams, unarchive_streams])(self.pool, some)

    async def finish(self) -> None:
        while self.open:
            await self.end()
        for reader in self.readers:
            while page := await self.store.read_all(reader.after, 5, reader.buckets):
                reader.seen += page
                reader.after = page[-1].cursor

    def verify(self) -> None:
        whole, *others = self.readers
        for stream in STREAMS:
            assert [c.command_id for c in whole.seen if c.stream == stream] == [
                c.command_id for c in self.streams[stream]
            ]
        assert len(whole.seen) == sum(len(commits) for commits in self.streams.values())
        for reader in others:
            wanted = range(64) if reader.buckets is None else reader.buckets
            assert reader.seen == [commit for commit in whole.seen if commit.bucket in wanted]


@pytest.mark.parametrize("seed", range(6))
async def test_log_equals_the_model(seed: int, store: EventStore, pool: Pool, database: str) -> None:
    chance = random.Random(seed)
    machine = Machine(store, pool, database, chance)
    machine.readers = [Reader(None), Reader(None), Reader(list(range(0, 64, 2))), Reader([7, 20, 33])]
    steps = [
        machine.append,
        machine.append_at_wrong_version,
        machine.repeat,
        machine.append_batch,
        machine.begin,
        machine.end,
        machine.read,
        machine.read_stream,
        machine.archive,
    ]
    for step in chance.choices(steps, weights=[6, 1, 1, 2, 2, 2, 8, 2, 1], k=120):
        await step()
    await machine.finish()
    machine.verify()


async def test_many_writers_at_once_lose_and_reorder_nothing(store: EventStore) -> None:
    """The same streams from many tasks, each command sent until it is in, while readers follow."""
    chance = random.Random(1)
    done = asyncio.Event()

    async def write(writer: int) -> None:
        for number in range(20):
            stream = chance.choice(STREAMS)
            version = 0
            while True:
                try:
                    await store.append(
                        stream,
                        command_id=f"{writer}-{number}",
                        fingerprint=b"f",
                        expected_version=version,
                        payload=f"{writer}-{number}".encode(),
                        event_count=1,
                    )
                    break
                except VersionConflict as conflict:
                    version = conflict.actual

    async def follow() -> list[Commit]:
        seen: list[Commit] = []
        after = START
        while True:
            is_last = done.is_set()
            page = await store.read_all(after, 50)
            seen += page
            after = page[-1].cursor if page else after
            if is_last and not page:
                return seen

    followers = [asyncio.create_task(follow()) for _ in range(3)]
    await asyncio.gather(*(write(writer) for writer in range(12)))
    done.set()
    first, *others = await asyncio.gather(*followers)
    assert all(other == first for other in others)
    assert len({commit.payload for commit in first}) == len(first) == 240
    for stream in STREAMS:
        versions = [commit.version for commit in first if commit.stream == stream]
        assert versions == list(range(1, len(versions) + 1))
