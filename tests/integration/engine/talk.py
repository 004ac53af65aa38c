"""One seat's stream as a test reads and writes it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import grpc.aio

from baohuang import Action
from baohuang.rpc.codec import decode_event, encode_action
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.events import Event
from services.kit.rpc import error_from_rpc
from tests.integration.engine.client import Client


class Talk:
    """Keeps the events that came by number; keep-alives are passed over unless wanted."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self.events: dict[int, Event] = {}

    async def send(self, **fields: Any) -> None:
        await self.call.write(pb.PlayRequest(**fields))

    async def act(self, command_id: str, action: str | Action, **fields: Any) -> None:
        parsed = Action.parse(action) if isinstance(action, str) else action
        await self.send(act={"command_id": command_id, "action": encode_action(parsed), **fields})

    async def next(self, *, keep_alive: bool = False) -> pb.PlayResponse:
        """The next message; raises the error in which the stream ends, or `StopAsyncIteration`."""
        while True:
            try:
                message = await asyncio.wait_for(self.call.read(), 20)
            except grpc.aio.AioRpcError as error:
                raise error_from_rpc(error) from error
            if message is grpc.aio.EOF:
                raise StopAsyncIteration
            kind = message.WhichOneof("response")
            if kind == "happened":
                # Each once and in order.
                assert not self.events or message.happened.version == max(self.events) + 1
                self.events[message.happened.version] = decode_event(message.happened.event)
            if kind != "keep_alive" or keep_alive:
                return message

    async def until(self, kind: str) -> Any:
        """The next message of this kind; others before it are only kept."""
        while True:
            message = await self.next()
            if message.WhichOneof("response") == kind:
                return getattr(message, kind)

    async def rest(self) -> list[str]:
        """The kinds of all messages to the end of the stream."""
        kinds = []
        while True:
            try:
                kinds.append(str((await self.next()).WhichOneof("response")))
            except StopAsyncIteration:
                return kinds

    @classmethod
    @asynccontextmanager
    async def joined(
        cls, client: Client, game_id: str, seat: int, after_version: int | None = None
    ) -> AsyncIterator[Self]:
        talk = cls(client.stub.Play())
        await talk.send(join={"game_id": game_id, "seat": seat, "after_version": after_version})
        try:
            yield talk
        finally:
            talk.call.cancel()
