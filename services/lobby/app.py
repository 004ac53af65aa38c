"""The lobby's web application, and the small one with which a follower shows its health."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

from litestar import Litestar, Response, get
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import ASGIApp, ControllerRouterHandler, Message, Receive, Scope, Send

from services.eventstore import StoreError, make_pool
from services.kit import metrics
from services.kit.rest import EXCEPTION_HANDLERS, metrics_route
from services.kit.settings import Settings
from services.lobby.api import Tables
from services.lobby.bodies import BodyRequest
from services.lobby.engine import Engine
from services.lobby.tables import TableStore
from services.lobby.work import HandOpener

_MOST_BODY_BYTES: Final = 64 * 1024

Check = Callable[[], Awaitable[None]]
"""Raises StoreError while the process cannot do its work."""


def make_lobby(settings: Settings) -> Litestar:
    """The whole interface; its database pool and channel to the engine live as long as the application."""

    @contextlib.asynccontextmanager
    async def connected(app: Litestar) -> AsyncIterator[None]:
        pool = make_pool(
            settings.database_url, max_size=settings.database_connections, application="baohuang-lobby"
        )
        engine = Engine(settings.engine_target)
        try:
            async with pool:
                app.state.tables = TableStore(pool)
                app.state.hand_opener = HandOpener(app.state.tables, engine)
                yield
        finally:
            await engine.close()

    async def provide_tables(state: State) -> TableStore:
        tables: TableStore = state.tables
        return tables

    async def provide_hand_opener(state: State) -> HandOpener:
        hand_opener: HandOpener = state.hand_opener
        return hand_opener

    async def check() -> None:
        await app.state.tables.check()

    app = _make_app(
        [Tables],
        check,
        lifespan=[connected],
        dependencies={"tables": Provide(provide_tables), "hand_opener": Provide(provide_hand_opener)},
        openapi_config=OpenAPIConfig(
            title="Baohuang lobby",
            version="1",
            description="Tables at which Baohuang (保皇) is played.",
            path="/",
            # Only the document: the plugins that make pages load scripts from elsewhere.
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
    )
    return app


def make_health(check: Check) -> Litestar:
    """Health and metrics alone."""
    return _make_app([], check, openapi_config=None)


def _make_app(handlers: Sequence[ControllerRouterHandler], check: Check, **options: Any) -> Litestar:
    @get("/health/live", include_in_schema=False, sync_to_thread=False)
    def live() -> dict[str, str]:
        return {"status": "live"}

    @get("/health/ready", include_in_schema=False)
    async def ready() -> Response[dict[str, str]]:
        try:
            await check()
        except StoreError as error:
            return Response({"status": "not ready", "reason": error.reason}, status_code=503)
        return Response({"status": "ready"}, status_code=200)

    return Litestar(
        route_handlers=[*handlers, live, ready, metrics_route],
        middleware=[_counted],
        exception_handlers=EXCEPTION_HANDLERS,
        request_class=BodyRequest,
        request_max_body_size=_MOST_BODY_BYTES,
        # The handlers above log what is a fault of ours; the framework would log every refusal with a
        # traceback.
        logging_config=None,
        **options,
    )


def _counted(app: ASGIApp) -> ASGIApp:
    """Counts and times requests by route."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        name = f"{scope.get('method')} {scope.get('path_template')}"

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                metrics.REQUESTS.labels("rest", name, str(message["status"])).inc()
                metrics.REQUEST_SECONDS.labels("rest", name).observe(time.perf_counter() - start)
            await send(message)

        await app(scope, receive, note)

    return counted
