"""Times of players: kept in the database, enforced once whoever enforces them, and what leaving comes to."""

import asyncio

import pytest

from baohuang.rules.events import AutoPlayEnded, AutoPlayStarted, SeatForfeited
from baohuang.rules.scoring import PENALTY
from services.kit.errors import PlatformError
from services.kit.stored_events import decode_stored
from services.lobby.messages.tables import Leave
from services.lobby.turns import Turns
from services.lobby.work import Clock


@pytest.fixture
async def players(scene):
    return await scene.players()


@pytest.fixture
async def game_id(scene, players):
    # Its first step asks one seat.
    return (await scene.playing(players, preset="jiaodong")).hands[0].game_id


async def events_of(scene, game_id, *kinds):
    commits = await scene.store.read_stream(game_id)
    events = [event for commit in commits for event in decode_stored(commit.payload, commit.schema_version)]
    return [event for event in events if isinstance(event, kinds)]


async def test_a_deadline_lies_in_the_database_for_each_awaited_decision(scene, players, game_id):
    state = await scene.state(game_id)
    rows = await scene.execute(
        "select seat, version, kind, deadline_at between clock_timestamp() and clock_timestamp() + '30 s' "
        "from lobby.turns where game_id = %s order by seat",
        [game_id],
    )
    assert rows == [(seat, state.public.opened_version, "player", True) for seat in state.to_act]


async def test_nothing_is_due_before_the_deadline(scene, players, game_id):
    assert await scene.clock.enforce_due() == 0
    assert await scene.clock._turns.seconds_to_next_clock() > 10


async def test_when_the_time_is_over_the_server_plays_on_from_there(scene, players, game_id):
    # R9.1
    state = await scene.state(game_id)
    slow = state.to_act
    await scene.pass_time(game_id)
    await scene.settle()
    started = await events_of(scene, game_id, AutoPlayStarted)
    assert [(event.seat, event.why) for event in started] == [(seat, "timeout") for seat in slow]
    after = await scene.state(game_id)
    assert after.public.opened_version > state.public.opened_version


async def test_a_table_on_auto_play_plays_itself_to_the_end_and_is_dissolved(scene, players, game_id):
    # R9.4: all five on auto-play, so the hand does not count.
    for seat in range(5):
        await scene.lobby.play.set_auto_play(players[seat], game_id, True, None)
    await scene.settle()
    [(table_id,)] = await scene.execute("select table_id from lobby.hands")
    table = await scene.lobby.tables.get(table_id, None)
    assert (table.status, table.totals.hands, table.totals.counted) == ("dissolved", 1, 0)
    assert len(await events_of(scene, game_id, AutoPlayStarted)) == 5
    assert await scene.execute("select * from lobby.turns") == []


async def test_many_clocks_enforce_each_deadline_once(scene, players, game_id):
    slow = (await scene.state(game_id)).to_act
    clocks = [Clock(Turns(scene.pool), scene.engine) for _ in range(6)]
    for _ in range(4):  # as if each clock had died right after its command
        await scene.pass_time(game_id)
        await asyncio.gather(*(clock.enforce_due() for clock in clocks))
    assert [event.seat for event in await events_of(scene, game_id, AutoPlayStarted)] == list(slow)


async def test_an_answer_in_the_last_moment_wins_over_the_clock(scene, players, game_id):
    [seat] = (await scene.state(game_id)).to_act
    await scene.act_for(game_id, seat)
    await scene.pass_time(game_id)
    await scene.clock.enforce_due()  # knows nothing of the answer yet
    assert await events_of(scene, game_id, AutoPlayStarted) == []


async def test_control_is_taken_back_and_lost_again_with_a_new_time(scene, players, game_id):
    # R9.3; the same decision may run out of time twice.
    [seat] = (await scene.state(game_id)).to_act
    await scene.pass_time(game_id)
    await scene.clock.enforce_due()
    await scene.lobby.play.set_auto_play(players[seat], game_id, False, None)
    await scene.settle()
    assert (await scene.state(game_id)).to_act == (seat,)
    assert await scene.clock.enforce_due() == 0
    await scene.pass_time(game_id)
    await scene.settle()
    assert [type(event) for event in await events_of(scene, game_id, AutoPlayStarted, AutoPlayEnded)] == [
        AutoPlayStarted,
        AutoPlayEnded,
        AutoPlayStarted,
    ]
    assert seat not in (await scene.state(game_id)).to_act


