"""Quick match: those who want the same find each other."""

import asyncio

import pytest

from services.kit.errors import PlatformError
from services.lobby.messages.matches import NewTicket
from services.lobby.tables import AWAY_SECONDS
from tests.integration.lobby.scene import rules


def wish(preset="marked-guard", **fields):
    return NewTicket(rules=rules(preset), **fields)


async def test_the_fifth_finds_himself_at_a_table_that_starts(scene):
    players = await scene.players()
    tickets = [await scene.lobby.request_match(player, wish(hands=2), None) for player in players]
    assert [(ticket.status, ticket.waiting) for ticket in tickets[:4]] == [
        ("waiting", count) for count in (1, 2, 3, 4)
    ]
    found = [await scene.lobby.get_match(p, t.ticket_id) for p, t in zip(players, tickets, strict=True)]
    assert {ticket.status for ticket in found} == {"matched"}
    [table_id] = {ticket.table_id for ticket in found}
    await scene.settle()
    table = await scene.lobby.tables.get(table_id, None)
    assert (table.status, table.hands_to_play) == ("playing", 2)
    assert {seat.player.player_id for seat in table.seats} == {player.player_id for player in players}


async def test_many_at_once_are_all_matched(scene):
    players = await scene.players(20)
    await asyncio.gather(*(scene.lobby.request_match(player, wish(), None) for player in players))
    rows = await scene.execute("select table_id, count(*) from lobby.tickets group by table_id")
    assert [count for _, count in rows] == [5] * 4
    assert None not in dict(rows)


async def test_only_those_who_want_the_same_are_matched(scene):
    people, programs = await scene.players(4), [await scene.player(is_bot=True) for _ in range(2)]
    for player in (*people[:3], *programs):
        await scene.lobby.request_match(player, wish(), None)
    await scene.lobby.request_match(people[3], wish("jiaodong"), None)
    rows = await scene.execute("select status, count(*) from lobby.tickets group by status")
    assert rows == [("waiting", 6)]


async def test_asking_again_gives_the_same_place_and_another_wish_gives_it_up(scene):
    player = await scene.player()
    first = await scene.lobby.request_match(player, wish(), None)
    assert (await scene.lobby.request_match(player, wish(), None)).ticket_id == first.ticket_id
    second = await scene.lobby.request_match(player, wish("jiaodong"), None)
    assert second.ticket_id != first.ticket_id
    assert (await scene.lobby.get_match(player, first.ticket_id)).status == "cancelled"


async def test_a_ticket_is_cancelled(scene):
    player, other = await scene.players(2)
    ticket = await scene.lobby.request_match(player, wish(), None)
    with pytest.raises(PlatformError, match="TICKET_NOT_FOUND"):
        await scene.lobby.cancel_match(other, ticket.ticket_id)
    assert (await scene.lobby.cancel_match(player, ticket.ticket_id)).status == "cancelled"


async def test_bots_help_out_after_a_while(scene):
    players = await scene.players(2)
    for player in players:
        ticket = await scene.lobby.request_match(player, wish(bots_after_seconds=600), None)
    assert await scene.matches.fill_due() == 0
    await scene.execute("update lobby.tickets set bots_after_at = clock_timestamp()")
    await scene.matches.fill_due()
    ticket = await scene.lobby.get_match(players[1], ticket.ticket_id)
    table = await scene.lobby.tables.get(ticket.table_id, None)
    assert sorted(seat.bot or "player" for seat in table.seats) == ["greedy"] * 3 + ["player"] * 2


async def test_a_player_of_whom_nothing_is_heard_loses_his_place_and_is_not_matched(scene):
    players = await scene.players()
    tickets = [await scene.lobby.request_match(player, wish(), None) for player in players[:4]]
    past = [AWAY_SECONDS + 1, players[0].player_id]
    for table in ("tickets", "players"):
        await scene.execute(
            f"update lobby.{table} set seen_at = seen_at - %s * interval '1 second' where player_id = %s",
            past,
        )
    await scene.lobby.request_match(players[4], wish(), None)
    assert (await scene.lobby.get_match(players[1], tickets[1].ticket_id)).status == "waiting"
    await scene.reaper.reap()
    assert (await scene.lobby.get_match(players[0], tickets[0].ticket_id)).status == "expired"
