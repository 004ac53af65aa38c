"""The replay service's two processes: the web server and the follower of the log."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

from services.eventstore import make_pool
from services.eventstore.lag import keep_lag_metrics
from services.eventstore.projection import subscription_of
from services.eventstore.restored import check_restored
from services.eventstore.subscription import Follower
from services.eventstore.wakeups import WakeupListener
from services.kit.settings import Settings
from services.kit.shutdown import stop_signals
from services.kit.web import held_port, make_health_app, serve_app
from services.replay.app import check_index, end_streams, make_replay
from services.replay.games import GamesProjection


async def serve(settings: Settings) -> None:
    """Serve pages and the REST interface until SIGTERM or SIGINT."""
    with stop_signals() as stop:
        async with make_pool(settings.database_url, max_size=1, application="baohuang-replay") as pool:
            await check_restored(pool)
        app = make_replay(settings)
        await serve_app(app, settings.host, settings.port, stop, partial(end_streams, app))


async def follow(settings: Settings) -> None:
    """Keep the index up to date until SIGTERM or SIGINT."""
    pool = make_pool(
        settings.database_url, max_size=settings.database_connections, application="baohuang-replay-follower"
    )
    async with contextlib.AsyncExitStack() as stack:
        port = stack.enter_context(held_port(settings.host, settings.metrics_port))
        stop = stack.enter_context(stop_signals())
        await stack.enter_async_context(pool)
        check = partial(check_index, pool)
        # A commit that finds no table would be taken for a poisonous one and parked.
        await check()
        await check_restored(pool)
        listener = None
        if settings.valkey_url:
            listener = await stack.enter_async_context(WakeupListener(settings.valkey_url))
        follower = Follower(pool, subscription_of(GamesProjection()), listener)
        async with asyncio.TaskGroup() as group:
            group.create_task(serve_app(make_health_app(check), settings.host, port, stop))
            gauges = group.create_task(keep_lag_metrics(pool))
            group.create_task(follower.run())
            await stop.wait()
            follower.stop()
            gauges.cancel()
