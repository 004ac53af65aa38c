"""Two engines are restarted one after the other while clients play: nothing acknowledged is lost."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from baohuang import Action, Game, Record, RuleSet
from baohuang.record import replay
from baohuang.rpc.codec import decode_action, decode_events, encode_action, encode_rules
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.events import Event
from baohuang.rules.roles import SEATS
from services.engine.server import SERVICE
from services.eventstore import EventStore
from services.kit.errors import PlatformError
from services.local.valkey import LocalValkey
from tests.integration.engine.client import SALT, Client, check_applied, dealt
from tests.integration.engine.process import Running, running
from tests.integration.engine.talk import Talk

RULES = RuleSet.preset("lianzhong-simple")
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
# Over both engines; every error is shown to the test.
OPTIONS = [
    ("grpc.service_config", '{"loadBalancingConfig": [{"round_robin": {}}]}'),
    ("grpc.enable_retries", 0),
    ("grpc.max_reconnect_backoff_ms", 200),
]


class Seated:
    """What one seat has heard over its streams, and the command to which it has no answer yet."""

    def __init__(self, seat: int) -> None:
        self.last: int | None = None
        self.done: set[str] = set()
        self.is_over = False
        self._name = f"seat{seat}"
        self._chance = random.Random(seat)
        self._asked: pb.PlayResponse.Asked | None = None
        self._command: tuple[str, Action, int] | None = None

    async def act_again(self, talk: Talk) -> None:
        if self._command is not None:
            command_id, action, version = self._command
            await talk.act(command_id, action, expected_version=version)

    async def hear(self, talk: Talk, message: pb.PlayResponse) -> bool:
        """Takes in a message and answers it; whether it acknowledged a command."""
        kind = message.WhichOneof("response")
        match kind:
            case "snapshot":
                self.last = message.snapshot.version
            case "happened":
                assert self.last is not None
                assert message.happened.version == self.last + 1
                self.last = message.happened.version
            case "asked":
                self._asked = message.asked
            case "done":
                assert self._command is not None
                assert message.done.command_id == self._command[0]
                self.done.add(message.done.command_id)
                if self._asked is not None and self._asked.version == self._command[2]:
                    self._asked = None  # asked again after a resumption, and answered before it
                self._command = None
            case "refused":
                assert message.refused.retryable, message
                await self.act_again(talk)
            case "ended":
                self.is_over = True
        if self._asked is not None and self._command is None:
            action = decode_action(self._chance.choice(self._asked.actions))
            self._command = f"{self._name}-{len(self.done)}", action, self._asked.version
            self._asked = None
            await self.act_again(talk)
        return kind == "done"


class Load:
    """Players that go on until they are told to stop. Only retryable errors are let pass, and counted."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.moves = 0
        self.errors: list[str] = []
        self.is_enough = False
        self._moved = asyncio.Condition()

    async def note_move(self) -> None:
        async with self._moved:
            self.moves += 1
            self._moved.notify_all()

    async def until_moved(self, times: int) -> None:
        async with self._moved:
            wanted = self.moves + times
            await asyncio.wait_for(self._moved.wait_for(lambda: self.moves >= wanted), 60)

    def pass_over(self, error: PlatformError) -> None:
        if not error.is_retryable:
            raise error
        self.errors.append(error.reason)

    async def answer(self, name: str, request: Any) -> Any:
        """The answer to a request, sent again with the same command id until there is one."""
        while True:
            try:
                return await self.client.call(name, request)
            except PlatformError as error:
                self.pass_over(error)

    async def create(self, game_id: str, seed: int) -> None:
        request = pb.CreateGameRequest(
            game_id=game_id,
            command_id="create",
            rules=encode_rules(RULES),
            seed=seed.to_bytes(32, "big"),
            salt=SALT,
        )
        await self.answer("CreateGame", request)

    async def play_by_calls(self, name: str) -> dict[str, Game]:
        """Plays one game after the other; compares every answer with the library's game."""
        chance, games = random.Random(name), dict[str, Game]()
        while not self.is_enough:
            seed = len(games)
            game_id, game = f"{name}-{seed}", dealt(RULES, seed)
            games[game_id] = game
            await self.create(game_id, seed)
            while game.to_act and not self.is_enough:
                seat = chance.choice(game.to_act)
                action = chance.choice(game.legal_actions(seat))
                request = pb.ActRequest(
                    game_id=game_id,
                    command_id=f"c{game.version}",
                    expected_version=game.state.public.version,
                    seat=seat,
                    action=encode_action(action),
                )
                applied = (await self.answer("Act", request)).applied
                again = applied.repeated_command
                assert not again or self.errors
                check_applied(applied, game, game.apply(seat, action), seat)
                await self.note_move()
        return games

    async def play_by_streams(self, seat: int) -> dict[str, Seated]:
        """Plays a seat of one game after the other; each stream goes on where the one before it ended."""
        games = dict[str, Seated]()
        while not self.is_enough:
            game_id, seated = f"streams-{len(games)}", Seated(seat)
            await self.create(game_id, len(games))
            games[game_id] = seated
            while not (self.is_enough or seated.is_over):
                try:
                    async with Talk.joined(self.client, game_id, seat, seated.last) as talk:
                        await seated.act_again(talk)
                        while not (self.is_enough or seated.is_over):
                            if await seated.hear(talk, await talk.next()):
                                await self.note_move()
                except PlatformError as error:
                    self.pass_over(error)
                except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
                    self.errors.append("written to a stream that has ended")
        return games


