"""What a request asks for, checked for form: an order to a game. Malformed fields are named by their path."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from baohuang.rpc.codec import (
    auto_play_reason,
    decode_action,
    decode_dues,
    decode_hand,
    decode_opening,
    decode_rules,
    decode_seat,
    decode_seed,
    forfeit_reason,
    inside,
)
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.commands import (
    Act,
    AddNonce,
    AutoAct,
    Command,
    Deal,
    Forfeit,
    Start,
    StartAutoPlay,
    StopAutoPlay,
)
from baohuang.rules.errors import RuleSetError
from baohuang.rules.events import Viewer
from baohuang.rules.roles import SEATS
from baohuang.rules.shuffle import SALT_BYTES, SEED_BYTES
from services.kit.errors import PlatformError, to_platform_error
from services.kit.ids import is_id

MOST_COMMAND_ID: Final = 64
_COMMAND_ID: Final = re.compile(f"[!-~]{{1,{MOST_COMMAND_ID}}}")
_MOST_DUES: Final = 20
"""One of each seat to each other."""

Entropy = Callable[[int], bytes]
"""That many random bytes."""


class Order(NamedTuple):
    """A command to a game. The answer shows its events to `viewer`; `fingerprint` stands for the content."""

    game_id: str
    command_id: str
    fingerprint: bytes
    command: Command
    viewer: Viewer = None
    expected_version: int | None = None


class _CommandRequest(Protocol):
    """What all commands carry."""

    game_id: str
    command_id: str
    DESCRIPTOR: Any

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...


def checked_game_id(game_id: str) -> str:
    """Raises `PlatformError` for what can be no game's id."""
    if not is_id(game_id):
        raise PlatformError.malformed("game_id", "1 to 64 letters, digits, _ or -")
    return game_id


def _order(
    request: _CommandRequest, command: Command, viewer: Viewer = None, expected_version: int | None = None
) -> Order:
    command_id = request.command_id
    if not _COMMAND_ID.fullmatch(command_id):
        raise PlatformError.malformed("command_id", f"1 to {MOST_COMMAND_ID} visible ASCII characters")
    content = request.DESCRIPTOR.full_name.encode() + b"\0" + request.SerializeToString(deterministic=True)
    return Order(
        checked_game_id(request.game_id),
        command_id,
        hashlib.sha256(content).digest(),
        command,
        viewer,
        expected_version,
    )


def _expected(request: pb.ActRequest | pb.StartAutoPlayRequest | pb.AutoActRequest) -> int | None:
    return request.expected_version if request.HasField("expected_version") else None


def create_game(request: pb.CreateGameRequest, entropy: Entropy) -> Order:
    """The order to start a game; seed and salt are drawn where neither they nor hands are given."""
    if not request.HasField("rules"):
        raise PlatformError.malformed("rules", "is missing")
    try:
        rules = decode_rules(request.rules)
    except RuleSetError as error:
        raise to_platform_error(error).at("rules") from error
    if len(request.dues) > _MOST_DUES:
        raise PlatformError.malformed("dues", f"at most {_MOST_DUES}")
    if len(request.hands) not in (0, len(SEATS)):
        raise PlatformError.malformed("hands", f"five or none, not {len(request.hands)}")
    hands = tuple([decode_hand(hand, f"hands[{seat}]") for seat, hand in enumerate(request.hands)]) or None
    opening = None
    if request.HasField("opening"):
        with inside("opening"):
            opening = decode_opening(request.opening)
    seed = decode_seed(request.seed) if request.HasField("seed") else None
    salt = request.salt if request.HasField("salt") else None
    if salt is not None and len(salt) != SALT_BYTES:
        raise PlatformError.malformed("salt", f"{SALT_BYTES} bytes, not {len(salt)}")
    if hands is None:
        seed = int.from_bytes(entropy(SEED_BYTES), "big") if seed is None else seed
        salt = entropy(SALT_BYTES) if salt is None else salt
    return _order(
        request,
        Start(
            rules=rules,
            first_drawer=decode_seat(request.first_drawer, "first_drawer"),
            dues=decode_dues(request.dues),
            seed=seed,
            salt=salt,
            await_nonces=request.await_nonces,
            hands=hands,
            opening=opening,
        ),
    )


def add_nonce(request: pb.AddNonceRequest) -> Order:
    """The order to add a seat's nonce."""
    seat = decode_seat(request.seat)
    return _order(request, AddNonce(seat, request.nonce), seat)


def deal(request: pb.DealRequest) -> Order:
    """The order to deal."""
    return _order(request, Deal())


def act(request: pb.ActRequest) -> Order:
    """The order to do a seat's action."""
    seat = decode_seat(request.seat)
    if not request.HasField("action"):
        raise PlatformError.malformed("action", "is missing")
    with inside("action"):
        action = decode_action(request.action)
    return _order(request, Act(seat, action), seat, _expected(request))


def start_auto_play(request: pb.StartAutoPlayRequest) -> Order:
    """The order to put a seat on auto-play."""
    seat = decode_seat(request.seat)
    why = auto_play_reason.decode(request.why, "why")
    return _order(request, StartAutoPlay(seat, why), seat, _expected(request))


def stop_auto_play(request: pb.StopAutoPlayRequest) -> Order:
    """The order to give a seat back its control."""
    seat = decode_seat(request.seat)
    return _order(request, StopAutoPlay(seat), seat)


def auto_act(request: pb.AutoActRequest) -> Order:
    """The order to do the action of R9 for a seat."""
    seat = decode_seat(request.seat)
    return _order(request, AutoAct(seat), seat, _expected(request))


def forfeit(request: pb.ForfeitRequest) -> Order:
    """The order to note that a seat's player is gone."""
    seat = decode_seat(request.seat)
    return _order(request, Forfeit(seat, forfeit_reason.decode(request.why, "why")), seat)
