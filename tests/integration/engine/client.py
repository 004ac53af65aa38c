"""The engine's methods as a test writes them, and a library game that says what must come of them."""

import random
from collections.abc import Sequence
from itertools import count
from typing import Any

import grpc.aio

from baohuang import Action, Game, RuleSet, View
from baohuang.rpc.codec import (
    decode_action,
    decode_event,
    decode_outcome,
    decode_view,
    encode_action,
    encode_due,
    encode_hand,
    encode_opening,
    encode_rules,
)
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.engine.v1.engine_pb2_grpc import EngineServiceStub
from baohuang.rules.commands import Start
from baohuang.rules.events import Event, redact
from baohuang.rules.outcome import Due
from baohuang.rules.roles import SEATS, Opening
from services.kit.errors import PlatformError
from services.kit.rpc import error_from_rpc

SALT = bytes(range(32))
VIEWERS = (None, *SEATS)


class Client:
    """Calls one engine; failures are raised as `PlatformError`."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel
        self.stub = EngineServiceStub(channel)
        self._numbers = count()

    async def call(self, name: str, request: Any, deadline_seconds: float = 20) -> Any:
        try:
            return await getattr(self.stub, name)(request, timeout=deadline_seconds)
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from error

    async def command(self, name: str, **fields: Any) -> pb.Applied:
        """A command; its id is a new one unless given."""
        fields.setdefault("command_id", f"c{next(self._numbers)}-{id(self)}")
        return (await self.call(name, getattr(pb, f"{name}Request")(**fields))).applied

    async def create(
        self,
        game_id: str,
        rules: RuleSet,
        *,
        seed: int | None = None,
        dues: Sequence[Due] = (),
        hands: Sequence[Any] = (),
        opening: Opening | None = None,
        **fields: Any,
    ) -> pb.Applied:
        if seed is not None:
            fields |= {"seed": seed.to_bytes(32, "big"), "salt": SALT}
        return await self.command(
            "CreateGame",
            game_id=game_id,
            rules=encode_rules(rules),
            dues=[encode_due(due) for due in dues],
            hands=[encode_hand(hand) for hand in hands],
            opening=None if opening is None else encode_opening(opening),
            **fields,
        )

    async def act(self, game_id: str, seat: int, action: Action | str, **fields: Any) -> pb.Applied:
        parsed = Action.parse(action) if isinstance(action, str) else action
        return await self.command("Act", game_id=game_id, seat=seat, action=encode_action(parsed), **fields)

    async def view(self, game_id: str, viewer: int | None = None) -> View:
        return decode_view(
            (await self.call("GetView", pb.GetViewRequest(game_id=game_id, viewer=viewer))).view
        )

    async def legal_actions(self, game_id: str, seat: int) -> list[Action]:
        request = pb.GetLegalActionsRequest(game_id=game_id, seat=seat)
        return [decode_action(action) for action in (await self.call("GetLegalActions", request)).actions]


def dealt(rules: RuleSet, seed: int, **options: Any) -> Game:
    """The library's game that `Client.create` with this seed must equal."""
    return Game.start(Start(rules, seed=seed, salt=SALT, **options))


def events_of(applied: pb.Applied) -> list[Event]:
    return [decode_event(event) for event in applied.events]


def check_applied(applied: pb.Applied, game: Game, events: Sequence[Event], viewer: int | None) -> None:
    """The answer to the command that gave these events, on the library's game after it."""
    assert events_of(applied) == [redact(event, viewer) for event in events]
    assert applied.version == game.state.public.version
    assert applied.log_version == game.version
    outcome = decode_outcome(applied.outcome) if applied.HasField("outcome") else None
    assert outcome == game.outcome


async def check_views(client: Client, game_id: str, game: Game) -> None:
    """What all viewers see, and all seats may do, is what the library says."""
    for viewer in VIEWERS:
        assert await client.view(game_id, viewer) == game.view(viewer)
    for seat in SEATS:
        assert await client.legal_actions(game_id, seat) == game.legal_actions(seat)


async def play_on(
    client: Client, game_id: str, game: Game, chance: random.Random, moves: int = 10_000
) -> None:
    """Random moves on the engine and in the library alike, to the end of the hand or for that many."""
    for _ in range(moves):
        if not game.to_act:
            return
        seat = chance.choice(game.to_act)
        action = chance.choice(game.legal_actions(seat))
        version = game.state.public.version
        events = game.apply(seat, action)
        applied = await client.act(game_id, seat, action, expected_version=version)
        check_applied(applied, game, events, seat)
        assert not applied.repeated_command


async def refused(call: Any) -> PlatformError:
    """The error in which an awaitable call ends."""
    try:
        answer = await call
    except PlatformError as error:
        return error
    raise AssertionError(f"not refused: {answer}")
