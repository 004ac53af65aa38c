"""The engine's connection to the database is cut at every stage of an append: the client is told UNAVAILABLE,
and the same command again is done once, whether or not it was done before.
"""

import asyncio
from typing import Any

import pytest

from baohuang.rpc.engine.v1 import engine_pb2 as pb
from tests.faults.ground import APPEND, ground
from tests.faults.hands import PRESETS, scripted_hands
from tests.faults.relay import Moment
from tests.faults.servers import Servers

WAS_DONE = {
    Moment.UNSENT: {False},
    Moment.HALF_SENT: {False},
    Moment.SENT: {False, True},
    Moment.HALF_ANSWERED: {True},
    Moment.ANSWERED: {True},
}


@pytest.mark.parametrize(("moment", "preset"), list(zip(Moment, PRESETS, strict=True)))
async def test_connection_cut_in_each_append_of_a_hand(
    moment: Moment, preset: str, servers: Servers, undisturbed: list[tuple[Any, ...]]
) -> None:
    (hand,) = [hand for hand in scripted_hands() if hand.game_id == preset]
    async with ground(servers, "cut") as place:
        await place.open_tables([hand])
        relay = place.processes["engine"].relay
        for number in range(len(hand.commands)):
            if number:
                # The engine is to know the newest state: its next append is then no try on an older one.
                await place.stub.GetView(pb.GetViewRequest(game_id=hand.game_id))
            with relay.trap(APPEND, moment) as trap:
                attempt = asyncio.create_task(place.attempt(hand, number))
                await trap.wait_caught()
                await relay.cut()
                assert await place.refused(attempt) == "STORE_UNAVAILABLE"
            assert await place.send(hand, number) in WAS_DONE[moment]
        assert place.resent == 0
        await place.check([hand], undisturbed)
