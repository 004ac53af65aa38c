"""The lobby's two processes: the web server and the follower of the log."""

from __future__ import annotations

import asyncio
import contextlib

import structlog

from services.eventstore import EventStore, Pool, StoreUnavailable, make_pool
from services.eventstore.lag import keep_lag_metrics
from services.eventstore.restored import check_restored
from services.eventstore.subscription import Subscription
from services.eventstore.wakeups import WakeupListener
from services.kit.settings import Settings
from services.kit.shutdown import stop_signals
from services.kit.web import held_port, make_health_app, serve_app
from services.lobby.app import make_lobby
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
        await serve_app(make_lobby(settings), settings.host, settings.port, stop)


async def follow(settings: Settings) -> None:
    """Follow the log, open hands and send turns until SIGTERM or SIGINT."""
    pool = make_pool(
        settings.database_url, max_size=settings.database_connections, application="baohuang-lobby-follower"
    )
    async with contextlib.AsyncExitStack() as stack:
        port = stack.enter_context(held_port(settings.host, settings.metrics_port))
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
            health = make_health_app(tables.check)
            group.create_task(serve_app(health, settings.host, port, stop))
            gauges = [group.create_task(keep_lag_metrics(pool)), group.create_task(_keep_gauges(pool))]
            for worker in workers:
                group.create_task(worker.run())
            await stop.wait()
            for worker in workers:
                worker.stop()
            for gauge in gauges:
                gauge.cancel()


async def _keep_gauges(pool: Pool) -> None:
    while True:
        try:
            await refresh_metrics(pool)
        except StoreUnavailable as error:
            _log.warning("how much work waits is not known", cause=str(error))
        await asyncio.sleep(_METRICS_SECONDS)
