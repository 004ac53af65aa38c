"""Somebody's bot as a gRPC service (protos/baohuang/rpc/bots), called for many games at once.

It blocks, as the programs do that play tournaments; its package comes with `pip install "baohuang[rpc]"`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar, cast

import grpc
from google.protobuf.message import DecodeError, Message

from baohuang.bots.choice import Candidate, Choice, checked_choice
from baohuang.bots.hosts.direct import late
from baohuang.bots.hosts.host import (
    MOST_GAMES,
    MOST_NAME,
    MOST_VERSION,
    Answer,
    Decision,
    EndedGame,
    Fault,
    FaultKind,
    NewGame,
    Started,
    Times,
    fault,
    printable,
)
from baohuang.rpc.bots.v1 import bots_pb2 as pb
from baohuang.rpc.codec import (
    CodecError,
    decode_action,
    encode_action,
    encode_outcome,
    encode_rules,
    encode_view,
)

Item = TypeVar("Item")

MOST_ANSWER_BYTES: Final = 2 * 1024 * 1024
"""Of one message from a service: 256 choices with long notes have half of it."""
GRACE_SECONDS: Final = 0.5
"""What the way there and back may take beside the time that the bot has."""
_END_SECONDS: Final = 1.0

_KIND_OF_CODE: Final = {
    grpc.StatusCode.DEADLINE_EXCEEDED: FaultKind.LATE,
    grpc.StatusCode.RESOURCE_EXHAUSTED: FaultKind.OVERSIZED,
    grpc.StatusCode.UNAVAILABLE: FaultKind.UNREACHABLE,
    grpc.StatusCode.UNIMPLEMENTED: FaultKind.UNREACHABLE,
    grpc.StatusCode.UNAUTHENTICATED: FaultKind.UNREACHABLE,
    grpc.StatusCode.PERMISSION_DENIED: FaultKind.UNREACHABLE,
    grpc.StatusCode.CANCELLED: FaultKind.UNREACHABLE,
}
"""What a failed call is recorded as; whatever else a service ends a call with, it crashed."""


class _Failed(Exception):
    """A call that came to nothing."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class ServiceHost:
    """Calls the service at `grpc://host:port`, or `grpcs://` for TLS. Make it after forks."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self._times = Times()
        self._games: set[str] = set()
        self._channel = _channel(spec)
        self._start = self._method("Start")
        self._choose = self._method("Choose")
        self._end = self._method("End")

    def start(self, games: Sequence[NewGame], times: Times) -> Started:
        """Tell the service of games, 256 at a time, once it can be reached."""
        self._times = times
        name, version = self.spec, ""
        faults: dict[str, Fault] = {}
        for some in _chunks(games, MOST_GAMES):
            request = pb.StartRequest(
                games=[_new_game(game) for game in some],
                start_time_ms=round(times.start_seconds * 1000),
                move_time_ms=round(times.move_seconds * 1000),
            )
            try:
                answer = pb.StartResponse.FromString(
                    _called(self._start, request, times.start_seconds + GRACE_SECONDS, waits=True)
                )
            except (_Failed, DecodeError) as error:
                why = _fault_of(error, times.start_seconds, is_start=True)
                faults |= {game.game_id: why for game in some}
            else:
                name = printable(answer.name, MOST_NAME) or self.spec
                version = printable(answer.version, MOST_VERSION)
        self._games |= {game.game_id for game in games} - faults.keys()
        return Started(name, version, faults)

    def choose(self, decisions: Sequence[Decision]) -> dict[str, Answer]:
        """All decisions in calls of 256 at most, each call within the time of as many moves."""
        answers = {
            decision.game_id: Answer(fault=fault(FaultKind.CRASHED, "it did not start in this game"))
            for decision in decisions
            if decision.game_id not in self._games
        }
        waiting = [decision for decision in decisions if decision.game_id in self._games]
        for some in _chunks(waiting, MOST_GAMES):
            answers |= self._ask(some)
        return answers

    def end(self, games: Sequence[EndedGame]) -> None:
        """Tell the service that games are over, if it listens."""
        for some in _chunks(games, MOST_GAMES):
            request = pb.EndRequest(
                games=[
                    pb.EndRequest.Game(
                        game_id=game.game_id,
                        outcome=None if game.outcome is None else encode_outcome(game.outcome),
                    )
                    for game in some
                ]
            )
            with contextlib.suppress(_Failed):  # nothing depends on it
                _called(self._end, request, _END_SECONDS)
        self._games -= {game.game_id for game in games}

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def _ask(self, decisions: Sequence[Decision]) -> dict[str, Answer]:
        seconds = self._times.move_seconds * len(decisions)
        request = pb.ChooseRequest(
            decisions=[
                pb.ChooseRequest.Decision(
                    game_id=decision.game_id,
                    view=encode_view(decision.view),
                    legal_actions=[encode_action(action) for action in decision.legal_actions],
                )
                for decision in decisions
            ],
            move_time_ms=round(self._times.move_seconds * 1000),
        )
        asked = time.monotonic()
        try:
            answer = pb.ChooseResponse.FromString(_called(self._choose, request, seconds + GRACE_SECONDS))
        except (_Failed, DecodeError) as error:
            why = _fault_of(error, seconds)
            return {decision.game_id: Answer(fault=why) for decision in decisions}
        took = time.monotonic() - asked if len(decisions) == 1 else None
        # What it says of other games, or a second time, counts for nothing.
        first: dict[str, pb.ChooseResponse.Choice] = {}
        for choice in answer.choices:
            first.setdefault(choice.game_id, choice)
        missing = fault(FaultKind.LATE, "the answer left this game out")
        return {
            decision.game_id: _answer(first[decision.game_id], took)
            if decision.game_id in first
            else Answer(fault=missing, seconds=took)
            for decision in decisions
        }

    def _method(self, name: str) -> grpc.UnaryUnaryMultiCallable[Message, bytes]:
        """A method whose answer comes as bytes: one that is no message is the service's fault, not gRPC's."""
        service = pb.DESCRIPTOR.services_by_name["BotService"].full_name
        return self._channel.unary_unary(
            f"/{service}/{name}", request_serializer=_serialized, response_deserializer=bytes
        )


def _channel(spec: str) -> grpc.Channel:
    scheme, _, target = spec.partition("://")
    options = (
        ("grpc.max_receive_message_length", MOST_ANSWER_BYTES),
        # A service that has just been started again is called soon.
        ("grpc.max_reconnect_backoff_ms", 1_000),
    )
    if scheme == "grpcs":
        return grpc.secure_channel(target, grpc.ssl_channel_credentials(), options)
    return grpc.insecure_channel(target, options)


def _serialized(message: Message) -> bytes:
    return message.SerializeToString()


def _called(
    method: grpc.UnaryUnaryMultiCallable[Message, bytes],
    request: Message,
    seconds: float,
    *,
    waits: bool = False,
) -> bytes:
    """Raises _Failed."""
    try:
        return method(request, timeout=seconds, wait_for_ready=waits)
    except grpc.RpcError as raised:
        error = cast("grpc.Call", raised)
        code = error.code()
        raise _Failed(
            _KIND_OF_CODE.get(code, FaultKind.CRASHED), f"{code.name}: {error.details() or ''}"
        ) from raised


def _fault_of(error: _Failed | DecodeError, seconds: float, *, is_start: bool = False) -> Fault:
    if isinstance(error, DecodeError):
        return fault(FaultKind.MALFORMED, "it answered what is no message", is_start=is_start)
    if error.kind is FaultKind.LATE:
        return late(seconds, is_start=is_start)
    return fault(error.kind, error.message, is_start=is_start)


def _new_game(game: NewGame) -> pb.StartRequest.Game:
    return pb.StartRequest.Game(
        game_id=game.game_id, seat=game.seat, rules=encode_rules(game.rules), seed=game.seed
    )


def _answer(message: pb.ChooseResponse.Choice, seconds: float | None) -> Answer:
    if message.failure:
        return Answer(fault=fault(FaultKind.CRASHED, message.failure), seconds=seconds)
    try:
        action = decode_action(message.action)
    except CodecError as error:
        return Answer(fault=fault(FaultKind.MALFORMED, error.message), seconds=seconds)
    candidates, dropped = [], ""
    for each in message.candidates:
        try:
            candidates.append(Candidate(decode_action(each.action), each.value))
        except CodecError:
            dropped = "a candidate that is no action"
    checked = checked_choice(Choice(action, message.note, tuple(candidates)))
    return Answer(checked.choice, dropped=dropped or checked.dropped, seconds=seconds)


def _chunks(items: Sequence[Item], size: int) -> Iterable[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
