"""The engine as a server: health, reflection, deadlines, draining, a database that is away."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import grpc.aio
import psycopg
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from baohuang import RuleSet, parse_cards
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.roles import Opening
from services.engine.server import SERVICE, serving
from services.eventstore import EventStore, Pool, make_pool
from services.kit.health import LIVE
from services.kit.rpc import MOST_MESSAGE_BYTES
from tests.integration.engine.client import Client, refused
from tests.integration.engine.talk import Talk

PLAIN = RuleSet.preset("marked-guard")
HANDS = [parse_cards(hand) for hand in ("EJ 9s 9h", "GJ 7c 7d", "8h 8d", "6c 6d", "Ts Th Ac")]
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


class Hold:
    """Keeps a game's appends waiting, as a slow transaction would."""

    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        self._connection = connection

    async def until_waited_for(self, *, is_waited_for: bool = True) -> None:
        async with asyncio.timeout(10):
            while True:
                if await self._is_waited_for() is is_waited_for:
                    return
                await asyncio.sleep(0.01)

    async def _is_waited_for(self) -> bool:
        cursor = await self._connection.execute(
            "select exists (select from pg_locks where locktype = 'advisory' and not granted"
            " and database = (select oid from pg_database where datname = current_database()))"
        )
        row = await cursor.fetchone()
        return row is not None and row[0]

    async def release(self) -> None:
        await self._connection.execute("select pg_advisory_unlock_all()")


@contextlib.asynccontextmanager
async def holding(database: str, game_id: str) -> AsyncIterator[Hold]:
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        await connection.execute("select pg_advisory_lock(eventstore.lock_key_of(%s))", [game_id])
        yield Hold(connection)


class Wire:
    """A connection to a server that can be cut."""

    def __init__(self, host: str, port: int) -> None:
        self._to = host, port
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cut = False

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        far_reader, far_writer = await asyncio.open_connection(*self._to)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._copy(reader, far_writer))
                group.create_task(self._copy(far_reader, writer))
        except* (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            far_writer.close()

    @staticmethod
    async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    def cut(self) -> None:
        self._is_cut = True
        for task in self._tasks:
            task.cancel()

    def mend(self) -> None:
        self._is_cut = False


async def test_health_and_reflection(pool: Pool) -> None:
    async with (
        serving(EventStore(pool)) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        health = health_pb2_grpc.HealthStub(channel)
        for service in ("", SERVICE):
            assert (await health.Check(health_pb2.HealthCheckRequest(service=service))).status == SERVING
        reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
        question = reflection_pb2.ServerReflectionRequest(list_services="")
        answers = [answer async for answer in reflection.ServerReflectionInfo(iter([question]))]
        services = {service.name for service in answers[0].list_services_response.service}
        assert {SERVICE, "grpc.health.v1.Health"} <= services
        symbol = reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE)
        answers = [answer async for answer in reflection.ServerReflectionInfo(iter([symbol]))]
        assert answers[0].file_descriptor_response.file_descriptor_proto


async def test_an_engine_without_its_tables_does_not_serve(empty_database: str) -> None:
    async with (
        make_pool(empty_database) as pool,
        serving(EventStore(pool)) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        health = health_pb2_grpc.HealthStub(channel)
        assert (await health.Check(health_pb2.HealthCheckRequest(service=SERVICE))).status == NOT_SERVING
        # Nor would a restart bring the tables: who asks whether to restart it hears that it is alive.
        assert (await health.Check(health_pb2.HealthCheckRequest(service=LIVE))).status == SERVING


async def test_a_deadline_ends_the_call_and_the_command_may_be_sent_again(
    client: Client, database: str, store: EventStore
) -> None:
    await client.create("g", PLAIN, hands=HANDS, opening=Opening(0, 1))
    request = pb.ActRequest(
        game_id="g", command_id="a", seat=0, action={"kind": "ACTION_KIND_PLAY", "cards": ["CARD_9S"]}
    )
    async with holding(database, "g") as hold:
        late = asyncio.create_task(refused(client.call("Act", request, deadline_seconds=0.5)))
        await hold.until_waited_for()
        error = await late
        assert (error.reason, error.is_retryable) == ("DEADLINE_EXCEEDED", True)
        # Other games are not held up, and the engine has given up waiting for the lock.
        await client.create("h", PLAIN, hands=HANDS, opening=Opening(0, 1))
        await hold.until_waited_for(is_waited_for=False)
    assert len(await store.read_stream("g")) == 1
    assert not (await client.call("Act", request)).applied.repeated_command
    assert len(await store.read_stream("g")) == 2


async def test_a_game_that_cannot_go_on_holds_no_other_up(
    client: Client, database: str, store: EventStore
) -> None:
    """More commands wait for one game's lock in the database than the engine has connections."""
    await client.create("g", PLAIN, hands=HANDS, opening=Opening(0, 1))
    async with holding(database, "g") as hold:
        waiting = [asyncio.create_task(client.act("g", 0, "play 9s", command_id="a")) for _ in range(15)]
        waiting += [asyncio.create_task(client.act("g", 1, "pass", command_id="b")) for _ in range(15)]
        await hold.until_waited_for()
        await client.create("h", PLAIN, hands=HANDS, opening=Opening(0, 1))
        await client.act("h", 0, "play 9s")
        assert (await client.view("g")).public.to_act == (0,)
        assert not any(task.done() for task in waiting)
        await hold.release()
        answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert sorted(answer.repeated_command for answer in answers[:15]) == [False] + [True] * 14
    # Seat 1's came behind seat 0's, or too early; if any was done, it was done once.
    assert len(await store.read_stream("g")) in (2, 3)


async def test_a_stopping_engine_finishes_what_it_has_begun(pool: Pool, database: str) -> None:
    async with contextlib.AsyncExitStack() as engine:
        port = await engine.enter_async_context(serving(EventStore(pool), drain_seconds=20))
        async with (
            grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
            grpc.aio.insecure_channel(
                f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)]
            ) as other,
            holding(database, "g") as hold,
        ):
            client = Client(channel)
            creating = asyncio.create_task(client.create("g", PLAIN, hands=HANDS, opening=Opening(0, 1)))
            await hold.until_waited_for()
            stopping = asyncio.create_task(engine.aclose())
            error = await refused(call_until_refused(Client(other)))
            assert error.is_retryable
            assert not creating.done()
            assert not stopping.done()
            await hold.release()
            assert (await creating).log_version > 0
            await stopping


