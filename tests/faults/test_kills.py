"""kill -9 at every event of a hand of each preset: the log is the undisturbed one in the end, and every
projection what a rebuild from zero makes of it.

The hands of all presets go on side by side, so that each kill hits five games in the same moment.
"""

import asyncio
from typing import Any

import pytest

from tests.faults.ground import APPEND, FOLLOWERS, Ground, ground
from tests.faults.hands import Hand, scripted_hands, steps
from tests.faults.relay import Moment
from tests.faults.servers import Servers

KILL_MOMENTS = (Moment.UNSENT, Moment.ANSWERED)
# Each event is hit in one of two moments, which are taken in turns; the proof has it the other way round.
TURNS = (0, pytest.param(1, marks=pytest.mark.prove))


def sending(place: Ground, hands: list[Hand], number: int) -> list[asyncio.Task[bool]]:
    return [asyncio.create_task(place.send(hand, number)) for hand in hands]


@pytest.mark.parametrize("turn", TURNS)
async def test_kill_of_the_engine(turn: int, servers: Servers, undisturbed: list[tuple[Any, ...]]) -> None:
    hands = scripted_hands()
    async with ground(servers, "engine_killed") as place:
        await place.open_tables(hands)
        relay = place.processes["engine"].relay
        for number, awaited in steps(hands):
            with relay.trap(APPEND, KILL_MOMENTS[(number + turn) % 2]) as trap:
                commands = sending(place, awaited, number)
                await trap.wait_caught(len(awaited))
                place.kill("engine")
            place.start("engine")
            await asyncio.gather(*commands)
        assert place.resent >= sum(len(hand.commands) for hand in hands)
        await place.check(hands, undisturbed)


async def test_kill_of_the_engine_whose_append_comes_after_its_death(
    servers: Servers, undisturbed: list[tuple[Any, ...]]
) -> None:
    """The next engine asks for the same command while the dead one's still waits inside the server."""
    hands = scripted_hands()
    async with ground(servers, "engine_orphans") as place:
        await place.open_tables(hands)
        for number, awaited in steps(hands):
            async with place.locked(awaited) as locks:
                commands = sending(place, awaited, number)
                await locks.wait_queued(len(awaited))
                place.kill("engine")
                place.start("engine")
                await locks.wait_queued(2 * len(awaited))
            await asyncio.gather(*commands)
        await place.check(hands, undisturbed)


@pytest.mark.parametrize("turn", TURNS)
async def test_kill_of_the_followers(turn: int, servers: Servers, undisturbed: list[tuple[Any, ...]]) -> None:
    """In the transaction that applies the event: one follower before the commit and the other after it."""
    hands = scripted_hands()
    async with ground(servers, "followers_killed") as place:
        await place.open_tables(hands)
        relays = [place.processes[name].relay for name in FOLLOWERS]
        for number, awaited in steps(hands):
            await place.wait_followed()
            for relay in relays:
                relay.freeze()
            await asyncio.gather(*sending(place, awaited, number))
            moments = [KILL_MOMENTS[(number + turn + index) % 2] for index in range(2)]
            with relays[0].trap("COMMIT", moments[0]) as one, relays[1].trap("COMMIT", moments[1]) as other:
                for relay in relays:
                    relay.thaw()
                await asyncio.gather(one.wait_caught(), other.wait_caught())
                place.kill(*FOLLOWERS)
            place.start(*FOLLOWERS)
        await place.check(hands, undisturbed)


@pytest.mark.parametrize("turn", TURNS)
async def test_kill_of_postgres(turn: int, servers: Servers, undisturbed: list[tuple[Any, ...]]) -> None:
    """Some games' events stand before the insert, the others' have been stored and nobody was told."""
    hands = scripted_hands()
    async with ground(servers, "postgres_killed") as place:
        await place.open_tables(hands)
        relay = place.processes["engine"].relay
        for number, awaited in steps(hands):
            stored = [hand for index, hand in enumerate(awaited) if (number + turn + index) % 2]
            waiting = [hand for hand in awaited if hand not in stored]
            async with place.locked(waiting) as locks:
                commands = sending(place, waiting, number)
                await locks.wait_queued(len(waiting))
                with relay.trap(APPEND, Moment.ANSWERED) as trap:
                    commands += sending(place, stored, number)
                    await trap.wait_caught(len(stored))
                    log = await place.log()
                    assert await place.kill_postgres() == log, "it forgot commits, or made some up"
            await asyncio.gather(*commands)
        await place.check(hands, undisturbed)
