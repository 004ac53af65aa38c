"""Who sits where: taken, left, made ready, and raced for."""

import asyncio

import pytest

from services.kit.errors import PlatformError
from services.lobby.messages.tables import Join, Leave
from tests.integration.lobby.scene import new_table


async def refused(reason, call):
    with pytest.raises(PlatformError) as raised:
        await call
    assert raised.value.reason == reason
    return raised.value


def names(table):
    return [seat.player.player_id if seat.player else seat.bot for seat in table.seats]


async def test_the_host_sits_and_others_join(scene):
    players = await scene.players(3)
    table = await scene.table_of(players, bots=(None, "greedy", None, None, "random"))
    ids = [player.player_id for player in players]
    assert names(table) == [ids[0], "greedy", ids[1], ids[2], "random"]
    assert (table.status, table.host.player_id) == ("gathering", ids[0])
    assert [seat.ready for seat in table.seats] == [False, True, False, False, True]


async def test_a_hand_starts_when_five_are_ready(scene):
    players = await scene.players()
    table = await scene.table_of(players)
    for player in players[:4]:
        table = await scene.lobby.set_ready(player, table.table_id, True)
    await scene.lobby.set_ready(players[0], table.table_id, False)
    table = await scene.lobby.set_ready(players[4], table.table_id, True)
    assert (table.status, table.hands) == ("gathering", [])
    table = await scene.lobby.set_ready(players[0], table.table_id, True)
    assert (table.status, table.hands[0].status) == ("starting", "opening")
    await scene.settle()
    table = await scene.lobby.tables.get(table.table_id, None)
    assert (table.status, table.hands[0].status) == ("playing", "playing")


async def test_the_host_starts_with_bots_in_the_free_seats(scene):
    host, other = await scene.players(2)
    table = await scene.table_of([host, other])
    await refused("FORBIDDEN", scene.lobby.start_table(other, table.table_id, "greedy", None))
    error = await refused("WRONG_PHASE", scene.lobby.start_table(host, table.table_id, "greedy", None))
    assert error.details["seats"] == "[1]"
    await refused("UNKNOWN_BOT", scene.lobby.start_table(host, table.table_id, "gready", None))
    await scene.lobby.set_ready(other, table.table_id, True)
    table = await scene.lobby.start_table(host, table.table_id, "greedy", None)
    assert table.status == "starting"
    assert names(table)[2:] == ["greedy"] * 3


async def test_of_many_that_race_for_the_last_seat_one_is_seated(scene):
    players = await scene.players(4)
    table = await scene.table_of(players)
    racers = await scene.players(12)
    results = await asyncio.gather(
        *(scene.lobby.join(racer, Join(table_id=table.table_id), None) for racer in racers),
        return_exceptions=True,
    )
    seated = [result for result in results if not isinstance(result, PlatformError)]
    assert len(seated) == 1
    assert {result.reason for result in results if isinstance(result, PlatformError)} == {"TABLE_FULL"}
    assert len(set(names(await scene.lobby.tables.get(table.table_id, None)))) == 5


async def test_of_two_that_want_the_same_seat_one_is_told(scene):
    host, other, third = await scene.players(3)
    table = await scene.table_of([host])
    await scene.lobby.join(other, Join(table_id=table.table_id, seat=3), None)
    await refused("SEAT_TAKEN", scene.lobby.join(third, Join(table_id=table.table_id, seat=3), None))
    await refused("ALREADY_SEATED", scene.lobby.join(other, Join(table_id=table.table_id), None))


async def test_a_private_table_is_joined_by_its_code_alone(scene):
    host, friend, stranger = await scene.players(3)
    table = await scene.table_of([host], is_private=True)
    assert table.code
    await refused("TABLE_NOT_FOUND", scene.lobby.tables.get(table.table_id, stranger))
    await refused("TABLE_NOT_FOUND", scene.lobby.tables.get(table.table_id, None))
    await refused("TABLE_NOT_FOUND", scene.lobby.join(stranger, Join(table_id=table.table_id), None))
    await refused("TABLE_NOT_FOUND", scene.lobby.join(stranger, Join(code="AAAAAAAA"), None))
    joined = await scene.lobby.join(friend, Join(code=table.code.lower()), None)
    assert joined.code == table.code
    await refused("TABLE_NOT_FOUND", scene.lobby.set_ready(stranger, table.table_id, True))


