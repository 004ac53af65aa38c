"""Appends commits at random moments, and prints the name of each with the moment of its acknowledgement.

Usage: python -m benchmarks.appender DSN VALKEY_URL APPENDS_PER_SECOND SECONDS
"""

import asyncio
import random
import sys
import time

import uvloop

from services.eventstore import EventStore, make_pool
from services.eventstore.wakeups import WakeupSender

STREAMS = 200


async def run(dsn: str, valkey: str, rate: float, seconds: float) -> dict[str, float]:
    """The moments, on the clock that all processes of the machine share, by stream and version."""
    acknowledged: dict[str, float] = {}
    versions = [0] * STREAMS
    turns = [asyncio.Lock() for _ in range(STREAMS)]
    chance = random.Random(1)
    async with make_pool(dsn) as pool, WakeupSender(valkey) as sender:
        store = EventStore(pool, sender)

        async def append(number: int) -> None:
            async with turns[number]:
                version = versions[number] = versions[number] + 1
                await store.append(
                    f"s{number}",
                    command_id=str(version),
                    fingerprint=bytes(32),
                    expected_version=version - 1,
                    payload=b"payload!",
                    event_count=1,
                )
                acknowledged[f"s{number}/{version}"] = time.monotonic()

        due = time.monotonic()
        end = due + seconds
        async with asyncio.TaskGroup() as group:
            while due < end:
                await asyncio.sleep(max(0, due - time.monotonic()))
                group.create_task(append(chance.randrange(STREAMS)))
                due += chance.expovariate(rate)
    return acknowledged


if __name__ == "__main__":
    dsn, valkey, rate, seconds = sys.argv[1:]
    for name, moment in uvloop.run(run(dsn, valkey, float(rate), float(seconds))).items():
        print(name, moment)
