"""The stream of events as an ASGI answer: it ends with its reader, its source, or its patience."""

import asyncio
import json

import pytest

from services.kit.errors import PlatformError
from services.lobby.rest.sse import EventStream, sse
from services.lobby.streams import Registry


class Wire:
    """A connection: what was sent, and when the reader goes."""

    def __init__(self, reads_after=None):
        self.sent = []
        self.gone = asyncio.Event()
        self.has_chunk = asyncio.Event()
        self.is_stuck = asyncio.Event()
        self._reads_after = reads_after

    async def send(self, message):
        if self._reads_after is not None and len(self.sent) >= self._reads_after:
            self.is_stuck.set()
            await asyncio.Event().wait()  # his buffers are full, and he does not read
        self.sent.append(message)
        if b"one" in message["body"]:
            self.has_chunk.set()

    async def receive(self):
        await self.gone.wait()
        return {"type": "http.disconnect"}

    @property
    def text(self):
        return b"".join(message["body"] for message in self.sent).decode()


class Source:
    """Chunks, and whether they were let go."""

    def __init__(self, *chunks, then=None):
        self.chunks, self.then, self.is_closed = chunks, then, False

    async def __call__(self):
        try:
            for chunk in self.chunks:
                yield chunk
            if self.then is not None:
                await self.then()
        finally:
            self.is_closed = True


async def for_ever():
    await asyncio.Event().wait()


async def test_an_event_is_one_line_of_json():
    text = sse("event", {"a": "x\ny", "b": [1]}, 7).decode()
    assert text == 'id: 7\nevent: event\ndata: {"a":"x\\ny","b":[1]}\n\n'


async def test_a_stream_that_ends_ends_the_answer():
    wire, source = Wire(), Source(b"one", b"two")
    await EventStream(source(), Registry()).send_body(wire.send, wire.receive)
    assert wire.text.endswith("onetwo")
    assert wire.sent[-1]["more_body"] is False
    assert source.is_closed


async def test_a_reader_who_goes_ends_the_stream():
    wire, source = Wire(), Source(b"one", then=for_ever)
    serving = asyncio.create_task(EventStream(source(), Registry()).send_body(wire.send, wire.receive))
    await wire.has_chunk.wait()
    wire.gone.set()
    await serving
    assert source.is_closed


async def test_a_reader_who_does_not_read_is_cut_off():
    wire, source = Wire(reads_after=2), Source(b"one", b"two", b"three")
    registry = Registry(slow_reader_seconds=0.0)
    serving = asyncio.create_task(EventStream(source(), registry).send_body(wire.send, wire.receive))
    await wire.is_stuck.wait()
    registry.tick()
    await serving
    assert wire.text.endswith("one")
    assert source.is_closed


@pytest.mark.parametrize(
    ("error", "reason", "status"),
    [
        (PlatformError("READER_TOO_SLOW", "slow"), "READER_TOO_SLOW", 503),
        (KeyError("secret"), "INTERNAL", 500),
    ],
)
async def test_what_goes_wrong_is_the_last_event(error, reason, status):
    async def fail():
        raise error

    wire, source = Wire(), Source(b"one", then=fail)
    await EventStream(source(), Registry()).send_body(wire.send, wire.receive)
    last = wire.sent[-2]["body"].decode()
    assert last.startswith("event: error\n")
    problem = json.loads(last.partition("data: ")[2])
    assert (problem["reason"], problem["status"]) == (reason, status)
    assert "secret" not in wire.text


async def test_cancelling_the_server_is_no_end_of_the_stream():
    wire, source = Wire(), Source(b"one", then=for_ever)
    serving = asyncio.create_task(EventStream(source(), Registry()).send_body(wire.send, wire.receive))
    await wire.has_chunk.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert source.is_closed