async def test_a_table_may_want_no_programs(scene):
    host, program = await scene.player(), await scene.player(is_bot=True)
    table = await scene.table_of([host], bots_allowed=False)
    await refused("BOTS_NOT_ALLOWED", scene.lobby.join(program, Join(table_id=table.table_id), None))
    # A host may still fill up with built-in ones.
    await scene.lobby.seat_bot(host, table.table_id, 4, "greedy")


async def test_bots_are_seated_by_the_host_only(scene):
    host, other = await scene.players(2)
    table = await scene.table_of([host, other])
    await refused("FORBIDDEN", scene.lobby.seat_bot(other, table.table_id, 4, "greedy"))
    await refused("SEAT_TAKEN", scene.lobby.seat_bot(host, table.table_id, 1, "greedy"))
    await scene.lobby.seat_bot(host, table.table_id, 4, "greedy")
    table = await scene.lobby.seat_bot(host, table.table_id, 4, "random")
    assert names(table)[4] == "random"
    await refused("SEAT_TAKEN", scene.lobby.unseat_bot(host, table.table_id, 1))
    assert names(await scene.lobby.unseat_bot(host, table.table_id, 4))[4] is None


async def test_a_host_who_leaves_hands_on_and_the_last_one_takes_the_table_along(scene):
    host, other = await scene.players(2)
    table = await scene.table_of([host, other])
    after = await scene.lobby.leave(host, table.table_id, Leave(), None)
    assert (after.host.player_id, names(after)[0]) == (other.player_id, None)
    await refused("NOT_SEATED", scene.lobby.leave(host, table.table_id, Leave(), None))
    after = await scene.lobby.leave(other, table.table_id, Leave(), None)
    assert (after.status, after.reason) == ("dissolved", "everybody left")
    await refused("WRONG_PHASE", scene.lobby.join(host, Join(table_id=table.table_id), None))


async def test_tables_are_dissolved_by_their_host_and_by_operators(scene):
    host, other = await scene.players(2)
    operator = await scene.player(scopes=("operator",))
    first, second = await scene.table_of([host]), await scene.table_of([host, other])
    await refused("FORBIDDEN", scene.lobby.dissolve_table(other, second.table_id))
    assert (await scene.lobby.dissolve_table(host, first.table_id)).status == "dissolved"
    assert (await scene.lobby.dissolve_table(operator, second.table_id)).status == "dissolved"


async def test_only_operators_remove_players(scene):
    host, other = await scene.players(2)
    operator = await scene.player(scopes=("operator",))
    table = await scene.table_of([host, other])
    await refused("FORBIDDEN", scene.lobby.remove_player(host, table.table_id, 1))
    assert names(await scene.lobby.remove_player(operator, table.table_id, 1))[1] is None
    await refused("NOT_SEATED", scene.lobby.remove_player(operator, table.table_id, 1))


async def test_the_same_key_gives_the_first_answer_also_a_refusal(scene):
    host, *others = await scene.players()
    table = await scene.table_of([host, *others[:3]])
    late = others[3]
    join = Join(table_id=table.table_id, seat=0)
    first = await refused("SEAT_TAKEN", scene.lobby.join(late, join, "key"))
    await scene.lobby.leave(host, table.table_id, Leave(), None)
    again = await refused("SEAT_TAKEN", scene.lobby.join(late, join, "key"))
    assert str(again) == str(first)
    assert again.violations == first.violations
    joined = await scene.lobby.join(late, join, "another")
    await scene.lobby.leave(late, table.table_id, Leave(), None)
    assert await scene.lobby.join(late, join, "another") == joined
    await refused("COMMAND_REUSED", scene.lobby.join(late, Join(table_id=table.table_id), "another"))


async def test_one_request_sent_many_times_at_once_is_done_once(scene):
    host = await scene.player()
    tables = await asyncio.gather(*(scene.lobby.create_table(host, new_table(), "key") for _ in range(8)))
    assert len({table.table_id for table in tables}) == 1


async def test_keys_belong_to_players(scene):
    one, other = await scene.players(2)
    first = await scene.lobby.create_table(one, new_table(), "key")
    second = await scene.lobby.create_table(other, new_table(), "key")
    assert first.table_id != second.table_id
