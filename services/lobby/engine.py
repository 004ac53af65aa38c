"""The engine, as the lobby calls it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import NamedTuple, Protocol, TypeVar

import grpc.aio

from baohuang import Action, Outcome
from baohuang.rpc.codec import (
    auto_play_reason,
    decode_event,
    decode_outcome,
    encode_action,
    encode_due,
    encode_rules,
    forfeit_reason,
)
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.engine.v1 import engine_pb2_grpc
from baohuang.rules.events import AutoPlayReason, Event, ForfeitReason
from services.kit.rpc import connect, error_from_rpc
from services.lobby.hands import HandToOpen

COMMAND_SECONDS = 5.0
"""How long a command may take; short absences of the engine are waited out in it."""

# A fault inside the engine says nothing about the hand.
_MAY_WORK_LATER = frozenset({"INTERNAL", "VERSION_CONFLICT"})


class EngineAway(Exception):
    """The engine could not answer now; the hand may be opened later."""


class EngineRefused(Exception):
    """The engine will never open this hand."""


class Applied(NamedTuple):
    """What a command did: the public version after it, and its events as the seat sees them."""

    version: int
    events: tuple[Event, ...]
    outcome: Outcome | None
    is_repeated: bool


class _Answer(Protocol):
    """An answer to a command."""

    @property
    def applied(self) -> pb.Applied: ...


Answer = TypeVar("Answer", bound=_Answer)


class Engine:
    """Opens games and does commands in them. Must be made inside the running event loop.

    Commands raise PlatformError with the engine's reason, or what the transport's failure comes to.
    """

    def __init__(self, target: str) -> None:
        self._channel = connect(target)
        self._stub = engine_pb2_grpc.EngineServiceStub(self._channel)

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()

    async def open_hand(self, hand: HandToOpen, deadline_seconds: float) -> None:
        """Create the game of a hand, or find it created already. Raises EngineAway, EngineRefused."""
        request = pb.CreateGameRequest(
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

    async def act(
        self, game_id: str, command_id: str, seat: int, action: Action, expected_version: int | None
    ) -> Applied:
        """Do a seat's action."""
        request = pb.ActRequest(
            game_id=game_id,
            command_id=command_id,
            seat=seat,
            action=encode_action(action),
            expected_version=expected_version,
        )
        return await _applied(self._stub.Act(request, timeout=COMMAND_SECONDS))

    async def auto_act(self, game_id: str, command_id: str, seat: int, expected_version: int) -> Applied:
        """Do what the server does for a seat on auto-play."""
        request = pb.AutoActRequest(
            game_id=game_id, command_id=command_id, seat=seat, expected_version=expected_version
        )
        return await _applied(self._stub.AutoAct(request, timeout=COMMAND_SECONDS))

    async def start_auto_play(
        self,
        game_id: str,
        command_id: str,
        seat: int,
        why: AutoPlayReason,
        expected_version: int | None = None,
    ) -> Applied:
        """Let the server play for a seat; on a timeout only if it is awaited still."""
        request = pb.StartAutoPlayRequest(
            game_id=game_id,
            command_id=command_id,
            seat=seat,
            why=auto_play_reason.encode(why),
            expected_version=expected_version,
        )
        return await _applied(self._stub.StartAutoPlay(request, timeout=COMMAND_SECONDS))

    async def stop_auto_play(self, game_id: str, command_id: str, seat: int) -> Applied:
        """Give a seat back to its player."""
        request = pb.StopAutoPlayRequest(game_id=game_id, command_id=command_id, seat=seat)
        return await _applied(self._stub.StopAutoPlay(request, timeout=COMMAND_SECONDS))

    async def forfeit(self, game_id: str, command_id: str, seat: int, why: ForfeitReason) -> Applied:
        """Note that a seat's player is gone for good."""
        request = pb.ForfeitRequest(
            game_id=game_id, command_id=command_id, seat=seat, why=forfeit_reason.encode(why)
        )
        return await _applied(self._stub.Forfeit(request, timeout=COMMAND_SECONDS))


async def _applied(call: Awaitable[Answer]) -> Applied:
    try:
        applied = (await call).applied
    except grpc.aio.AioRpcError as raised:
        raise error_from_rpc(raised) from raised
    return Applied(
        applied.version,
        tuple([decode_event(event) for event in applied.events]),
        decode_outcome(applied.outcome) if applied.HasField("outcome") else None,
        applied.repeated_command,
    )
