"""`python -m services.engine`: a process that starts, can be killed at any moment, and stops when asked."""

import asyncio
import json
import random
import signal
import urllib.request

import pytest

from baohuang import RuleSet
from baohuang.rpc.codec import decode_events
from services.eventstore import EventStore
from services.local.valkey import LocalValkey
from tests.integration.engine.client import check_views, dealt, play_on
from tests.integration.engine.process import launch, running

RULES = RuleSet.preset("lianzhong-simple")


async def test_a_hand_goes_on_after_the_engine_was_killed(
    database: str, valkey: LocalValkey, store: EventStore
) -> None:
    settings = {"BAOHUANG_DATABASE_URL": database, "BAOHUANG_VALKEY_URL": valkey.url}
    game, chance = dealt(RULES, 12), random.Random(12)
    async with running(**settings) as engine:
        await engine.client.create("g", RULES, seed=12)
        await play_on(engine.client, "g", game, chance, moves=60)
        assert (await engine.end(signal.SIGKILL))[0] == -signal.SIGKILL
    async with running(**settings) as engine:
        await check_views(engine.client, "g", game)
        await play_on(engine.client, "g", game, chance)
        assert game.outcome is not None
        url = f"http://127.0.0.1:{engine.listening['metrics_port']}/metrics"
        with await asyncio.to_thread(urllib.request.urlopen, url) as answer:
            metrics = answer.read().decode()
        code, log = await engine.end(signal.SIGTERM)
    assert code == 0
    assert [json.loads(line)["event"] for line in log.splitlines()] == ["stopping", "stopped"]
    for name in (
        'baohuang_requests_total{code="OK",method="Act",protocol="grpc"}',
        'baohuang_request_seconds_bucket{le="0.005",method="Act",protocol="grpc"}',
        "baohuang_log_events_appended_total",
        'baohuang_engine_cache_lookups_total{state="current"}',
        'baohuang_engine_games_finished_total{rules="lianzhong-simple",termination="played"} 1.0',
    ):
        assert name in metrics
    stored = [event for commit in await store.read_stream("g") for event in decode_events(commit.payload)]
    assert tuple(stored) == game.events


@pytest.mark.parametrize(
    ("settings", "code", "told"),
    [
        ({}, 2, "BAOHUANG_DATABASE_URL is not set"),
        ({"BAOHUANG_DATABASE_URL": "postgresql://x", "BAOHUANG_PORT": "x"}, 2, "BAOHUANG_PORT"),
    ],
)
async def test_settings_that_cannot_be_used(settings: dict[str, str], code: int, told: str) -> None:
    process = await launch(**settings)
    _, log = await process.communicate()
    assert (process.returncode, log.decode().count("\n")) == (code, 1)
    assert told in log.decode()


async def test_a_taken_port_ends_the_start_with_a_message(database: str) -> None:
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as server:
        taken = str(server.sockets[0].getsockname()[1])
        for variable in ("BAOHUANG_PORT", "BAOHUANG_METRICS_PORT"):
            process = await launch(**{"BAOHUANG_DATABASE_URL": database, variable: taken})
            _, log = await process.communicate()
            assert process.returncode == 1, log
            line = log.decode().splitlines()[-1]  # gRPC's core says it first, in its own way
            assert line.startswith("engine: ")
            assert taken in line
