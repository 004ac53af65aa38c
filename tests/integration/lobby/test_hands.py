"""Tables and hands in the database: what an outcome leads to, and that work lies there until it is done."""

import contextlib

import pytest

from baohuang import Game, RuleSet, Termination
from baohuang.rules.autoplay import auto_action
from services.engine.server import serving
from services.eventstore import StoreUnavailable, migrate
from services.kit.errors import PlatformError
from services.lobby.__main__ import MIGRATIONS
from services.lobby.broker import TurnSender
from services.lobby.engine import Engine
from services.lobby.tables import TableStore, end_hand
from services.lobby.work import HandOpener, TurnDispatcher
from services.local.ports import free_port

BOTS = ["greedy", "random", "greedy", "random", "greedy"]


@pytest.fixture
def tables(database, pool):
    migrate(database, "lobby", MIGRATIONS)
    return TableStore(pool)


@pytest.fixture
async def opened(tables):
    return await tables.open(RuleSet.preset("shandong-folk"), BOTS, 2, None)


def played(seed=7, *, left=()):
    """The outcome of a hand played by R9's actions; seats in `left` are on auto-play at its end."""
    game = Game.deal(RuleSet.preset("shandong-folk"), seed=seed)
    for seat in left:
        game.start_auto_play(seat)
    while game.to_act:
        seat = game.to_act[0]
        if seat in left:
            game.auto_act(seat)
        else:
            game.apply(seat, auto_action(game.state, seat))
    return game.outcome


async def end(pool, game_id, outcome):
    async with pool.connection() as connection, connection.transaction():
        await end_hand(connection, game_id, outcome)


async def test_an_outcome_is_stored_and_the_next_hand_written_once(tables, opened, pool):
    outcome = played()
    for _ in range(2):
        await end(pool, opened.first_hand.game_id, outcome)
    table = await tables.get(opened.table_id)
    assert table.status == "playing"
    first, second = table.hands
    assert (first.status, first.outcome.scores) == ("ended", list(outcome.scores))
    assert (second.status, second.first_drawer) == ("opening", outcome.next_first_drawer)
    assert [(due.kind, due.giver, due.receiver) for due in second.dues] == [
        (due.kind, due.giver, due.receiver) for due in outcome.dues
    ]
    assert table.totals.scores == list(outcome.scores)


async def test_the_last_hand_finishes_the_table(tables, opened, pool):
    await end(pool, opened.first_hand.game_id, played(1))
    second = (await tables.get(opened.table_id)).hands[1]
    await end(pool, second.game_id, played(2))
    table = await tables.get(opened.table_id)
    assert (table.status, len(table.hands), table.totals.hands) == ("finished", 2, 2)


async def test_auto_play_at_the_end_of_a_hand_dissolves_the_table(tables, opened, pool):
    # R9.4
    await end(pool, opened.first_hand.game_id, played(left=(3,)))
    table = await tables.get(opened.table_id)
    assert (table.status, table.dissolved, len(table.hands)) == ("dissolved", True, 1)


async def test_the_end_of_a_game_of_others_is_passed_over(tables, pool):
    outcome = played()
    assert outcome.termination is Termination.PLAYED
    await end(pool, "nobodys", outcome)


async def test_an_idempotency_key_belongs_to_one_request(tables):
    rules = RuleSet.preset("jiaodong")
    first = await tables.open(rules, BOTS, 1, "key")
    again = await tables.open(rules, BOTS, 1, "key")
    assert (again.table_id, again.first_hand) == (first.table_id, None)
    with pytest.raises(PlatformError, match=rf"COMMAND_REUSED.*{first.table_id}"):
        await tables.open(rules, BOTS, 2, "key")


async def test_an_unknown_table_is_not_found(tables):
    for table_id in ("nothing", "", "\0", "a" * 1000):
        with pytest.raises(PlatformError, match="TABLE_NOT_FOUND"):
            await tables.get(table_id)


async def test_the_store_says_when_the_database_is_away(tables, pool):
    await pool.close()
    with pytest.raises(StoreUnavailable):
        await tables.check()


async def make_due(pool, table):
    async with pool.connection() as connection:
        await connection.execute(f"update lobby.{table} set due_at = clock_timestamp()")


async def test_a_hand_stays_to_be_opened_until_the_engine_has_opened_it(tables, opened, pool, store):
    port = free_port()
    engine = Engine(f"127.0.0.1:{port}")
    opener = HandOpener(tables, engine)
    await make_due(pool, "hands")
    assert await opener.open_due() == 1
    assert (await tables.get(opened.table_id)).status == "starting"
    assert await opener.open_due() == 0, "the next attempt comes after a pause"
    async with serving(store, port=port):
        await make_due(pool, "hands")
        assert await opener.open_due() == 1
        table = await tables.get(opened.table_id)
        assert (table.status, table.hands[0].status) == ("playing", "playing")
        assert await store.stream_version(opened.first_hand.game_id) > 0
    await engine.close()


async def test_a_hand_that_the_engine_refuses_for_good_fails_its_table(tables, opened, pool, store):
    await store.append(
        opened.first_hand.game_id,
        command_id="somebody-else",
        fingerprint=b"",
        expected_version=0,
        payload=b"",
        event_count=1,
    )
    async with serving(store) as port:
        engine = Engine(f"127.0.0.1:{port}")
        await make_due(pool, "hands")
        await HandOpener(tables, engine).open_due()
        table = await tables.get(opened.table_id)
        assert (table.status, table.hands[0].status) == ("failed", "failed")
        assert "GAME_EXISTS" in table.failure
        await engine.close()


async def test_a_turn_is_sent_again_until_it_is_gone(tables, pool, valkey):
    async with pool.connection() as connection:
        await connection.execute("insert into lobby.turns values ('game', 2, 9, 0, 'greedy')")
        with contextlib.closing(TurnSender(f"redis://127.0.0.1:{free_port()}/0")) as nowhere:
            assert await TurnDispatcher(pool, nowhere).send_due() == 0
        with contextlib.closing(TurnSender(valkey.url)) as sender:
            dispatcher = TurnDispatcher(pool, sender)
            assert await dispatcher.send_due() == 0, "what could not be sent waits a moment"
            for _ in range(2):
                await make_due(pool, "turns")
                assert await dispatcher.send_due() == 1
                assert await dispatcher.send_due() == 0
        [(sends, pause)] = await (
            await connection.execute("select sends, due_at - clock_timestamp() > '5 s' from lobby.turns")
        ).fetchall()
        assert (sends, pause) == (2, True), "the pause grows"
