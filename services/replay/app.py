"""The replay service's web application, and the small one with which its follower shows its health."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import psycopg
from litestar import Litestar, MediaType, Request, Response, get
from litestar.config.compression import CompressionConfig
from litestar.datastructures import MutableScopeHeaders, State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from services.eventstore import EventStore, MigrationError, Pool, StoreError, make_pool
from services.eventstore.errors import translated_errors
from services.kit import metrics
from services.kit.rest import EXCEPTION_HANDLERS, metrics_route
from services.kit.settings import Settings
from services.replay.api import GamesApi
from services.replay.games import Games
from services.replay.library import Library
from services.replay.pages import Pages, render_error

_SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_FOR_PROGRAMS: Final = ("/v1/", "/health/", "/metrics", "/openapi")

Check = Callable[[], Awaitable[None]]
"""Raises StoreError while the process cannot do its work."""


def make_replay(settings: Settings) -> Litestar:
    """The whole service; its database pool lives as long as the application."""

    @contextlib.asynccontextmanager
    async def connected(app: Litestar) -> AsyncIterator[None]:
        pool = make_pool(
            settings.database_url, max_size=settings.database_connections, application="baohuang-replay"
        )
        async with pool:
            app.state.pool = pool
            app.state.games = Games(pool)
            app.state.library = Library(EventStore(pool))
            yield

    async def check() -> None:
        await check_index(app.state.pool)

    async def provide_games(state: State) -> Games:
        games: Games = state.games
        return games

    async def provide_library(state: State) -> Library:
        library: Library = state.library
        return library

    app = _make_app(
        [Pages, GamesApi],
        check,
        lifespan=[connected],
        dependencies={"games": Provide(provide_games), "library": Provide(provide_library)},
        compression_config=CompressionConfig(backend="gzip", gzip_compress_level=6),
        openapi_config=OpenAPIConfig(
            title="Baohuang replay",
            version="1",
            description="Games of Baohuang (保皇) that are played or were played.",
            path="/openapi",
            # Only the document: the plugins for pages load scripts from elsewhere.
            render_plugins=[JsonRenderPlugin(path="/replay.json")],
        ),
    )
    return app


def make_health(check: Check) -> Litestar:
    """Health and metrics alone."""
    return _make_app([], check, openapi_config=None)


async def check_index(pool: Pool) -> None:
    """Raises StoreError unless the index can be read."""
    try:
        with translated_errors():
            async with pool.connection() as connection:
                await connection.execute("select from replay.games limit 1")
    except psycopg.errors.UndefinedTable as error:
        raise MigrationError("there is no index: run `python -m services.replay migrate`") from error


def _make_app(handlers: list[Any], check: Check, **options: Any) -> Litestar:
    @get("/health/live", include_in_schema=False, sync_to_thread=False)
    def live() -> dict[str, str]:
        return {"status": "live"}

    @get("/health/ready", include_in_schema=False)
    async def ready() -> Response[dict[str, str]]:
        try:
            await check()
        except StoreError as error:
            return Response({"status": "not ready", "reason": error.reason}, status_code=503)
        return Response({"status": "ready"})

    return Litestar(
        route_handlers=[*handlers, live, ready, metrics_route],
        middleware=[_timed],
        before_send=[_guard],
        exception_handlers={Exception: _answer_error},
        request_max_body_size=64 * 1024,
        # Errors are logged where they are turned into answers.
        logging_config=None,
        **options,
    )


def _answer_error(request: Request[Any, Any, Any], raised: Exception) -> Response[Any]:
    """The problem as JSON for programs, as a page for people."""
    problem = EXCEPTION_HANDLERS[Exception](request, raised)
    if request.url.path.startswith(_FOR_PROGRAMS):
        return problem
    return Response(
        render_error(request, problem.content),
        status_code=problem.status_code,
        headers=problem.headers,
        media_type=MediaType.HTML,
    )


async def _guard(message: Message, scope: Scope) -> None:
    """Puts the security headers on every answer, to addresses that nothing answers too, and counts it."""
    if message["type"] == "http.response.start":
        headers = MutableScopeHeaders.from_message(message)
        for name, value in _SECURITY_HEADERS.items():
            headers[name] = value
        metrics.REQUESTS.labels("http", _route(scope), str(message["status"])).inc()


def _timed(app: ASGIApp) -> ASGIApp:
    async def timed(scope: Scope, receive: Receive, send: Send) -> None:
        with metrics.REQUEST_SECONDS.labels("http", _route(scope)).time():
            await app(scope, receive, send)

    return timed


def _route(scope: Scope) -> str:
    return str(scope.get("path_template", "none"))
