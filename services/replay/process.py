"""The replay service's two processes: the web server and the follower of the log."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import structlog
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar import Litestar

from services.eventstore import make_pool
from services.eventstore.lag import keep_lag_metrics
from services.eventstore.projection import subscription_of
from services.eventstore.restored import check_restored
from services.eventstore.subscription import Follower
from services.eventstore.wakeups import WakeupListener
from services.kit.settings import Settings
from services.kit.shutdown import stop_signals
from services.replay.app import check_index, make_health, make_replay
from services.replay.games import GamesProjection

_log = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Serve pages and the REST interface until SIGTERM or SIGINT."""
    with stop_signals() as stop:
        await _serve_app(make_replay(settings), settings.host, settings.port, stop)


async def follow(settings: Settings) -> None:
    """Keep the index up to date until SIGTERM or SIGINT."""
    pool = make_pool(
        settings.database_url, max_size=settings.database_connections, application="baohuang-replay-follower"
    )
    with stop_signals() as stop:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(pool)
            await check_restored(pool)
            listener = None
            if settings.valkey_url:
                listener = await stack.enter_async_context(WakeupListener(settings.valkey_url))
            follower = Follower(pool, subscription_of(GamesProjection()), listener)

            async def check() -> None:
                await check_index(pool)

            async with asyncio.TaskGroup() as group:
                group.create_task(_serve_app(make_health(check), settings.host, settings.metrics_port, stop))
                gauges = group.create_task(keep_lag_metrics(pool))
                group.create_task(follower.run())
                await stop.wait()
                follower.stop()
                gauges.cancel()


async def _serve_app(app: Litestar, host: str, port: int, stop: asyncio.Event) -> None:
    """Serve an application until `stop`. Raises OSError if the port is taken, RuntimeError if it ends."""
    port = _usable_port(host, port)
    # In this process and on this loop: a process of its own would outlive a killed parent.
    server = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.warning,
    )
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    _log.info("serving", url=f"http://{host}:{port}")
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if serving.done():
        await serving
        raise RuntimeError(f"the web server on port {port} ended by itself")
    server.stop()  # type: ignore[no-untyped-call]  # granian leaves it unannotated
    await serving


def _usable_port(host: str, port: int) -> int:
    """The port itself, or a free one for 0. Raises OSError if it is taken: the server would share it."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])
