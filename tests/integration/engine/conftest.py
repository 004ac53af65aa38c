"""Engines inside the test's own process, on real connections to a real database."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import grpc.aio
import pytest

from services.engine.server import serving
from services.eventstore import EventStore, make_pool
from services.eventstore.wakeups import WakeupListener, WakeupSender
from services.local.valkey import LocalValkey
from tests.integration.engine.client import Client

Engines = Callable[[], AbstractAsyncContextManager[Client]]


@pytest.fixture
def engines(database: str, valkey: LocalValkey) -> Engines:
    """Starts engines on one database that hear of each other, each with its own connections and cache."""

    @asynccontextmanager
    async def start() -> AsyncIterator[Client]:
        async with (
            make_pool(database, max_size=8, application="test-engine") as pool,
            WakeupSender(valkey.url) as sender,
            WakeupListener(valkey.url) as listener,
            serving(EventStore(pool, sender), listener=listener, drain_seconds=5) as port,
            grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
        ):
            yield Client(channel)

    return start


@pytest.fixture
async def client(engines: Engines) -> AsyncIterator[Client]:
    """One engine."""
    async with engines() as started:
        yield started


@pytest.fixture
async def clients(engines: Engines) -> AsyncIterator[tuple[Client, Client]]:
    """Two engines on one database."""
    async with engines() as first, engines() as second:
        yield first, second
