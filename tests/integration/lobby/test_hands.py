"""Tables and hands in the database: what an outcome leads to, and that work lies there until it is done."""

import contextlib

import pytest

from baohuang import Game, RuleSet, Termination
from baohuang.rules.autoplay import auto_action
from services.engine.server import serving
from services.eventstore import StoreUnavailable
from services.kit.errors import PlatformError
from services.lobby.broker import TurnSender
from services.lobby.engine import Engine
from services.lobby.hands import Hands, end_hand
from services.lobby.tables import Tables
from services.lobby.turns import Turns
from services.lobby.work import HandOpener, TurnDispatcher
from services.local.ports import free_port
from tests.integration.lobby.scene import new_table

BOTS = ("greedy", "random", "greedy", "random", "greedy")


@pytest.fixture
async def host(scene):
    return await scene.player("host")


@pytest.fixture
def tables(scene):
    # Below the application, which would have the engine open the hand at once.
    return scene.lobby.tables


@pytest.fixture
async def table(tables, host):
    return await tables.create(host, new_table("shandong-folk", bots=BOTS, hands=2), None)


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


async def test_an_outcome_is_stored_and_the_next_hand_written_once(tables, table, lobby_pool):
    outcome = played()
    for _ in range(2):
        await end(lobby_pool, table.hands[0].game_id, outcome)
    after = await tables.get(table.table_id, None)
    first, second = after.hands
    assert (first.status, first.outcome.scores) == ("ended", list(outcome.scores))
    assert (second.status, second.first_drawer) == ("opening", outcome.next_first_drawer)
    assert [(due.kind, due.giver, due.receiver) for due in second.dues] == [
        (due.kind, due.giver, due.receiver) for due in outcome.dues
    ]
    assert after.totals.scores == list(outcome.scores)


async def test_the_last_hand_finishes_the_table(tables, table, lobby_pool):
    await end(lobby_pool, table.hands[0].game_id, played(1))
    second = (await tables.get(table.table_id, None)).hands[1]
    await end(lobby_pool, second.game_id, played(2))
    after = await tables.get(table.table_id, None)
    assert (after.status, len(after.hands), after.totals.hands) == ("finished", 2, 2)


async def test_auto_play_at_the_end_of_a_hand_dissolves_the_table(tables, table, lobby_pool):
    # R9.4
    await end(lobby_pool, table.hands[0].game_id, played(left=(3,)))
    after = await tables.get(table.table_id, None)
    assert (after.status, len(after.hands)) == ("dissolved", 1)
    assert "R9.4" in after.reason


async def test_the_end_of_a_game_of_others_is_passed_over(lobby_pool):
    outcome = played()
    assert outcome.termination is Termination.PLAYED
    await end(lobby_pool, "nobodys", outcome)


@pytest.mark.parametrize("table_id", ["nothing", "", "\0", "a" * 1000])
async def test_an_unknown_table_is_not_found(table_id, tables):
    with pytest.raises(PlatformError, match="TABLE_NOT_FOUND"):
        await tables.get(table_id, None)


async def test_the_store_says_when_the_database_is_away(lobby_pool):
    await lobby_pool.close()
    with pytest.raises(StoreUnavailable):
        await Tables(lobby_pool).check()


async def make_due(scene, table):
    await scene.execute(f"update lobby.{table} set due_at = clock_timestamp()")


async def test_a_hand_stays_to_be_opened_until_the_engine_has_opened_it(scene, tables, table, lobby_pool):
    port = free_port()
    engine = Engine(f"127.0.0.1:{port}")
    opener = HandOpener(Hands(lobby_pool), engine)
    assert await opener.open_due() == 1
    assert (await tables.get(table.table_id, None)).status == "starting"
    assert await opener.open_due() == 0, "the next attempt comes after a pause"
    async with serving(scene.store, port=port):
        await make_due(scene, "hands")
        assert await opener.open_due() == 1
        after = await tables.get(table.table_id, None)
        assert (after.status, after.hands[0].status) == ("playing", "playing")
        assert await scene.store.stream_version(table.hands[0].game_id) > 0
    await engine.close()


async def test_a_hand_that_the_engine_refuses_for_good_fails_its_table(scene, tables, table):
    await scene.store.append(
        table.hands[0].game_id,
        command_id="somebody-else",
        fingerprint=b"",
        expected_version=0,
        payload=b"",
        event_count=1,
    )
    await scene.opener.open_due()
    after = await tables.get(table.table_id, None)
    assert (after.status, after.hands[0].status) == ("failed", "failed")
    assert "GAME_EXISTS" in after.reason


async def test_a_turn_is_sent_again_until_it_is_gone(scene, lobby_pool, valkey):
    turns = Turns(lobby_pool)
    await scene.execute(
        "insert into lobby.turns (game_id, seat, version, answers, bot) values ('game', 2, 9, 0, 'greedy')"
    )
    with contextlib.closing(TurnSender(f"redis://127.0.0.1:{free_port()}/0")) as nowhere:
        assert await TurnDispatcher(turns, nowhere).send_due() == 0
    with contextlib.closing(TurnSender(valkey.url)) as sender:
        dispatcher = TurnDispatcher(turns, sender)
        assert await dispatcher.send_due() == 0, "what could not be sent waits a moment"
        for _ in range(2):
            await make_due(scene, "turns")
            assert await dispatcher.send_due() == 1
            assert await dispatcher.send_due() == 0
    [(sends, pause)] = await scene.execute(
        "select sends, due_at - clock_timestamp() > '5 s' from lobby.turns"
    )
    assert (sends, pause) == (2, True), "the pause grows"
