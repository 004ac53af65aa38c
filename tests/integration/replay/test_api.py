"""The REST interface: lists, records, errors as problem+json, health and metrics."""

import psycopg
import pytest
from litestar.testing import AsyncTestClient

from baohuang import Game, Record
from services.eventstore import EventStore, Pool
from services.kit.settings import Settings
from services.kit.web import make_health_app
from services.replay.app import make_replay
from services.replay.known import KnownGame
from tests.integration.replay.conftest import Client
from tests.integration.replay.scene import ALL_PRESETS, index, played_game, write


@pytest.mark.parametrize("preset", ALL_PRESETS)
async def test_the_record_of_a_finished_game_is_the_library_s(
    preset: str, client: Client, store: EventStore
) -> None:
    game = played_game(preset)
    await write(store, "g", game.events)
    answer = await client.get("/v1/games/g/record")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/jsonl; charset=utf-8"
    assert answer.headers["baohuang-view"] == "whole"
    assert answer.headers["content-disposition"] == 'attachment; filename="g.jsonl"'
    assert answer.text == game.record().dumps()
    assert Game.replay(answer.text).events == game.events


async def test_the_record_of_a_running_game_is_a_spectator_s_and_says_so(
    client: Client, store: EventStore
) -> None:
    game = played_game("jiaodong", until=40)
    await write(store, "g", game.events)
    answer = await client.get("/v1/games/g/record")
    assert answer.headers["baohuang-view"] == "spectator"
    assert answer.headers["content-disposition"] == 'attachment; filename="g-running.jsonl"'
    assert answer.headers["cache-control"] == "no-store"
    assert Record.loads(answer.text).events == KnownGame("g", game.events).events


async def test_a_game_that_goes_on_is_shown_as_it_is_now(client: Client, store: EventStore) -> None:
    game = played_game("marked-guard")
    for length in (5, 50, game.version - 1, game.version):
        await write(store, "g", game.events[:length])
        lines = (await client.get("/v1/games/g/record")).text.splitlines()
        assert len(lines) == KnownGame("g", game.events[:length]).version
        status = (await client.get("/v1/games/g")).json()["status"]
        assert status == ("finished" if length == game.version else "running")


async def test_a_game_and_the_list_of_games_say_the_same(
    client: Client, store: EventStore, pool: Pool
) -> None:
    finished, running = played_game("lianzhong-simple", kaopai=True), played_game("jiaodong", until=40)
    await write(store, "finished", finished.events)
    await write(store, "running", running.events)
    await index(pool)
    answer = (await client.get("/v1/games?limit=1")).json()
    (newest,) = answer["games"]
    assert newest == (await client.get("/v1/games/running")).json()
    assert newest["status"] == "running"
    assert {newest[name] for name in ("events", "finished_ms", "termination", "solo", "multiplier")} == {None}
    answer = (await client.get("/v1/games", params={"after": answer["next"]})).json()
    (oldest,) = answer["games"]
    assert answer["next"] is None
    assert oldest == (await client.get("/v1/games/finished")).json()
    outcome = finished.outcome
    assert outcome is not None
    assert oldest["scores"] == list(outcome.scores)
    assert (oldest["rules"], oldest["options"]) == ("lianzhong-simple", {"kaopai": True})
    assert oldest["events"] == finished.version
    for wanted, ids in (
        ("status=running", ["running"]),
        ("status=finished", ["finished"]),
        ("rules=jiaodong", ["running"]),
        ("rules=jiaodong&status=finished", []),
    ):
        found = (await client.get(f"/v1/games?{wanted}")).json()["games"]
        assert [game["game_id"] for game in found] == ids
    assert (await client.get("/v1/totals")).json() == {"running": 1, "finished": 1}


@pytest.mark.parametrize(
    ("address", "status", "reason"),
    [
        ("/v1/games/nothing", 404, "GAME_NOT_FOUND"),
        ("/v1/games/nothing/record", 404, "GAME_NOT_FOUND"),
        ("/v1/games/no%20id", 404, "GAME_NOT_FOUND"),
        ("/v1/nowhere", 404, "NOT_FOUND"),
        ("/v1/games?rules=mahjong", 400, "UNKNOWN_PRESET"),
        ("/v1/games?after=mahjong", 400, "MALFORMED_REQUEST"),
        ("/v1/games?limit=0", 400, "MALFORMED_REQUEST"),
        ("/v1/games?limit=101", 400, "MALFORMED_REQUEST"),
        ("/v1/games?status=lost", 400, "MALFORMED_REQUEST"),
    ],
)
async def test_errors_are_problems_with_a_reason(
    client: Client, address: str, status: int, reason: str
) -> None:
    answer = await client.get(address)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    problem = answer.json()
    assert (problem["status"], problem["reason"]) == (status, reason)


async def test_a_method_that_is_not_offered_is_refused(client: Client) -> None:
    assert (await client.post("/v1/games")).status_code == 405
    assert (await client.delete("/v1/games/g")).status_code == 405


async def test_health_and_metrics(client: Client) -> None:
    assert (await client.get("/health/live")).json() == {"status": "live"}
    assert (await client.get("/health/ready")).json() == {"status": "ready"}
    await client.get("/v1/games/nothing")
    text = (await client.get("/metrics")).text
    assert 'baohuang_requests_total{code="404",method="GET /v1/games/{game_id}",protocol="http"}' in text
    assert 'baohuang_errors_total{reason="GAME_NOT_FOUND"}' in text


async def test_it_is_not_ready_without_its_tables(database: str) -> None:
    async with AsyncTestClient(make_replay(Settings(database_url=database))) as client:
        answer = await client.get("/health/ready")
        assert (answer.status_code, answer.json()["reason"]) == (503, "MIGRATION_ERROR")
        assert (await client.get("/health/live")).status_code == 200


async def test_an_outage_is_told_as_one_and_passes(client: Client, migrated: str, store: EventStore) -> None:
    game = played_game("jiaodong", until=20)
    await write(store, "g", game.events)
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute("alter table replay.games rename to away")
        assert (await client.get("/health/ready")).json()["reason"] == "MIGRATION_ERROR"
        assert (await client.get("/v1/games")).json()["reason"] == "INTERNAL"
        page = await client.get("/?lang=zh")
        assert (page.status_code, "出错了" in page.text, "replay.games" in page.text) == (500, True, False)
        connection.execute("alter table replay.away rename to games")
    assert (await client.get("/health/ready")).status_code == 200


async def test_a_follower_s_health() -> None:
    async def check() -> None:
        pass

    async with AsyncTestClient(make_health_app(check)) as client:
        assert (await client.get("/health/ready")).status_code == 200
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/")).status_code == 404


async def test_the_interface_describes_itself(client: Client) -> None:
    document = (await client.get("/openapi/replay.json")).json()
    assert set(document["paths"]) == {
        "/v1/games",
        "/v1/totals",
        "/v1/games/{game_id}",
        "/v1/games/{game_id}/record",
    }
