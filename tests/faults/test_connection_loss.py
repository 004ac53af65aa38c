"""The engine's connection to the database is cut at every stage of an append: the client is told UNAVAILABLE,
and the same command again is done once, whether or not it was done before.
"""

import asyncio
from typing import Any

from baohuang.rpc.engine.v1 import engine_pb2 as pb
from tests.faults.ground import APPEND, Ground, ground
from tests.faults.hands import Hand, scripted_hands
from tests.faults.relay import Moment
from tests.faults.servers import Servers

WAS_DONE = {
    Moment.UNSENT: {False},
    Moment.HALF_SENT: {False},
    Moment.SENT: {False, True},
    Moment.HALF_ANSWERED: {True},
    Moment.ANSWERED: {True},
}


async def test_connection_cut_in_each_append_of_a_hand(
    servers: Servers, undisturbed: list[tuple[Any, ...]]
) -> None:
    """The hand of each preset meets the cut at another stage."""
    hands = scripted_hands()
    async with ground(servers, "cut") as place:
        await place.open_tables(hands)
        for moment, hand in zip(Moment, hands, strict=True):
            await cut_in_each_append(place, hand, moment)
        assert place.resent == 0
        await place.check(hands, undisturbed)


async def cut_in_each_append(place: Ground, hand: Hand, moment: Moment) -> None:
    relay = place.processes["engine"].relay
    for number in range(len(hand.commands)):
        if number:
            # The engine is to know the newest state: its next append is then no try on an older one.
            await place.stub.GetView(pb.GetViewRequest(game_id=hand.game_id))
        with relay.trap(APPEND, moment) as trap:
            attempt = asyncio.create_task(place.attempt(hand, number))
            await trap.wait_caught()
            await relay.cut()
            assert await place.refused(attempt) == "STORE_UNAVAILABLE", (moment, number)
        assert await place.send(hand, number) in WAS_DONE[moment], (moment, number)
