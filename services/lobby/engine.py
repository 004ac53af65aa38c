"""The engine, as the lobby calls it."""

from __future__ import annotations

import grpc.aio

from baohuang.rpc.codec.rules import encode_due, encode_rules
from baohuang.rpc.engine.v1 import engine_pb2, engine_pb2_grpc
from services.kit.rpc import connect, error_from_rpc
from services.lobby.tables import HandToOpen

# A fault inside the engine says nothing about the hand.
_MAY_WORK_LATER = frozenset({"INTERNAL", "VERSION_CONFLICT"})


class EngineAway(Exception):
    """The engine could not answer now; the hand may be opened later."""


class EngineRefused(Exception):
    """The engine will never open this hand."""


class Engine:
    """Opens games. Must be made inside the running event loop."""

    def __init__(self, target: str) -> None:
        self._channel = connect(target)
        self._stub = engine_pb2_grpc.EngineServiceStub(self._channel)

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()

    async def open_hand(self, hand: HandToOpen, deadline_seconds: float) -> None:
        """Create the game of a hand, or find it created already. Raises EngineAway, EngineRefused."""
        request = engine_pb2.CreateGameRequest(
            game_id=hand.game_id,
            command_id=hand.command_id,
            rules=encode_rules(hand.rules),
            first_drawer=hand.first_drawer,
            dues=[encode_due(due) for due in hand.dues],
        )
        try:
            await self._stub.CreateGame(request, timeout=deadline_seconds)
        except grpc.aio.AioRpcError as raised:
            error = error_from_rpc(raised)
            if error.reason == "COMMAND_REUSED":
                # Command and game are ours: a release that put the same request in other bytes opened it.
                return
            if error.is_retryable or error.reason in _MAY_WORK_LATER:
                raise EngineAway(f"game {hand.game_id}: {error}") from raised
            raise EngineRefused(f"game {hand.game_id}: {error}") from raised
