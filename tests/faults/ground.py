"""The engine and the followers as real processes on a database of their own, each behind a relay; a driver
that sends each command until it is acknowledged; and what must be true in the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import grpc.aio
import psycopg
import pytest
from psycopg.types.json import Jsonb

from baohuang.rpc.codec import encode_event, encode_events
from baohuang.rpc.engine.v1.engine_pb2_grpc import EngineServiceStub
from baohuang.rules.events import redact
from services.eventstore import make_pool, migrate, migrate_eventstore
from services.eventstore.parked import parked_commits
from services.eventstore.projection import rebuild
from services.eventstore.subscription import Follower, Subscription
from services.kit.rpc import error_from_rpc
from services.lobby.__main__ import MIGRATIONS as LOBBY_MIGRATIONS
from services.lobby.games import Games
from services.lobby.projection import SUBSCRIPTION, LobbyProjection
from services.local.ports import ReservedPort
from services.replay.__main__ import MIGRATIONS as REPLAY_MIGRATIONS
from services.replay.games import GamesProjection
from tests.faults.hands import Hand
from tests.faults.relay import Relay
from tests.faults.servers import KILLS, Servers

APPEND = "eventstore.append("
FOLLOWERS = ("lobby", "replay")
PATIENCE_SECONDS = 120

# Connections that broke are made again at once, as far as gRPC allows.
CHANNEL_OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.min_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 100),
)
_RETRYABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)

LOG: LiteralString = """
select stream, first_version, version, schema_version, command_id, fingerprint, payload
from eventstore.log order by stream, version"""

# Without the times and the counters of attempts, which are no matter of the log.
PROJECTED: tuple[LiteralString, ...] = (
    """select table_id, status, reason, hands_played, hands_counted, scores, penalties, first_drawer, dues
    from lobby.tables order by table_id""",
    """select table_id, number, game_id, status, first_drawer, dues, outcome, ended_at is not null
    from lobby.hands order by table_id, number""",
    "select game_id, seat, version, answers, bot, kind, starts from lobby.turns order by game_id, seat",
    "select * from replay.games order by game_id",
)

# The lobby as it was before any hand began: what follows is to be made from the log.
RESET_LOBBY: tuple[LiteralString, ...] = (
    "delete from lobby.turns",
    "update lobby.hands set status = 'opening', outcome = null, ended_at = null",
    """update lobby.tables set status = 'starting', hands_played = 0, hands_counted = 0,
    scores = '{0,0,0,0,0}', penalties = '{0,0,0,0,0}', first_drawer = 0, dues = '[]'""",
    "delete from eventstore.checkpoints where subscription = 'lobby'",
)


@dataclass
class Process:
    """A process of the platform; `pid` is None while it does not run."""

    service: str
    arguments: list[str]
    environment: dict[str, str]
    relay: Relay
    log: Path
    pid: int | None = None

    async def wait_logged(self, text: str) -> None:
        """Until its log holds that text."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                if self.log.exists() and text in self.log.read_text():
                    return
                await asyncio.sleep(0.01)