async def test_auto_play_on_request(scene, players, game_id):
    [seat] = (await scene.state(game_id)).to_act
    await scene.lobby.play.set_auto_play(players[seat], game_id, True, None)
    await scene.settle()
    assert seat not in (await scene.state(game_id)).to_act
    [started] = await events_of(scene, game_id, AutoPlayStarted)
    assert (started.seat, started.why) == (seat, "request")


async def test_clocks_wait_for_the_engine_without_giving_up(scene, players, game_id):
    class Away:
        async def start_auto_play(self, *_):
            raise PlatformError("SERVICE_UNAVAILABLE", "away")

    await scene.pass_time(game_id)
    assert await Clock(Turns(scene.pool), Away()).enforce_due() == 1
    [(sends,)] = await scene.execute("select sends from lobby.turns")
    assert sends == 0
    await scene.pass_time(game_id)
    await scene.settle()
    assert len(await events_of(scene, game_id, AutoPlayStarted)) == 1


async def test_leaving_by_the_exit_is_auto_play_without_penalty(scene, players, game_id):
    # R8.5, R9.1
    table_id = (await scene.execute("select table_id from lobby.hands"))[0][0]
    await scene.lobby.leave(players[2], table_id, Leave(), None)
    await scene.settle()
    [started] = await events_of(scene, game_id, AutoPlayStarted)
    assert (started.seat, started.why) == (2, "left")
    await scene.play_to_the_end(game_id)
    table = await scene.lobby.tables.get(table_id, None)
    assert (table.status, table.totals.penalties) == ("dissolved", [0] * 5)


@pytest.mark.parametrize("kind", ["forced_exit", "removed"])
async def test_leaving_for_good_costs_a_penalty_and_a_bot_plays_on(kind, scene, players):
    # R8.5
    table = await scene.playing(players, hands=2)
    game_id = table.hands[0].game_id
    if kind == "removed":
        operator = await scene.player(scopes=("operator",))
        await scene.lobby.remove_player(operator, table.table_id, 2)
    else:
        await scene.lobby.leave(players[2], table.table_id, Leave(by_force=True), None)
    await scene.settle()
    [forfeited] = await events_of(scene, game_id, SeatForfeited)
    assert (forfeited.seat, forfeited.why) == (2, kind)
    with pytest.raises(PlatformError, match="FORBIDDEN"):
        await scene.lobby.play.set_auto_play(players[2], game_id, True, None)
    await scene.play_to_the_end(game_id)
    after = await scene.lobby.tables.get(table.table_id, None)
    assert after.totals.penalties == [0, 0, PENALTY, 0, 0]
    assert (after.status, after.seats[2].bot, len(after.hands)) == ("playing", "greedy", 2)


async def test_a_departure_waits_for_the_engine_and_is_told_once(scene, players):
    table = await scene.table_of(players)
    for player in players:
        await scene.lobby.set_ready(player, table.table_id, True)
    await scene.lobby.finish()
    [(game_id,)] = await scene.execute("select game_id from lobby.hands")
    for _ in range(2):
        await scene.lobby.leave(players[1], table.table_id, Leave(by_force=True), "key")
    await scene.settle()
    assert len(await events_of(scene, game_id, SeatForfeited)) == 1


async def test_leaving_between_two_hands_ends_the_table(scene, players):
    table = await scene.playing(players, hands=3)
    await scene.play_to_the_end(table.hands[0].game_id)
    after = await scene.lobby.leave(players[0], table.table_id, Leave(), None)
    assert (after.status, [hand.status for hand in after.hands]) == ("dissolved", ["ended", "cancelled"])
    assert after.totals.penalties == [0] * 5
    await scene.settle()
    assert await scene.opener.open_due() == 0


async def test_the_next_hand_waits_for_the_pause_or_until_all_are_ready(scene, players):
    table = await scene.playing(players, hands=2)
    await scene.play_to_the_end(table.hands[0].game_id)
    assert await scene.opener.open_due() == 0
    for player in players:
        table = await scene.lobby.set_ready(player, table.table_id, True)
    await scene.settle()
    table = await scene.lobby.tables.get(table.table_id, None)
    assert [hand.status for hand in table.hands] == ["ended", "playing"]
    # R2.2
    assert table.hands[1].first_drawer == table.hands[0].outcome.next_first_drawer
