"""The lobby's web application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from services.eventstore import make_pool
from services.kit.settings import Settings
from services.kit.web import make_app
from services.lobby.api import Tables
from services.lobby.engine import Engine
from services.lobby.tables import TableStore
from services.lobby.work import HandOpener


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

    app = make_app(
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
