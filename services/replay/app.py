"""The replay service's web application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

import psycopg
from litestar import Litestar, MediaType, Request, Response
from litestar.config.compression import CompressionConfig
from litestar.datastructures import MutableScopeHeaders, State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import Message, Scope

from services.eventstore import EventStore, MigrationError, Pool, make_pool
from services.eventstore.errors import translated_errors
from services.eventstore.wakeups import WakeupListener
from services.kit.rest import EXCEPTION_HANDLERS
from services.kit.settings import Settings
from services.kit.web import make_app
from services.replay.api import GamesApi
from services.replay.games import Games
from services.replay.library import Library
from services.replay.live import Live
from services.replay.look import provide_look
from services.replay.pages import Pages
from services.replay.rendering import render_error
from services.replay.sittings import Sittings
from services.replay.viewer import Viewer

_SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors "
)
_FOR_PROGRAMS: Final = ("/v1/", "/health/", "/metrics", "/openapi")


def make_replay(settings: Settings) -> Litestar:
    """The whole service; its database pool lives as long as the application."""

    @contextlib.asynccontextmanager
    async def connected(app: Litestar) -> AsyncIterator[None]:
        pool = make_pool(
            settings.database_url, max_size=settings.database_connections, application="baohuang-replay"
        )
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(pool)
            wakeups = None
            if settings.valkey_url:
                wakeups = await stack.enter_async_context(WakeupListener(settings.valkey_url))
            sittings = Sittings(pool)
            library = Library(EventStore(pool), sittings)
            app.state.pool = pool
            app.state.games = Games(pool)
            app.state.sittings = sittings
            app.state.library = library
            app.state.live = Live(library, sittings, wakeups)
            yield

    async def check() -> None:
        await check_index(app.state.pool)

    def provided(name: str) -> Provide:
        async def provide(state: State) -> Any:
            return state[name]

        return Provide(provide)

    app = make_app(
        [Pages, Viewer, GamesApi],
        check,
        exception_handlers={Exception: _answer_error},
        before_send=[_guard],
        lifespan=[connected],
        dependencies={
            **{name: provided(name) for name in ("games", "library", "live", "sittings")},
            "look": Provide(provide_look),
        },
        # A stream's messages must not wait for each other to be compressed.
        compression_config=CompressionConfig(backend="gzip", gzip_compress_level=6, exclude=["/live$"]),
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


def end_streams(app: Litestar) -> None:
    """End the live streams of a service that is about to stop."""
    live: Live = app.state.live
    live.end()


async def check_index(pool: Pool) -> None:
    """Raises StoreError unless the index can be read."""
    try:
        with translated_errors():
            async with pool.connection() as connection:
                await connection.execute("select from replay.games limit 1")
    except psycopg.errors.UndefinedTable as error:
        raise MigrationError("there is no index: run `python -m services.replay migrate`") from error


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
    """Puts the security headers on every answer, to addresses that nothing answers too."""
    if message["type"] == "http.response.start":
        headers = MutableScopeHeaders.from_message(message)
        # Only what is made to be embedded may be: pages of others cannot lay themselves over the rest.
        may_frame = "*" if str(scope.get("path", "")).startswith("/embed/") else "'none'"
        headers["Content-Security-Policy"] = _POLICY + may_frame
        for name, value in _SECURITY_HEADERS.items():
            headers[name] = value