@dataclass
class Ground:
    """What a test drives."""

    servers: Servers
    dsn: str
    processes: dict[str, Process]
    stub: EngineServiceStub
    resent: int = 0

    @property
    def relays(self) -> list[Relay]:
        return [process.relay for process in self.processes.values()]

    def start(self, *names: str) -> None:
        for name in names:
            process = self.processes[name]
            process.pid = self.servers.forge.start(
                process.service, process.arguments, process.environment, process.log
            )

    def kill(self, *names: str) -> None:
        for name in names:
            code = self.end(name)
            assert code == -signal.SIGKILL, f"{name} had ended by itself: {code}"
            KILLS[name] += 1

    def end(self, name: str) -> int:
        """Ends a process at once; gives its exit code."""
        process = self.processes[name]
        assert process.pid is not None
        pid, process.pid = process.pid, None
        return self.servers.forge.kill(pid)

    def restart_ended(self) -> None:
        """As a supervisor does: those that could not start while Postgres was away are started again."""
        for name, process in self.processes.items():
            assert process.pid is not None
            code = self.servers.forge.exit_code(process.pid)
            if code is not None:
                assert code == 1, f"{name} ended with {code}"
                self.start(name)

    async def kill_postgres(self) -> list[tuple[Any, ...]]:
        """kill -9 of the server and all its processes, and its recovery; the log before anybody goes on."""
        with contextlib.ExitStack() as stack:
            for relay in self.relays:
                stack.enter_context(relay.closed_door())
            await asyncio.to_thread(self.servers.postgres.kill)
            KILLS["postgres"] += 1
            await asyncio.to_thread(self.servers.postgres.start)
            return await self.log()

    @contextlib.asynccontextmanager
    async def postgres_stopped(self) -> AsyncIterator[None]:
        """The server is stopped cleanly for the length of the block."""
        with contextlib.ExitStack() as stack:
            for relay in self.relays:
                stack.enter_context(relay.closed_door())
            await asyncio.to_thread(self.servers.postgres.stop)
            yield
            await asyncio.to_thread(self.servers.postgres.start)

    async def attempt(self, hand: Hand, number: int) -> Any:
        """The engine's answer to a command that is sent once."""
        method, request = hand.commands[number]
        return await getattr(self.stub, method)(request, timeout=PATIENCE_SECONDS, wait_for_ready=True)

    async def refused(self, attempt: asyncio.Task[Any]) -> str:
        """The reason why an attempt was refused, which must be UNAVAILABLE."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await attempt
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        return error_from_rpc(caught.value).reason

    async def send(self, hand: Hand, number: int) -> bool:
        """Sends a command until it is acknowledged, and checks the answer; whether it was a repeated one."""
        while True:
            try:
                applied = (await self.attempt(hand, number)).applied
                break
            except grpc.aio.AioRpcError as error:
                if error.code() not in _RETRYABLE:
                    raise
                self.resent += 1
        method, request = hand.commands[number]
        viewer = request.seat if method == "Act" else None
        events = hand.events[number]
        assert list(applied.events) == [encode_event(redact(event, viewer)) for event in events]
        assert applied.log_version == sum(len(each) for each in hand.events[: number + 1])
        return bool(applied.repeated_command)

    async def query(self, statement: LiteralString) -> list[tuple[Any, ...]]:
        async with await psycopg.AsyncConnection.connect(self.dsn, autocommit=True) as connection:
            return await (await connection.execute(statement)).fetchall()

    async def log(self) -> list[tuple[Any, ...]]:
        return await self.query(LOG)

    @contextlib.asynccontextmanager
    async def locked(self, hands: Sequence[Hand]) -> AsyncIterator[Locks]:
        """Holds the locks of these games' streams, so that appends to them stand still inside the server."""
        connection = await psycopg.AsyncConnection.connect(self.dsn)
        try:
            for hand in hands:
                await connection.execute(
                    "select pg_advisory_xact_lock(eventstore.lock_key_of(%s))", [hand.game_id]
                )
            yield Locks(connection)
        finally:
            await connection.close()

    async def open_tables(self, hands: Sequence[Hand]) -> None:
        """A table of bots for each game, whose hand is written down and never due to be opened by others."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self.dsn) as connection:
                    for hand in hands:
                        await _open_table(connection, hand)
                return
            except psycopg.OperationalError:
                await asyncio.sleep(0.05)  # the server was killed

    async def wait_followed(self) -> None:
        """Until every follower has applied all that the log holds."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            async with await psycopg.AsyncConnection.connect(self.dsn, autocommit=True) as connection:
                while True:
                    cursor = await connection.execute(
                        """select from unnest(%s::text[]) as s (subscription)
                        cross join (
                            select bucket, max((log.tx::text::numeric) * 1e12 + log.position) as place
                            from eventstore.log group by bucket
                        ) last
                        left join eventstore.checkpoints c
                            on c.subscription = s.subscription and c.bucket = last.bucket
                        where last.place > coalesce(c.tx::text::numeric * 1e12 + c.position, -1)""",
                        [list(FOLLOWERS)],
                    )
                    if cursor.rowcount == 0:
                        return
                    await asyncio.sleep(0.01)

    async def check(self, hands: Sequence[Hand], undisturbed: Sequence[tuple[Any, ...]] | None) -> None:
        """The log is the undisturbed one, and the projections are what a rebuild from zero makes of it.

        Ends the followers.
        """
        await self.wait_followed()
        for name in FOLLOWERS:
            self.end(name)
        log = await self.log()
        assert [(row[0], row[4], row[6]) for row in log] == [
            (hand.game_id, request.command_id, encode_events(events))
            for hand in sorted(hands, key=lambda hand: hand.game_id)
            for (_, request), events in zip(hand.commands, hand.events, strict=True)
        ]
        if undisturbed is not None:
            games = {hand.game_id for hand in hands}
            assert log == [row for row in undisturbed if row[0] in games]
        followed = [await self.query(statement) for statement in PROJECTED]
        async with make_pool(self.dsn, max_size=4, application="test") as pool:
            assert await parked_commits(pool) == []
            async with pool.connection() as connection, connection.transaction():
                for statement in RESET_LOBBY:
                    await connection.execute(statement)
            projection = LobbyProjection(Games())
            assert await Follower(pool, Subscription(SUBSCRIPTION, projection.apply)).catch_up() == len(log)
            assert await rebuild(pool, GamesProjection()) == len(log)
        assert [await self.query(statement) for statement in PROJECTED] == followed


