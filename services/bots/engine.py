"""The engine, as the bots' workers call it: in blocking calls, one after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

import grpc
from google.protobuf.message import Message

from baohuang import Action, View
from baohuang.rpc.codec.values import decode_action, encode_action
from baohuang.rpc.codec.views import decode_view
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from services.kit.rpc import CHANNEL_OPTIONS, FailedCall, error_from_rpc

# A short absence of the engine is waited out in a call; a longer one is left to whoever sends the turn again.
_DEADLINE_SECONDS: Final = 5.0

_SERVICE: Final = f"/{pb.DESCRIPTOR.services_by_name['EngineService'].full_name}/"

Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)


class Engine:
    """A channel to the engine. Must be made after the process has forked. Methods raise PlatformError."""

    def __init__(self, target: str) -> None:
        self._channel = grpc.insecure_channel(target, options=CHANNEL_OPTIONS)
        self._get_view = self._method("GetView", pb.GetViewRequest, pb.GetViewResponse)
        self._get_legal_actions = self._method(
            "GetLegalActions", pb.GetLegalActionsRequest, pb.GetLegalActionsResponse
        )
        self._act = self._method("Act", pb.ActRequest, pb.ActResponse)
        self._auto_act = self._method("AutoAct", pb.AutoActRequest, pb.AutoActResponse)

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def view(self, game_id: str, seat: int) -> View:
        """What a seat may know now."""
        return decode_view(self._get_view(pb.GetViewRequest(game_id=game_id, viewer=seat)).view)

    def legal_actions(self, game_id: str, seat: int) -> tuple[int, list[Action]]:
        """The public version, and what the seat may do; empty when nothing is awaited from it."""
        answer = self._get_legal_actions(pb.GetLegalActionsRequest(game_id=game_id, seat=seat))
        return answer.version, [decode_action(action) for action in answer.actions]

    def act(self, game_id: str, command_id: str, version: int, seat: int, action: Action) -> bool:
        """Do an action; whether this very command had been done before."""
        request = pb.ActRequest(
            game_id=game_id,
            command_id=command_id,
            expected_version=version,
            seat=seat,
            action=encode_action(action),
        )
        return self._act(request).applied.repeated_command

    def auto_act(self, game_id: str, command_id: str, version: int, seat: int) -> bool:
        """Have the server act for a seat on auto-play; whether this very command had been done before."""
        request = pb.AutoActRequest(
            game_id=game_id, command_id=command_id, expected_version=version, seat=seat
        )
        return self._auto_act(request).applied.repeated_command

    def _method(self, name: str, request: type[Request], answer: type[Answer]) -> Callable[[Request], Answer]:
        """A method of the service as a blocking call; the generated stub is for asynchronous ones."""
        method = self._channel.unary_unary(
            _SERVICE + name,
            request_serializer=request.SerializeToString,
            response_deserializer=answer.FromString,
        )

        def call(message: Request) -> Answer:
            try:
                return method(message, timeout=_DEADLINE_SECONDS)
            except grpc.RpcError as error:
                raise error_from_rpc(cast("FailedCall", error)) from error

        return call
