"""The lobby as a gRPC server."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Final

import grpc.aio
import structlog
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server
from grpc_reflection.v1alpha import reflection

from baohuang.rpc.lobby.v1 import games_pb2, matches_pb2, players_pb2, tables_pb2
from baohuang.rpc.lobby.v1.games_pb2_grpc import add_GameServiceServicer_to_server
from baohuang.rpc.lobby.v1.matches_pb2_grpc import add_MatchServiceServicer_to_server
from baohuang.rpc.lobby.v1.players_pb2_grpc import add_PlayerServiceServicer_to_server
from baohuang.rpc.lobby.v1.tables_pb2_grpc import add_TableServiceServicer_to_server
from services.kit.health import Health
from services.kit.rpc import Interceptor
from services.lobby.application import Lobby
from services.lobby.grpc.access import Access
from services.lobby.grpc.games import GamesEdge
from services.lobby.grpc.matches import MatchesEdge
from services.lobby.grpc.players import PlayersEdge
from services.lobby.grpc.tables import TablesEdge
from services.lobby.streams import SLOW_READER_SECONDS

SERVICES: Final = tuple(
    [
        service.full_name
        for contract in (players_pb2, tables_pb2, matches_pb2, games_pb2)
        for service in contract.DESCRIPTOR.services_by_name.values()
    ]
)
MOST_REQUEST_BYTES: Final = 64 * 1024
"""As of a body over REST."""
DRAIN_SECONDS: Final = 10.0
"""How long calls in progress may take once the lobby is asked to stop."""

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MOST_REQUEST_BYTES),
    # Else a second lobby could share the port unseen.
    ("grpc.so_reuseport", 0),
    # A bot has a thousand streams at most, and calls beside them.
    ("grpc.max_concurrent_streams", 2_000),
    # A connection whose other end is gone is found so, and its streams end.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Clients that look in the same way are not turned away for it.
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
)

_log = structlog.get_logger(__name__)


@contextlib.asynccontextmanager
async def serving(
    lobby: Lobby,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    proxies: int = 0,
    drain_seconds: float = DRAIN_SECONDS,
    slow_reader_seconds: float = SLOW_READER_SECONDS,
) -> AsyncIterator[int]:
    """Serves until the end of the block, then lets calls in progress finish; gives the port.

    Streams end when the lobby's registry is stopped. Raises OSError if the port is taken.
    """
    health = Health(lobby.tables.check, SERVICES)
    server = grpc.aio.server(interceptors=[Interceptor()], options=_OPTIONS)
    access = Access(lobby, proxies)
    add_PlayerServiceServicer_to_server(PlayersEdge(access), server)
    add_TableServiceServicer_to_server(TablesEdge(access), server)
    add_MatchServiceServicer_to_server(MatchesEdge(access), server)
    add_GameServiceServicer_to_server(GamesEdge(access, slow_reader_seconds), server)
    add_HealthServicer_to_server(health.servicer, server)
    names = [*SERVICES, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name, reflection.SERVICE_NAME]
    reflection.enable_server_reflection(names, server)
    try:
        bound = server.add_insecure_port(f"{host}:{port}")
    except RuntimeError as error:
        raise OSError(f"cannot listen on {host}:{port}: is the port in use?") from error
    try:
        async with health.watching():
            await server.start()
            _log.info("serving gRPC", address=f"{host}:{bound}")
            yield bound
    finally:
        lobby.registry.stop()
        await server.stop(drain_seconds)