async def _open_table(connection: psycopg.AsyncConnection[Any], hand: Hand) -> None:
    """Once, however often it is tried."""
    rules = hand.game.rules
    table_id = f"table-{hand.game_id}"
    added = await connection.execute(
        """insert into lobby.tables (table_id, preset, options, hands_to_play, status)
        values (%s, %s, %s, 1, 'starting') on conflict do nothing""",
        [table_id, rules.name, Jsonb(rules.options())],
    )
    if not added.rowcount:
        return
    await connection.execute(
        """insert into lobby.seats (table_id, seat, bot)
        select %s, seat, 'random' from generate_series(0, 4) as s (seat)""",
        [table_id],
    )
    await connection.execute(
        """insert into lobby.hands (table_id, number, game_id, first_drawer, dues, bots, due_at)
        values (%s, 1, %s, 0, '[]', array_fill('random'::text, '{5}'), 'infinity')""",
        [table_id, hand.game_id],
    )


class Locks:
    """Streams whose locks a test holds."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    async def wait_queued(self, count: int) -> None:
        """Until that many appends wait for the locks."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                cursor = await self._connection.execute(
                    """select from pg_locks where locktype = 'advisory' and not granted
                    and database = (select oid from pg_database where datname = current_database())"""
                )
                if cursor.rowcount >= count:
                    return
                await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def ground(servers: Servers, name: str) -> AsyncIterator[Ground]:
    """Everything running on an empty database of this name."""
    dsn = servers.postgres.dsn_of(name)
    with psycopg.connect(servers.postgres.dsn, autocommit=True) as connection:
        connection.execute(f"drop database if exists {name} with (force)".encode())
        connection.execute(f"create database {name}".encode())
    migrate_eventstore(dsn)
    migrate(dsn, "lobby", LOBBY_MIGRATIONS)
    migrate(dsn, "replay", REPLAY_MIGRATIONS)
    async with running(servers, name) as made:
        yield made
    with psycopg.connect(servers.postgres.dsn, autocommit=True) as connection:
        connection.execute(f"drop database {name} with (force)".encode())


@contextlib.asynccontextmanager
async def running(servers: Servers, name: str) -> AsyncIterator[Ground]:
    """Everything running on a database of this name that is there."""
    dsn = servers.postgres.dsn_of(name)
    async with contextlib.AsyncExitStack() as stack:
        reserved = ReservedPort(0, "the engine", "")
        stack.callback(reserved.release)
        port = reserved.number
        processes = {}
        for each in ("engine", *FOLLOWERS):
            relay = await stack.enter_async_context(Relay(servers.postgres.port))
            environment = {
                "BAOHUANG_DATABASE_URL": relay.dsn(dsn),
                "BAOHUANG_VALKEY_URL": servers.valkey.url,
                "BAOHUANG_BROKER_URL": servers.valkey.url,
                "BAOHUANG_ENGINE_TARGET": f"127.0.0.1:{port}",
                "BAOHUANG_PORT": str(port),
                "BAOHUANG_METRICS_PORT": "0",
            }
            arguments = [] if each == "engine" else ["follow"]
            log = servers.folder / f"{name}-{each}.log"
            log.unlink(missing_ok=True)
            processes[each] = Process(f"services.{each}", arguments, environment, relay, log)
        channel = await stack.enter_async_context(
            grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS)
        )
        made = Ground(servers, dsn, processes, EngineServiceStub(channel))
        try:
            made.start(*processes)
            # Who starts while Postgres is away ends, for a supervisor to start it again.
            for each, process in processes.items():
                await process.wait_logged("listening" if each == "engine" else "serving")
            yield made
        except BaseException:
            for process in processes.values():
                print(process.log, process.log.read_text()[-3000:], sep="\n")
            raise
        finally:
            for each, process in processes.items():
                if process.pid is not None:
                    made.end(each)
