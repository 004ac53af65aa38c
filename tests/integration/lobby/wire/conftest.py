"""One lobby over both wires, beside the scene whose followers do its work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc.aio
import httpx
import pytest

from baohuang.rpc.lobby.v1 import (
    games_pb2,
    games_pb2_grpc,
    matches_pb2,
    matches_pb2_grpc,
    players_pb2,
    players_pb2_grpc,
    tables_pb2,
    tables_pb2_grpc,
)
from services.engine.server import serving as serving_engine
from services.kit.errors import PlatformError
from services.kit.rpc import error_from_rpc
from services.kit.settings import Settings
from services.kit.web import serve_app
from services.lobby import feeds, my_games
from services.lobby.grpc.server import serving
from services.lobby.rest.app import make_lobby
from services.local.ports import free_port
from tests.integration.lobby.scene import Scene

CONTRACTS = {
    "Player": (players_pb2, players_pb2_grpc.PlayerServiceStub),
    "Table": (tables_pb2, tables_pb2_grpc.TableServiceStub),
    "Match": (matches_pb2, matches_pb2_grpc.MatchServiceStub),
    "Game": (games_pb2, games_pb2_grpc.GameServiceStub),
}


class Caller:
    """A player, or somebody without a token, over both wires."""

    def __init__(self, channel: grpc.aio.Channel, http: httpx.AsyncClient, secret: str | None) -> None:
        self.channel, self._http = channel, http
        self.metadata = () if secret is None else (("authorization", f"Bearer {secret}"),)
        self._headers = dict(self.metadata)

    def method(self, service: str, name: str) -> tuple[Any, Any]:
        """A method and the type of its request."""
        contract, stub = CONTRACTS[service]
        return getattr(stub(self.channel), name), getattr(contract, f"{name}Request")

    async def call(self, service: str, name: str, /, **fields: Any) -> Any:
        """An answer over gRPC. Raises PlatformError."""
        method, request = self.method(service, name)
        try:
            return await method(request(**fields), metadata=self.metadata, timeout=60)
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from error

    def stream(self, name: str, /, **fields: Any) -> Any:
        """A stream of GameService."""
        method, request = self.method("Game", name)
        return method(request(**fields), metadata=self.metadata)

    async def rest(self, verb: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """The JSON of an answer over REST. Raises PlatformError."""
        headers = self._headers | ({} if key is None else {"Idempotency-Key": key})
        answer = await self._http.request(verb, path, json=body, headers=headers)
        if answer.is_success:
            return answer.json() if answer.content else None
        problem = answer.json()
        raise PlatformError(
            problem["reason"],
            problem["detail"],
            clause=problem.get("clause", ""),
            details=problem.get("details"),
            violations=tuple([(each["field"], each["problem"]) for each in problem.get("violations", [])]),
        )


async def refused(call: Any) -> PlatformError:
    """The error in which an awaitable call ends."""
    try:
        answer = await call
    except PlatformError as error:
        return error
    raise AssertionError(f"not refused: {answer}")


@dataclass
class Wire:
    """A lobby of its own on the scene's database, and callers of it."""

    scene: Scene
    port: int
    http: httpx.AsyncClient
    channel: grpc.aio.Channel
    open_channel: Callable[[], grpc.aio.Channel]

    async def player(self, name: str = "player", **options: Any) -> Caller:
        player = await self.scene.player(name, **options)
        return self.caller(self.scene.secret(player))

    def caller(self, secret: str | None) -> Caller:
        return Caller(self.channel, self.http, secret)

    async def settle(self) -> None:
        """Wait for the hands that this lobby has begun to open by itself, then do all that is due."""
        async with asyncio.timeout(60):
            while True:
                [(opening,)] = await self.scene.execute(
                    "select count(*) from lobby.hands where status = 'opening'"
                )
                if not opening:
                    break
                await asyncio.sleep(0.01)
        await self.scene.settle()


@pytest.fixture
async def wire(
    scene: Scene, lobby_database: str, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Wire]:
    # The scene's engine sends no word of what it appends.
    monkeypatch.setattr(feeds, "LISTENING_POLL_SECONDS", 0.02)
    monkeypatch.setattr(my_games, "_LONGEST_WAIT_SECONDS", 0.02)
    grpc_port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()

    @contextlib.asynccontextmanager
    async def edge(lobby: Any) -> AsyncIterator[None]:
        async with serving(lobby, drain_seconds=5) as port:
            grpc_port.set_result(port)
            yield

    async with serving_engine(scene.store) as engine_port, asyncio.TaskGroup() as group:
        settings = Settings(
            database_url=lobby_database,
            valkey_url=valkey.url,
            engine_target=f"127.0.0.1:{engine_port}",
            limit_factor=0,
        )
        port = free_port()
        group.create_task(serve_app(make_lobby(settings, edge), "127.0.0.1", port, stop))
        open_channel = partial(grpc.aio.insecure_channel, f"127.0.0.1:{await grpc_port}")
        # The listening socket is there a moment after the application has started.
        transport = httpx.AsyncHTTPTransport(retries=20)
        async with (
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=60) as http,
            open_channel() as channel,
        ):
            yield Wire(scene, await grpc_port, http, channel, open_channel)
        stop.set()
