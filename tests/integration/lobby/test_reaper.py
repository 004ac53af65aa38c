"""Every state has a way out without an operator; a moment of silence trips nothing."""

import pytest

from services.kit.errors import PlatformError
from services.lobby import reaper
from services.lobby.tables import AWAY_SECONDS


async def silent(scene, player, seconds):
    await scene.execute(
        "update lobby.players set seen_at = clock_timestamp() - %s * interval '1 second' "
        "where player_id = %s",
        [seconds, player.player_id],
    )


async def seat_of(scene, table, seat):
    return (await scene.lobby.tables.get(table.table_id, None)).seats[seat]


@pytest.fixture
async def players(scene):
    return await scene.players(3)


@pytest.fixture
async def table(scene, players):
    table = await scene.table_of(players)
    for player in players:
        table = await scene.lobby.set_ready(player, table.table_id, True)
    return table


async def test_a_short_silence_changes_nothing(scene, players, table):
    await silent(scene, players[1], AWAY_SECONDS - 20)
    await scene.reaper.reap()
    seat = await seat_of(scene, table, 1)
    assert (seat.ready, seat.away) == (True, False)


async def test_who_is_away_is_not_ready(scene, players, table):
    await silent(scene, players[1], AWAY_SECONDS + 1)
    await scene.reaper.reap()
    seat = await seat_of(scene, table, 1)
    assert (seat.player.player_id, seat.ready, seat.away) == (players[1].player_id, False, True)


async def test_who_is_heard_of_again_is_there(scene, players, table):
    await silent(scene, players[1], AWAY_SECONDS + 1)
    scene.lobby.presence.note(players[1].player_id)
    await scene.lobby.presence.write()
    assert not (await seat_of(scene, table, 1)).away


async def test_who_is_away_for_long_loses_his_seat_and_the_host_the_table(scene, players, table):
    await silent(scene, players[0], reaper.SEAT_SECONDS + 1)
    await scene.reaper.reap()
    after = await scene.lobby.tables.get(table.table_id, None)
    assert (after.seats[0].player, after.host.player_id) == (None, players[1].player_id)
    for player in players:
        await silent(scene, player, reaper.SEAT_SECONDS + 1)
    await scene.reaper.reap()
    assert (await scene.lobby.tables.get(table.table_id, None)).status == "dissolved"


async def test_a_table_at_which_nothing_happens_is_dissolved(scene, table):
    await scene.execute(
        "update lobby.tables set changed_at = changed_at - %s * interval '1 second'",
        [reaper.IDLE_SECONDS + 1],
    )
    await scene.reaper.reap()
    after = await scene.lobby.tables.get(table.table_id, None)
    assert (after.status, after.reason) == ("dissolved", "nothing happened for too long")


async def test_a_game_that_does_not_go_on_fails_its_table(scene, players):
    table = await scene.playing(players)
    await scene.execute("update lobby.turns set sends = %s where kind = 'player'", [reaper.STUCK_TRIES])
    await scene.reaper.reap()
    after = await scene.lobby.tables.get(table.table_id, None)
    assert (after.status, after.hands[0].status) == ("failed", "failed")


async def test_players_at_too_many_tables_are_told(scene, monkeypatch):
    monkeypatch.setattr("services.lobby.tables.MOST_TABLES", 2)
    player = await scene.player()
    for _ in range(2):
        await scene.table_of([player])
    with pytest.raises(PlatformError, match="TOO_MANY"):
        await scene.table_of([player])
