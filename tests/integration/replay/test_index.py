"""The index of games: it follows from the log, and is listed newest first."""

import psycopg
import pytest

from baohuang import Due, DueKind, Game, RuleSet
from baohuang.rpc.codec import encode_events
from services.eventstore import EventStore, NewCommit, Pool, migrate
from services.eventstore.projection import rebuild
from services.kit.paging import Place
from services.replay.__main__ import MIGRATIONS, main
from services.replay.games import Games, GamesProjection
from tests.integration.replay.scene import ALL_PRESETS, index, played_game, write

pytestmark = pytest.mark.usefixtures("migrated")


async def listed(games: Games, limit: int, **wanted: object) -> list[str]:
    """The ids of all games that match, read page by page."""
    found: list[str] = []
    after = None
    while True:
        page = await games.page(limit=limit, after=after, **wanted)  # type: ignore[arg-type]
        found += [game.game_id for game in page.games]
        if page.next is None:
            return found
        assert len(page.games) == limit
        after = Place.parse(page.next.format())


@pytest.mark.parametrize("preset", ALL_PRESETS)
async def test_a_game_is_listed_from_its_first_commit_and_told_whole_after_its_last(
    preset: str, pool: Pool, store: EventStore
) -> None:
    game = played_game(preset, show_counts="never")
    games = Games(pool)
    await write(store, "g", game.events[:10])
    await index(pool)
    (running,) = (await games.page()).games
    assert running.is_running
    assert (running.rules, running.options) == (preset, {"show_counts": "never"})
    assert running.events is running.scores is running.places is running.roles is running.termination is None

    await write(store, "g", game.events)
    await index(pool)
    (finished,) = (await games.page()).games
    outcome = game.outcome
    assert outcome is not None
    assert finished.finished_ms is not None
    assert finished.finished_ms >= finished.started_ms == running.started_ms
    assert finished.events == game.version
    assert finished.scores == list(outcome.scores)
    assert finished.penalties == list(outcome.penalties)
    assert finished.places == (None if outcome.places is None else list(outcome.places))
    assert finished.roles == (None if outcome.roles is None else [str(role) for role in outcome.roles])
    assert (finished.termination, finished.solo) == (outcome.termination, outcome.solo)
    assert finished.multiplier == outcome.multiplier
    assert await games.totals() == (0, 1)


async def test_a_recorded_game_is_one_commit(pool: Pool, store: EventStore) -> None:
    game = played_game("jiaodong")
    await store.append_batch(
        [NewCommit("g", "c", b"", 0, encode_events(game.events), len(game.events))],
    )
    await index(pool)
    (found,) = (await Games(pool).page()).games
    assert found.events == game.version


async def test_a_void_hand_has_neither_places_nor_roles(pool: Pool, store: EventStore) -> None:
    rules = RuleSet.preset("jiaodong", all_refuse="void")
    # The holder of both marked jokers yields, and nobody wants the throne (R5.1).
    game = Game.from_hands(rules, ["EJ GJ 7c", "8c", "9c", "Tc", "Jc"])
    game.apply(0, "yield")
    while game.to_act:
        game.apply(game.to_act[0], "decline")
    await write(store, "g", game.events)
    await index(pool)
    (found,) = (await Games(pool).page()).games
    assert (found.termination, found.places, found.roles, found.scores) == ("void", None, None, [0] * 5)


async def test_lists_are_newest_first_and_their_pages_neither_skip_nor_repeat(
    pool: Pool, store: EventStore
) -> None:
    running = played_game("jiaodong", until=12)
    finished = played_game("marked-guard")
    ids = [f"game-{number:02}" for number in range(11)]
    for number, game_id in enumerate(ids):
        await write(store, game_id, (running if number % 3 else finished).events, per_commit=400)
    await index(pool)
    games = Games(pool)
    newest_first = ids[::-1]
    for limit in (1, 2, 3, 11, 100):
        assert await listed(games, limit) == newest_first
    assert await listed(games, 2, rules="jiaodong") == [name for name in newest_first if int(name[5:]) % 3]
    assert await listed(games, 2, is_running=False) == ["game-09", "game-06", "game-03", "game-00"]
    assert await listed(games, 2, rules="jiaodong", is_running=False) == []
    assert await games.totals() == (7, 4)


async def test_games_that_began_in_the_same_millisecond_keep_their_place(
    migrated: str, pool: Pool, store: EventStore
) -> None:
    game = played_game("jiaodong", until=12)
    for name in "abcdef":
        await write(store, name, game.events)
    await index(pool)
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute("update replay.games set started_ms = 5")
    assert await listed(Games(pool), 2) == list("fedcba")


async def test_each_list_is_a_range_of_an_index(migrated: str) -> None:
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute(
            "insert into replay.games (game_id, preset, options, started_ms)"
            " select 'g' || n, 'jiaodong', '{}', n from generate_series(1, 20000) as n"
        )
        connection.execute("analyze replay.games")
        for condition in ("true", "preset = 'jiaodong'", "finished_ms is null", "finished_ms is not null"):
            plan = connection.execute(
                f"explain select * from replay.games where {condition}"
                " and (started_ms, game_id) < (9000, 'x') order by started_ms desc, game_id desc limit 20"
            ).fetchall()
            text = "\n".join(row[0] for row in plan)
            assert "Index Scan Backward" in text, text
            assert "Sort" not in text, text


async def test_a_rebuild_gives_the_same_index(migrated: str, pool: Pool, store: EventStore) -> None:
    for preset in ALL_PRESETS:
        await write(store, preset, played_game(preset).events)
    await write(store, "running", played_game("jiaodong", until=30).events)
    await index(pool)
    before = await Games(pool).page(limit=100)
    with psycopg.connect(migrated, autocommit=True) as connection:
        connection.execute(
            "update replay.games set preset = 'wrong', scores = '{9,9,9,9,9}', finished_ms = 1"
        )
    assert await rebuild(pool, GamesProjection()) > len(ALL_PRESETS)
    assert await Games(pool).page(limit=100) == before
    # Following goes on, and the next rebuild finds everything in its place.
    await write(store, "later", played_game("marked-guard").events)
    await index(pool)
    assert (await Games(pool).totals()).finished == len(ALL_PRESETS) + 1
    await rebuild(pool, GamesProjection())
    assert (await Games(pool).page(limit=100)).games[1:] == before.games


def test_commands_of_an_operator(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BAOHUANG_DATABASE_URL", raising=False)
    assert main(["migrate"]) == 2
    assert "BAOHUANG_DATABASE_URL is not set" in capsys.readouterr().err
    monkeypatch.setenv("BAOHUANG_DATABASE_URL", database)
    assert main(["migrate"]) == 0
    assert capsys.readouterr().out == "nothing to do\n"
    assert migrate(database, "replay", MIGRATIONS) == []
    monkeypatch.setenv("BAOHUANG_DATABASE_URL", "postgresql://127.0.0.1:1/nothing")
    assert main(["migrate"]) == 1
    assert capsys.readouterr().err.startswith("replay migrate: cannot migrate replay: connection failed")


async def test_a_game_that_owes_tribute_is_indexed(pool: Pool, store: EventStore) -> None:
    dues = (Due(DueKind.TRIBUTE, 1, 0), Due(DueKind.TRIBUTE, 2, 0))
    game = Game.deal(RuleSet.preset("shandong-folk"), seed=3, dues=dues)
    await write(store, "g", game.events)
    await index(pool)
    assert (await Games(pool).totals()).running == 1
