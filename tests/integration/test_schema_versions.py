"""A commit of a schema version that is not known here: refused by type, and nobody else's game waits."""

import psycopg
import pytest

from baohuang import Game, RuleSet
from baohuang.rpc.codec import decode_events, encode_events
from baohuang.testing.scenarios import play_out
from services.eventstore import EventStore, Pool, migrate
from services.eventstore.parked import parked_commits, retry_parked
from services.eventstore.projection import subscription_of
from services.eventstore.subscription import Follower, Subscription
from services.kit import stored_events
from services.kit.stored_events import UnreadableEvents
from services.lobby.__main__ import MIGRATIONS as LOBBY
from services.lobby.games import Games
from services.lobby.projection import LobbyProjection
from services.replay.__main__ import MIGRATIONS as REPLAY
from services.replay.games import GamesProjection
from services.replay.library import Library
from services.replay.sittings import Sittings

NEWER = 2


@pytest.fixture
async def store(database: str, pool: Pool) -> EventStore:
    """A log with two games, the later half of one written by a newer release."""
    migrate(database, "lobby", LOBBY)
    migrate(database, "replay", REPLAY)
    game = Game.deal(RuleSet.preset("marked-guard"), seed=1)
    play_out(game)
    made = EventStore(pool)
    half = game.version // 2
    for name, schema_version in (("old", 1), ("mixed", NEWER)):
        parts = ((game.events[:half], 1), (game.events[half:], schema_version))
        for number, (events, schema) in enumerate(parts):
            await made.append(
                name,
                command_id=f"c{number}",
                fingerprint=b"",
                expected_version=number * half,
                payload=encode_events(events),
                event_count=len(events),
                schema_version=schema,
            )
        with psycopg.connect(database) as connection:
            connection.execute(
                "insert into lobby.tables (table_id, preset, options, hands_to_play, status) "
                "values (%s, 'marked-guard', '{}', 1, 'starting')",
                [name],
            )
            connection.execute("insert into lobby.seats select %s, generate_series(0, 4), 'random'", [name])
            connection.execute(
                "insert into lobby.hands (table_id, number, game_id, first_drawer, dues, bots) "
                "values (%s, 1, %s, 0, '[]', array_fill('random'::text, '{5}'))",
                [name, name],
            )
    return made


async def statuses(pool: Pool) -> dict[str, tuple[str, bool]]:
    """What lobby and replay hold of each game."""
    async with pool.connection() as connection:
        cursor = await connection.execute(
            """select game_id, status, finished_ms is not null
            from lobby.hands join replay.games using (game_id)"""
        )
        return {row[0]: (row[1], row[2]) for row in await cursor.fetchall()}


async def test_followers_park_it_and_a_newer_release_goes_on(
    store: EventStore, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    followers = [
        Follower(pool, Subscription("lobby", LobbyProjection(Games()).apply)),
        Follower(pool, subscription_of(GamesProjection())),
    ]
    for follower in followers:
        await follower.catch_up()
    assert await statuses(pool) == {"old": ("ended", True), "mixed": ("playing", False)}
    parked = await parked_commits(pool)
    assert sorted((each.subscription, each.stream) for each in parked) == [
        ("lobby", "mixed"),
        ("replay", "mixed"),
    ]
    for each in parked:
        assert each.error is not None
        assert "UnreadableEvents: events of schema version 2; this release reads 1" in each.error

    monkeypatch.setattr(stored_events, "READERS", {1: decode_events, NEWER: decode_events})
    for follower in followers:
        await retry_parked(pool, follower.subscription.name)
        await follower.catch_up()
    assert await statuses(pool) == {"old": ("ended", True), "mixed": ("ended", True)}
    assert await parked_commits(pool) == []


async def test_who_asks_for_the_game_is_refused(store: EventStore, pool: Pool) -> None:
    library = Library(store, Sittings(pool))
    assert not (await library.find("old")).game.is_running
    with pytest.raises(UnreadableEvents):
        await library.find("mixed")


@pytest.mark.parametrize("payload", [b"\xff", b"", b"\x0a\x00", b"\x0a\x05\xa2\x06\x02\x08\x01"])
def test_bytes_that_are_no_events_are_refused(payload: bytes) -> None:
    """Damaged, none at all, an event without a kind, and an event of a kind that is not known here."""
    with pytest.raises(UnreadableEvents):
        stored_events.decode_stored(payload, 1)
