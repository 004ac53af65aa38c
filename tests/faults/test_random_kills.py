"""kill -9 at random moments while whole hands are played: a thousand times in `make prove`."""

import asyncio
import random
import signal

import pytest

from tests.faults.ground import FOLLOWERS, Ground, ground
from tests.faults.hands import PRESETS, Hand, dealt_hand
from tests.faults.servers import KILLS, Servers

VICTIMS = ("engine", *FOLLOWERS, "postgres")
KILLS_IN_A_ROUND = 50
LONGEST_PAUSE_SECONDS = 0.3


class Player:
    """Plays hands of one preset, one after the other, until the killing is over."""

    def __init__(self, preset: str, place: Ground, seed: int) -> None:
        self.hands: list[Hand] = []
        self.is_done = False
        self._preset = preset
        self._place = place
        self._seed = seed

    async def play(self, is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            hand = dealt_hand(self._preset, self._seed + len(self.hands))
            self.hands.append(hand)
            await self._place.open_tables([hand])
            for number in range(len(hand.commands)):
                await self._place.send(hand, number)
        self.is_done = True


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(20))
async def test_random_kills(seed: int, servers: Servers) -> None:
    chance = random.Random(seed)
    async with ground(servers, "random_kills") as place:
        players = [Player(preset, place, 1000 * seed) for preset in PRESETS]
        is_over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for player in players:
                group.create_task(player.play(is_over))
            for _ in range(KILLS_IN_A_ROUND):
                await asyncio.sleep(chance.random() * LONGEST_PAUSE_SECONDS)
                place.restart_ended()
                victim = chance.choice(VICTIMS)
                if victim == "postgres":
                    await place.kill_postgres()
                else:
                    if place.end(victim) == -signal.SIGKILL:
                        KILLS[victim] += 1
                    place.start(victim)
            is_over.set()
            while any(not player.is_done for player in players):
                place.restart_ended()
                await asyncio.sleep(LONGEST_PAUSE_SECONDS)
        place.restart_ended()
        await place.check([hand for player in players for hand in player.hands], None)