@asynccontextmanager
async def watched(engine: Running) -> AsyncIterator[Any]:
    """The engine's health as it changes; it says at first that it serves."""
    target = f"127.0.0.1:{engine.listening['port']}"
    async with grpc.aio.insecure_channel(target, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        call = health_pb2_grpc.HealthStub(channel).Watch(request)
        assert (await asyncio.wait_for(call.read(), 20)).status == SERVING
        yield call
        call.cancel()


async def test_a_rolling_restart_loses_nothing(database: str, valkey: LocalValkey, store: EventStore) -> None:
    settings = {"BAOHUANG_DATABASE_URL": database, "BAOHUANG_VALKEY_URL": valkey.url}
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(running(**settings)) for _ in range(2)]
        ports = [str(engine.listening["port"]) for engine in engines]
        target = "ipv4:" + ",".join(f"127.0.0.1:{port}" for port in ports)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(target, options=OPTIONS))
        load = Load(Client(channel))
        async with asyncio.TaskGroup() as group:
            by_calls = [group.create_task(load.play_by_calls(name)) for name in ("a", "b", "c")]
            by_streams = [group.create_task(load.play_by_streams(seat)) for seat in SEATS]
            await load.until_moved(30)
            for engine, port in zip(engines, ports, strict=True):
                async with watched(engine) as health:
                    engine.process.send_signal(signal.SIGTERM)
                    assert (await asyncio.wait_for(health.read(), 20)).status == NOT_SERVING
                assert await asyncio.wait_for(engine.process.wait(), 20) == 0
                await load.until_moved(10)
                again = await stack.enter_async_context(running(**settings, BAOHUANG_PORT=port))
                async with watched(again):
                    await load.until_moved(10)
            load.is_enough = True
        assert load.errors
        for games in [task.result() for task in by_calls]:
            for game_id, game in games.items():
                assert await events_of(store, game_id) == game.events
        for seats in [task.result() for task in by_streams]:
            for game_id, seated in seats.items():
                log = await store.read_stream(game_id)
                assert seated.done <= {commit.command_id for commit in log}
                replay(Record(await events_of(store, game_id)))


async def events_of(store: EventStore, game_id: str) -> tuple[Event, ...]:
    return tuple(
        [event for commit in await store.read_stream(game_id) for event in decode_events(commit.payload)]
    )
