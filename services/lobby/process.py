"""The lobby's two processes: the web server and the follower of the log."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

import structlog

from services.eventstore import Pool, StoreUnavailable, make_pool
from services.eventstore.lag import keep_lag_metrics
from services.eventstore.restored import check_restored
from services.eventstore.subscription import Subscription
from services.eventstore.wakeups import WakeupListener
from services.kit.settings import Settings
from services.kit.shutdown import stop_signals
from services.kit.web import held_port, make_health_app, serve_app
from services.lobby.application import Lobby
from services.lobby.broker import TurnSender
from services.lobby.departures import Departures
from services.lobby.engine import Engine
from services.lobby.games import Games
from services.lobby.grpc.server import serving
from services.lobby.hands import Hands
from services.lobby.matches import Matches
from services.lobby.projection import SUBSCRIPTION, LobbyProjection
from services.lobby.reaper import Reaper
from services.lobby.rest.app import make_lobby
from services.lobby.tables import Tables
from services.lobby.turns import Turns
from services.lobby.work import Clock, HandOpener, TurnDispatcher, Wakes, Worklist, refresh_metrics

_METRICS_SECONDS = 5.0
REAP_SECONDS = 5.0

_log = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Serve REST and gRPC until SIGTERM or SIGINT."""
    with held_port(settings.host, settings.grpc_port) as grpc_port, stop_signals() as stop:
        edge = partial(serving, host=settings.host, port=grpc_port, proxies=settings.proxies)
        app = make_lobby(settings, edge)

        def drain() -> None:
            lobby: Lobby = app.state.lobby
            lobby.registry.stop()

        await serve_app(app, settings.host, settings.port, stop, drain)


async def follow(settings: Settings) -> None:
    """Follow the log, open hands, send turns and keep times until SIGTERM or SIGINT."""
    pool = make_pool(
        settings.database_url, max_size=settings.database_connections, application="baohuang-lobby-follower"
    )
    async with contextlib.AsyncExitStack() as stack:
        port = stack.enter_context(held_port(settings.host, settings.metrics_port))
        stop = stack.enter_context(stop_signals())
        await stack.enter_async_context(pool)
        tables = Tables(pool)
        await tables.check()
        await check_restored(pool)
        listener = await stack.enter_async_context(WakeupListener(settings.valkey_url))
        engine = Engine(settings.engine_target)
        stack.push_async_callback(engine.close)
        sender = TurnSender(settings.broker_url)
        stack.callback(sender.close)

        turns, hands = Turns(pool), Hands(pool)
        clock = Clock(turns, engine)
        turns_to_send = Worklist("turns to send", TurnDispatcher(turns, sender).send_due)
        hands_to_open = Worklist("hands to open", HandOpener(hands, engine).open_due)
        clocks = Worklist("clocks", clock.enforce_due, turns.seconds_to_next_clock)
        departures = Worklist("departures", Departures(pool, engine).tell_due)
        matches = Worklist("matches", Matches(pool).fill_due)
        reaper = Worklist("reaper", Reaper(pool).reap, pause_seconds=REAP_SECONDS)
        subscription = Subscription(SUBSCRIPTION, LobbyProjection(Games()).apply)
        woken = (turns_to_send.woken, hands_to_open.woken, clocks.woken)
        follower = Wakes(pool, subscription, listener, woken)
        workers = (follower, turns_to_send, hands_to_open, clocks, departures, matches, reaper)
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
