"""A relay between a client and Postgres that can stop at any point of a statement: before it reaches the
server, halfway, or when the server has done it and the client does not know yet.

It reads as much of the protocol as it needs to see statements begin and end; connections are neither
encrypted nor compressed (`Relay.dsn`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from enum import StrEnum
from typing import Self
from urllib.parse import urlsplit, urlunsplit

READY = ord("Z")


class Moment(StrEnum):
    """Where a statement is stopped."""

    UNSENT = "nothing of it was sent"
    HALF_SENT = "half of it was sent"
    SENT = "all of it was sent, its answer is lost"
    HALF_ANSWERED = "it was done, and half of the answer received"
    ANSWERED = "it was done, and its answer lost"


class Trap:
    """Stops the statements that contain a text at a moment, each once, until it is opened."""

    def __init__(self, text: bytes, moment: Moment) -> None:
        self.text = text
        self.moment = moment
        self._caught = 0
        self._changed = asyncio.Condition()
        self._opened = asyncio.Event()

    async def wait_caught(self, count: int = 1) -> None:
        """Until that many statements stand still."""
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: self._caught >= count)

    async def stop_here(self) -> None:
        """Called by a connection that stands at the moment; comes back when it may go on."""
        async with self._changed:
            self._caught += 1
            self._changed.notify_all()
        await self.wait_open()

    async def wait_open(self) -> None:
        await self._opened.wait()

    def open(self) -> None:
        self._opened.set()


class Relay:
    """Listens on a port of its own for one client process. Used as an asynchronous context manager."""

    def __init__(self, server_port: int) -> None:
        self.server_port = server_port
        self._trap: Trap | None = None
        self._door = asyncio.Event()
        self._door.set()
        self._flow = asyncio.Event()
        self._flow.set()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self.cut()

    def dsn(self, dsn: str) -> str:
        """The address of a database by way of this relay."""
        parts = urlsplit(dsn)
        login = parts.netloc.rpartition("@")[0]
        return urlunsplit(
            parts._replace(
                netloc=f"{login}@127.0.0.1:{self.port}", query="sslmode=disable&gssencmode=disable"
            )
        )

    @contextlib.contextmanager
    def trap(self, text: str, moment: Moment) -> Iterator[Trap]:
        """Stops statements that contain `text` until the end of the block."""
        trap = self._trap = Trap(text.encode(), moment)
        try:
            yield trap
        finally:
            self._trap = None
            trap.open()

    @contextlib.contextmanager
    def closed_door(self) -> Iterator[None]:
        """New connections wait at the door until the end of the block, instead of being refused."""
        self._door.clear()
        try:
            yield
        finally:
            self._door.set()

    def freeze(self) -> None:
        """Nothing more reaches the server until `thaw`."""
        self._flow.clear()

    def thaw(self) -> None:
        self._flow.set()

    async def cut(self) -> None:
        """Ends all connections at once."""
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            # A cancelled handler is not an error of the server's.
            with contextlib.suppress(asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
                await self._door.wait()
                upstream = await asyncio.open_connection("127.0.0.1", self.server_port)
                try:
                    await _Wire(self, reader, writer, *upstream).carry()
                finally:
                    _abort(upstream[1])
        finally:
            _abort(writer)
            self._connections.discard(task)

    def claim(self, text: bytes) -> Trap | None:
        """The trap that this statement falls into."""
        return self._trap if self._trap is not None and self._trap.text in text else None

    async def may_flow(self) -> None:
        await self._flow.wait()


class _Wire:
    """One connection: messages of the client, read one by one, and the server's, counted by answers."""

    def __init__(
        self,
        relay: Relay,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        self._relay = relay
        self._client = client
        self._to_client = to_client
        self._server = server
        self._to_server = to_server
        self._requests: asyncio.Queue[bytes] = asyncio.Queue()
        self._names: dict[bytes, bytes] = {}
        self._answer_trap: Trap | None = None

    async def carry(self) -> None:
        """Until either side ends."""
        tasks = [
            asyncio.create_task(part)
            for part in (self._read_client(), self._carry_requests(), self._carry_answers())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read_client(self) -> None:
        """Reads ahead, so that the end of a client is seen while one of its messages stands still."""
        # The first message of a connection has no type.
        head = await self._client.readexactly(4)
        await self._send(head + await self._client.readexactly(int.from_bytes(head) - 4))
        async for message in _messages(self._client):
            self._requests.put_nowait(message)

    async def _carry_requests(self) -> None:
        trap: Trap | None = None  # that the statement which is being sent has fallen into
        while True:
            message = await self._requests.get()
            await self._relay.may_flow()
            if trap is None:
                trap = self._relay.claim(self._text(message))
                if trap is not None:
                    await self._send_trapped(message, trap)
                    continue
            await self._send(message)
            if message[:1] in (b"S", b"Q"):
                if trap is not None and trap.moment is Moment.SENT:
                    await trap.stop_here()
                trap = None

    async def _send_trapped(self, message: bytes, trap: Trap) -> None:
        half = len(message) // 2 if trap.moment is Moment.HALF_SENT else 0
        if trap.moment in (Moment.UNSENT, Moment.HALF_SENT):
            await self._send(message[:half])
            await trap.stop_here()
            await self._send(message[half:])
        else:
            self._answer_trap = trap
            await self._send(message)

    async def _carry_answers(self) -> None:
        held = b""
        async for message in _messages(self._server):
            trap, held = self._answer_trap, held + message
            if trap is not None:
                if message[0] != READY:
                    continue
                half = len(held) // 2 if trap.moment is Moment.HALF_ANSWERED else 0
                await self._answer(held[:half])
                held = held[half:]
                await (trap.wait_open() if trap.moment is Moment.SENT else trap.stop_here())
                self._answer_trap = None
            await self._answer(held)
            held = b""

    def _text(self, message: bytes) -> bytes:
        """The statement that a message has carried out; b"" for messages that only belong to one."""
        kind, body = message[:1], message[5:]
        if kind == b"Q":
            return body
        if kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self._names[name] = text
        if kind == b"B":
            return self._names.get(body.split(b"\0", 2)[1], b"")
        return b""

    async def _answer(self, data: bytes) -> None:
        self._to_client.write(data)
        await self._to_client.drain()

    async def _send(self, data: bytes) -> None:
        self._to_server.write(data)
        await self._to_server.drain()


async def _messages(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Type, length and body of each message, until the end."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        while True:
            head = await reader.readexactly(5)
            yield head + await reader.readexactly(int.from_bytes(head[1:]) - 4)


def _abort(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
