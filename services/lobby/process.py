"""The lobby's two processes: the web server and the follower of the log."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import structlog
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar import Litestar

from services.eventstore import EventStore, Pool, StoreUnavailable, make_pool
from services.eventstore.lag import keep_lag_metrics
from services.eventstore.restored import check_restored
from services.eventstore.subscription import Subscription
from services.eventstore.wakeups import WakeupListener
from services.kit.settings import Settings
from services.kit.shutdown import stop_signals
from services.lobby.app import make_health, make_lobby
from services.lobby.broker import TurnSender
from services.lobby.engine import Engine
from services.lobby.games import Games
from services.lobby.projection import SUBSCRIPTION, LobbyProjection
from services.lobby.tables import TableStore
from services.lobby.work import HandOpener, TurnDispatcher, Wakes, Worklist, refresh_metrics

_METRICS_SECONDS = 5.0

_log = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Serve the REST interface until SIGTERM or SIGINT."""
    with stop_signals() as stop:
        port = _usable_port(settings.host, settings.port)
        await _serve_app(make_lobby(settings), settings.host, port, stop)


async def follow(settings: Settings) -> None:
    """Follow the log, open hands and send turns until SIGTERM or SIGINT."""
    port = _usable_port(settings.host, settings.metrics_port)
    pool = make_pool(
        settings.database_url, max_size=settings.database_connections, application="baohuang-lobby-follower"
    )
    async with contextlib.AsyncExitStack() as stack:
        stop = stack.enter_context(stop_signals())
        await stack.enter_async_context(pool)
        tables = TableStore(pool)
        await tables.check()
        await check_restored(pool)
        listener = await stack.enter_async_context(WakeupListener(settings.valkey_url))
        engine = Engine(settings.engine_target)
        stack.push_async_callback(engine.close)
        sender = TurnSender(settings.broker_url)
        stack.callback(sender.close)

        turns_to_send = Worklist("turns to send", TurnDispatcher(pool, sender).send_due)
        hands_to_open = Worklist("hands to open", HandOpener(tables, engine).open_due)
        projection = LobbyProjection(Games(EventStore(pool)))
        subscription = Subscription(SUBSCRIPTION, projection.apply)
        follower = Wakes(pool, subscription, listener, (turns_to_send.woken, hands_to_open.woken))
        workers = (follower, turns_to_send, hands_to_open)
        async with asyncio.TaskGroup() as group:
            health = make_health(tables.check)
            group.create_task(_serve_app(health, settings.host, port, stop))
            gauges = [group.create_task(keep_lag_metrics(pool)), group.create_task(_keep_gauges(pool))]
            for worker in workers:
                group.create_task(worker.run())
            await stop.wait()
            for worker in workers:
                worker.stop()
            for gauge in gauges:
                gauge.cancel()


async def _serve_app(app: Litestar, host: str, port: int, stop: asyncio.Event) -> None:
    """Serve an application until `stop`. Raises RuntimeError if it ends by itself."""
    # In this process and on this loop: a process of its own would outlive a killed parent.
    server = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.error,
        # To the root logger, like everybody's.
        log_dictconfig={"loggers": {"_granian": {"propagate": True}}},
    )
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    _log.info("serving", address=f"http://{host}:{port}")
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if serving.done():
        await serving
        raise RuntimeError(f"the web server on port {port} ended by itself")
    server.stop()  # type: ignore[no-untyped-call]  # the server is not annotated here
    await serving


def _usable_port(host: str, port: int) -> int:
    """The port itself, or a free one for 0. Raises OSError if it is taken.

    The server itself would not: it shares ports with whoever else shares them.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Connections of a predecessor that are still winding down do not make a port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])


async def _keep_gauges(pool: Pool) -> None:
    while True:
        try:
            await refresh_metrics(pool)
        except StoreUnavailable as error:
            _log.warning("how much work waits is not known", cause=str(error))
        await asyncio.sleep(_METRICS_SECONDS)
