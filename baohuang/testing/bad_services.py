"""Bot services that misbehave on the wire, in ways that no bot in Python can: `BAD_SERVICES` lists them.

`serving(service)` runs one. In all else they answer the first legal action.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import grpc

from baohuang.bots.hosts.host import FaultKind
from baohuang.rpc.bots.v1 import bots_pb2 as pb

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["BotService"].full_name


class BadService(NamedTuple):
    """A service: what its methods answer as bytes, and what its fault is; None where there is none."""

    name: str
    kind: FaultKind | None
    start: Callable[[bytes, grpc.ServicerContext], bytes]
    choose: Callable[[bytes, grpc.ServicerContext], bytes]
    is_start: bool = False


def _start(_: bytes, __: grpc.ServicerContext) -> bytes:
    return pb.StartResponse(name="bad", version="1").SerializeToString()


def _first(data: bytes) -> pb.ChooseResponse:
    request = pb.ChooseRequest.FromString(data)
    return pb.ChooseResponse(
        choices=[
            pb.ChooseResponse.Choice(game_id=each.game_id, action=each.legal_actions[0])
            for each in request.decisions
        ]
    )


def _sleep(_: bytes, context: grpc.ServicerContext) -> bytes:
    gone = threading.Event()
    if context.add_callback(gone.set):
        gone.wait()
    return b""


def _crash(_: bytes, __: grpc.ServicerContext) -> bytes:
    raise RuntimeError("the weights are not there")


def _garbage(_: bytes, __: grpc.ServicerContext) -> bytes:
    return b"\xff" * 50


def _garbled_text(data: bytes, _: grpc.ServicerContext) -> bytes:
    """A note that is no UTF-8, in an answer that is else as it should be."""
    answer = _first(data)
    for choice in answer.choices:
        choice.note = "NOTE"
    return answer.SerializeToString().replace(b"NOTE", b"\xff\xfe\xfd\xfc")


def _oversized(data: bytes, _: grpc.ServicerContext) -> bytes:
    answer = _first(data)
    answer.choices[0].note = "x" * (8 * 1024 * 1024)
    return answer.SerializeToString()


def _flood(data: bytes, _: grpc.ServicerContext) -> bytes:
    """Tens of thousands of choices for games that nobody asked about, the right ones in the middle."""
    answer = _first(data)
    others = [pb.ChooseResponse.Choice(game_id=f"other{number}") for number in range(20_000)]
    return pb.ChooseResponse(choices=[*others, *answer.choices, *others]).SerializeToString()


def _twice(data: bytes, _: grpc.ServicerContext) -> bytes:
    """The right answer, and then another."""
    answer = _first(data)
    again = [pb.ChooseResponse.Choice(game_id=choice.game_id) for choice in answer.choices]
    return pb.ChooseResponse(choices=[*answer.choices, *again]).SerializeToString()


def _other_game(data: bytes, _: grpc.ServicerContext) -> bytes:
    answer = _first(data)
    for choice in answer.choices:
        choice.game_id += "x"
    return answer.SerializeToString()


def _no_action(data: bytes, _: grpc.ServicerContext) -> bytes:
    answer = _first(data)
    for choice in answer.choices:
        choice.ClearField("action")
    return answer.SerializeToString()


def _unknown_card(data: bytes, _: grpc.ServicerContext) -> bytes:
    answer = _first(data)
    for choice in answer.choices:
        choice.action.cards.extend([99, -1])  # type: ignore[list-item]  # that is what is bad about them
    return answer.SerializeToString()


def _failure(data: bytes, _: grpc.ServicerContext) -> bytes:
    request = pb.ChooseRequest.FromString(data)
    return pb.ChooseResponse(
        choices=[
            pb.ChooseResponse.Choice(game_id=each.game_id, failure="out of\nideas\0" + "x" * 5_000)
            for each in request.decisions
        ]
    ).SerializeToString()


BAD_SERVICES: Final = (
    BadService("sleeps", FaultKind.LATE, _start, _sleep),
    BadService("sleeps at the start", FaultKind.LATE, _sleep, _sleep, is_start=True),
    BadService("crashes", FaultKind.CRASHED, _start, _crash),
    BadService("crashes at the start", FaultKind.CRASHED, _crash, _crash, is_start=True),
    BadService("answers garbage", FaultKind.MALFORMED, _start, _garbage),
    BadService("answers garbage at the start", FaultKind.MALFORMED, _garbage, _garbage, is_start=True),
    BadService("answers a text that is no UTF-8", FaultKind.MALFORMED, _start, _garbled_text),
    BadService("answers megabytes", FaultKind.OVERSIZED, _start, _oversized),
    BadService("floods", None, _start, _flood),
    BadService("answers twice", None, _start, _twice),
    BadService("answers for another game", FaultKind.LATE, _start, _other_game),
    BadService("answers no action", FaultKind.MALFORMED, _start, _no_action),
    BadService("answers cards that are none", FaultKind.MALFORMED, _start, _unknown_card),
    BadService("fails", FaultKind.CRASHED, _start, _failure),
)


@contextlib.contextmanager
def serving(service: BadService) -> Iterator[str]:
    """Runs a service on a free port; gives the spec by which a host calls it."""
    server = grpc.server(ThreadPoolExecutor(max_workers=4))
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        "Start": grpc.unary_unary_rpc_method_handler(service.start),
        "Choose": grpc.unary_unary_rpc_method_handler(service.choose),
        "End": grpc.unary_unary_rpc_method_handler(lambda _, __: b""),
    }
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(_SERVICE, methods)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"grpc://127.0.0.1:{port}"
    finally:
        server.stop(0).wait()