async def call_until_refused(client: Client) -> None:
    """Asks again and again until the engine takes no more calls."""
    async with asyncio.timeout(10):
        while True:
            error = await refused(client.call("GetView", pb.GetViewRequest(game_id="none")))
            if error.reason != "GAME_NOT_FOUND":
                raise error


async def test_a_database_that_is_away(database: str) -> None:
    address = psycopg.conninfo.conninfo_to_dict(database)
    wire = Wire(str(address["host"]), int(address["port"]))
    relay = await asyncio.start_server(wire.carry, "127.0.0.1", 0)
    port = relay.sockets[0].getsockname()[1]
    dsn = psycopg.conninfo.make_conninfo(database, host="127.0.0.1", port=port)
    async with (
        contextlib.AsyncExitStack() as stack,
        make_pool(dsn, wait_seconds=0.5) as pool,
        serving(EventStore(pool), health_interval_seconds=0.05) as engine_port,
        grpc.aio.insecure_channel(f"127.0.0.1:{engine_port}") as channel,
    ):
        client = Client(channel)
        await client.create("g", PLAIN, hands=HANDS, opening=Opening(0, 1))
        watch = aiter(
            health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=SERVICE))
        )
        assert (await anext(watch)).status == SERVING
        talk = await stack.enter_async_context(Talk.joined(client, "g", 1))
        await talk.until("snapshot")
        wire.cut()
        assert (await refused(talk.until("never"))).reason == "STORE_UNAVAILABLE"
        error = await refused(client.act("g", 0, "play 9s", command_id="a"))
        assert (error.reason, error.is_retryable) == ("STORE_UNAVAILABLE", True)
        assert "127.0.0.1" not in str(error)
        assert (await anext(watch)).status == NOT_SERVING
        wire.mend()
        assert (await anext(watch)).status == SERVING
        assert not (await client.act("g", 0, "play 9s", command_id="a")).repeated_command
    relay.close()
    await relay.wait_closed()


async def test_large_requests_are_refused(client: Client) -> None:
    request = pb.AddNonceRequest(game_id="g", command_id="c", nonce="x" * MOST_MESSAGE_BYTES)
    assert (await refused(client.call("AddNonce", request))).reason == "REQUEST_TOO_LARGE"


async def test_a_taken_port_is_told(pool: Pool) -> None:
    async with serving(EventStore(pool)) as port:
        with pytest.raises(OSError, match=f"127.0.0.1:{port}"):
            async with serving(EventStore(pool), port=port):
                raise AssertionError("two engines on one port")
