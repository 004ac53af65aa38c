"""Word of new commits over Valkey, sent after they are durable. A lost word costs a reader one poll, nothing
else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterator, Sequence
from types import TracebackType
from typing import Self

import redis.asyncio
from redis.exceptions import RedisError

from services.eventstore.commit import BUCKETS

CHANNEL = "baohuang:commits"

_PAUSE_SECONDS = 0.5
_BUCKET_OF_WORD = {str(bucket).encode(): bucket for bucket in range(BUCKETS)}

_log = logging.getLogger(__name__)


class WakeupSender:
    """A CommitListener that publishes the buckets of new commits. Used as an asynchronous context manager.

    Never makes an append wait: words that come while one is being sent are sent together after it, and what
    cannot be sent is dropped.
    """

    def __init__(self, url: str) -> None:
        self._client = redis.asyncio.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2)
        self._waiting: set[int] = set()
        self._has_work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._send_all())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _end(self._task)
        await self._client.aclose()

    def committed(self, buckets: Sequence[int]) -> None:
        self._waiting.update(buckets)
        self._has_work.set()

    async def _send_all(self) -> None:
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            words = ",".join(str(bucket) for bucket in sorted(self._waiting))
            self._waiting.clear()
            try:
                await self._client.publish(CHANNEL, words)
            except RedisError as error:
                _log.warning("no word of new commits was sent, readers will poll: %s", error)
                await asyncio.sleep(_PAUSE_SECONDS)


class WakeupListener:
    """Sets the events of those who wait for commits. Used as an asynchronous context manager, one for a
    process.
    """

    def __init__(self, url: str) -> None:
        self._client = redis.asyncio.Redis.from_url(url, socket_connect_timeout=2)
        self._waiters: dict[asyncio.Event, frozenset[int]] = {}
        self._task: asyncio.Task[None] | None = None
        self.is_listening = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _end(self._task)
        await self._client.aclose()

    @contextlib.contextmanager
    def waking(self, event: asyncio.Event, buckets: Collection[int] = range(BUCKETS)) -> Iterator[None]:
        """Set `event` whenever one of these buckets has a new commit, or may have had one unheard."""
        self._waiters[event] = frozenset(buckets)
        try:
            yield
        finally:
            del self._waiters[event]

    async def _listen(self) -> None:
        while True:
            try:
                async with self._client.pubsub(ignore_subscribe_messages=True) as channel:
                    await channel.subscribe(CHANNEL)
                    self.is_listening.set()
                    # Words may have been missed before this moment.
                    self._wake(frozenset(range(BUCKETS)))
                    while True:
                        message = await channel.get_message(timeout=None)
                        if message is not None:
                            self._wake(_parse(message["data"]))
            except RedisError as error:
                _log.warning("no word of new commits is heard, readers poll: %s", error)
            self.is_listening.clear()
            await asyncio.sleep(_PAUSE_SECONDS)

    def _wake(self, buckets: frozenset[int]) -> None:
        for event, wanted in self._waiters.items():
            if not wanted.isdisjoint(buckets):
                event.set()


def _parse(words: bytes) -> frozenset[int]:
    """The buckets that a message names; others may publish what they like."""
    return frozenset([_BUCKET_OF_WORD[word] for word in words.split(b",") if word in _BUCKET_OF_WORD])


async def _end(task: asyncio.Task[None] | None) -> None:
    if task is None:
        return
    # The client swallows a cancellation that comes while it waits for an answer that has just arrived.
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.05)
    with contextlib.suppress(asyncio.CancelledError):
        await task
