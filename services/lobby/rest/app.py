"""The lobby's web application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Final

from litestar import Litestar
from litestar.config.cors import CORSConfig
from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

from services.kit.settings import Settings
from services.kit.web import REQUEST_ID, make_app
from services.lobby.application import Lobby, running_lobby
from services.lobby.rest.access import DEPENDENCIES
from services.lobby.rest.document import make_document
from services.lobby.rest.games import GamesApi
from services.lobby.rest.matches import MatchesApi
from services.lobby.rest.pages import make_pages
from services.lobby.rest.players import PlayersApi
from services.lobby.rest.tables import TablesApi

API: Final = (PlayersApi, TablesApi, MatchesApi, GamesApi)
_SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


Edge = Callable[[Lobby], contextlib.AbstractAsyncContextManager[object]]
"""Serves a lobby over another wire for as long as its block lasts."""


def make_lobby(settings: Settings, *edges: Edge) -> Litestar:
    """The whole interface; its connections, and other edges to the same lobby, live as long as it does."""

    @contextlib.asynccontextmanager
    async def connected(app: Litestar) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            lobby = await stack.enter_async_context(running_lobby(settings))
            app.state.lobby = lobby
            for edge in edges:
                await stack.enter_async_context(edge(lobby))
            yield

    async def check() -> None:
        lobby: Lobby = app.state.lobby
        await lobby.tables.check()

    document = make_document(API)
    app = make_app(
        [*API, *make_pages(document)],
        check,
        before_send=[_guard],
        lifespan=[connected],
        dependencies=DEPENDENCIES,
        cors_config=_cors(settings.cors_origins),
        openapi_config=None,
    )
    app.state.proxies = settings.proxies
    return app


def _cors(origins: str) -> CORSConfig | None:
    allowed = [origin.strip() for origin in origins.split(",") if origin.strip()]
    if not allowed:
        return None
    return CORSConfig(
        allow_origins=allowed,
        allow_methods=["GET", "POST", "PUT", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", REQUEST_ID],
        expose_headers=["Location", "Retry-After", REQUEST_ID],
    )


async def _guard(message: Message, _: Scope) -> None:
    """Puts the security headers on every answer, to addresses that nothing answers too."""
    if message["type"] == "http.response.start":
        headers = MutableScopeHeaders.from_message(message)
        for name, value in _SECURITY_HEADERS.items():
            headers[name] = value
