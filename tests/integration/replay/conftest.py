"""The replay service over a real log."""

from collections.abc import AsyncIterator

import pytest
from litestar import Litestar
from litestar.testing import AsyncTestClient

from services.eventstore import migrate
from services.kit.settings import Settings
from services.replay.__main__ import MIGRATIONS
from services.replay.app import make_replay

Client = AsyncTestClient[Litestar]


@pytest.fixture
def migrated(database: str) -> str:
    """The address of a database with the tables of the log and of the index."""
    migrate(database, "replay", MIGRATIONS)
    return database


@pytest.fixture
async def client(migrated: str) -> AsyncIterator[Client]:
    app = make_replay(Settings(database_url=migrated, database_connections=4))
    async with AsyncTestClient(app, raise_server_exceptions=False) as opened:
        yield opened
