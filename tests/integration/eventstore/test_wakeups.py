"""Word of new commits travels over Valkey; readers do without when it is away."""

import asyncio
from pathlib import Path

import redis.asyncio

from services.eventstore import Commit, EventStore, Pool, bucket_of
from services.eventstore.pool import Connection
from services.eventstore.subscription import Follower, Subscription
from services.eventstore.wakeups import CHANNEL, WakeupListener, WakeupSender
from services.local.valkey import LocalValkey
from tests.integration.eventstore.scene import append


async def test_commit_wakes_those_who_wait_for_its_bucket(pool: Pool, valkey: LocalValkey) -> None:
    mine, other = asyncio.Event(), asyncio.Event()
    async with WakeupSender(valkey.url) as sender, WakeupListener(valkey.url) as listener:
        await listener.is_listening.wait()
        bucket = bucket_of("game")
        with listener.waking(mine, [bucket]), listener.waking(other, [(bucket + 1) % 64]):
            await append(EventStore(pool, sender), "game", 0)
            await mine.wait()
            assert not other.is_set()
            sender.committed([(bucket + 1) % 64])
            await other.wait()


async def test_listener_that_was_cut_off_wakes_everybody(valkey: LocalValkey) -> None:
    """Words may have been missed, so all look once."""
    event = asyncio.Event()
    async with WakeupListener(valkey.url) as listener:
        with listener.waking(event):
            await event.wait()
            await listener.is_listening.wait()
            event.clear()
            await listener._client.client_kill_filter(_type="pubsub", skipme=False)
            await event.wait()


async def test_words_that_are_none_of_ours_are_passed_over(valkey: LocalValkey) -> None:
    event = asyncio.Event()
    async with WakeupListener(valkey.url) as listener, redis.asyncio.Redis.from_url(valkey.url) as stranger:
        await listener.is_listening.wait()
        with listener.waking(event, [7]):
            for words in (
                b"\xff\xfe",
                "9" * 5_000,
                "-7",
                "1e1",
                "64",
                "７",
                "",
                "," * 9_999,
                "x" * (1 << 20),
            ):
                await stranger.publish(CHANNEL, words)
            await stranger.publish(CHANNEL, "6,not a number,8")
            await stranger.publish(CHANNEL, "9,7,11")
            await event.wait()
            assert listener.is_listening.is_set()


async def test_followers_do_without_valkey(pool: Pool, server_folder: Path) -> None:
    server = LocalValkey(server_folder / "valkey-to-kill")
    server.start()
    applied: asyncio.Queue[str] = asyncio.Queue()

    async def remember(connection: Connection, commit: Commit) -> None:
        applied.put_nowait(commit.stream)

    async with WakeupSender(server.url) as sender, WakeupListener(server.url) as listener:
        store = EventStore(pool, sender)
        follower = Follower(pool, Subscription("reader", remember), listener)
        following = asyncio.create_task(follower.run())
        await append(store, "with", 0)
        assert await applied.get() == "with"
        server.kill()
        await append(store, "without", 0)
        assert await applied.get() == "without"
        server.start()
        await append(store, "again", 0)
        assert await applied.get() == "again"
        follower.stop()
        await following
    server.stop()


async def test_a_sender_can_be_stopped_at_any_moment(valkey: LocalValkey) -> None:
    for moments in range(40):
        async with WakeupSender(valkey.url) as sender:
            sender.committed([1])
            await asyncio.sleep(0.001)
            sender.committed([2])
            for _ in range(moments % 12):
                await asyncio.sleep(0)
