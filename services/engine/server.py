"""The engine as a gRPC server."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator
from typing import Final

import grpc.aio
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server
from grpc_reflection.v1alpha import reflection

from baohuang.rpc.engine.v1 import engine_pb2
from baohuang.rpc.engine.v1.engine_pb2_grpc import add_EngineServiceServicer_to_server
from services.engine.check import RecordChecker
from services.engine.feeds import Feeds
from services.engine.games import Games
from services.engine.orders import Entropy
from services.engine.play import Conversations, Paces
from services.engine.servicer import Engine
from services.eventstore import EventStore
from services.eventstore.wakeups import WakeupListener
from services.kit.health import Health
from services.kit.rpc import SERVER_OPTIONS, Interceptor

SERVICE: Final = engine_pb2.DESCRIPTOR.services_by_name["EngineService"].full_name
DRAIN_SECONDS: Final = 10.0
"""How long calls in progress may take once the engine is asked to stop."""


@contextlib.asynccontextmanager
async def serving(
    store: EventStore,
    *,
    listener: WakeupListener | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    entropy: Entropy = secrets.token_bytes,
    drain_seconds: float = DRAIN_SECONDS,
    health_interval_seconds: float = 1.0,
    paces: Paces | None = None,
) -> AsyncIterator[int]:
    """Serves until the end of the block, then lets calls in progress finish; gives the port.

    `listener` hears of other engines' commits; `entropy` gives the bytes of seeds and salts that are not
    given. Raises `OSError` if the port is taken.
    """

    async def store_answers() -> None:
        # Looks into the log, so that an engine without its tables does not serve.
        await store.stream_version("-")

    health = Health(store_answers, [SERVICE], interval_seconds=health_interval_seconds)
    server = grpc.aio.server(interceptors=[Interceptor()], options=SERVER_OPTIONS)
    feeds = Feeds(store, listener)
    games = Games(store, feeds)
    conversations = Conversations(games, feeds, paces)
    checker = RecordChecker()
    add_EngineServiceServicer_to_server(Engine(games, conversations, checker, entropy=entropy), server)
    add_HealthServicer_to_server(health.servicer, server)
    reflection.enable_server_reflection(
        [SERVICE, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name, reflection.SERVICE_NAME], server
    )
    try:
        bound = server.add_insecure_port(f"{host}:{port}")
    except RuntimeError as error:
        raise OSError(f"cannot listen on {host}:{port}: is the port in use?") from error
    async with checker:
        try:
            async with health.watching():
                await server.start()
                yield bound
        finally:
            # By now health says NOT_SERVING. Streams would last as long as their games, so they are ended.
            conversations.stop()
            await server.stop(drain_seconds)
