"""What an operator does from the command line."""

import asyncio
import io

import pytest

from services.eventstore import Commit, EventStore, Pool
from services.eventstore.__main__ import main
from services.eventstore.pool import Connection
from services.eventstore.subscription import Follower, Subscription
from tests.integration.eventstore.scene import append


async def run(*arguments: str) -> int:
    # The commands start an event loop of their own.
    return await asyncio.to_thread(main, arguments)


async def test_parked_commits_are_listed_retried_and_discarded(
    store: EventStore, pool: Pool, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(connection: Connection, commit: Commit) -> None:
        raise ValueError("unreadable")

    for version in range(2):
        await append(store, "game", version)
    follower = Follower(pool, Subscription("reader", fail))
    await follower.catch_up()
    assert await run("parked", "--dsn", database, "--subscription", "reader") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("game version 1, 1 attempts: ValueError: unreadable")
    assert second.endswith("game version 2, 0 attempts: waits behind an earlier commit of its stream")
    assert await run("retry", "--dsn", database, "--subscription", "reader") == 0
    assert capsys.readouterr().out == "2 parked commits will be tried again\n"
    assert await follower.catch_up() == 1
    cursor = first.split()[1]
    assert await run("discard", "--dsn", database, "--subscription", "reader", "--cursor", cursor) == 0
    assert capsys.readouterr().out == "discarded\n"
    assert await run("lag", "--dsn", database) == 0
    assert capsys.readouterr().out.splitlines() == [
        "reader: 0 commits behind, the oldest 0.000 s old, 1 parked",
        "open transactions hide 0 commits, the oldest 0.000 s old",
    ]


async def test_streams_are_archived_and_fetched_back(
    store: EventStore,
    database: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for game in range(3):
        await append(store, f"game-{game}", 0)
    assert await run("archive", "--dsn", database, "game-0", "game-1") == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("game-1\n\n"))
    assert await run("unarchive", "--dsn", database) == 0
    assert capsys.readouterr().out == "moved 2 commits\nmoved 1 commits\n"


async def test_a_database_without_a_log_is_named(
    empty_database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run("check", "--dsn", empty_database) == 1
    assert "python -m services.eventstore migrate" in capsys.readouterr().err


async def test_refusals_name_their_reason(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("discard", "--dsn", database, "--subscription", "reader", "--cursor", "x") == 1
    assert capsys.readouterr().err.startswith("INVALID_CURSOR: ")
    assert await run("migrate", "--dsn", "postgresql://127.0.0.1:1/none") == 1
    assert capsys.readouterr().err.startswith("STORE_UNAVAILABLE: ")


def test_database_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAOHUANG_DATABASE_URL", raising=False)
    with pytest.raises(SystemExit) as end:
        main(["migrate"])
    assert end.value.code == 2
