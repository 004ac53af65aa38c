"""Whatever is sent to any method, the answer is a message or an error that the contracts know."""

import asyncio
import random

import grpc.aio
import pytest

from services.kit.errors import STATUSES
from services.kit.rpc import error_from_rpc
from services.lobby.grpc.server import SERVICES
from tests.integration.lobby.wire.conftest import CONTRACTS
from tests.integration.lobby.wire.hostile import fill, noise

RULES = {"preset": "marked-guard"}


def methods():
    """The descriptors of all methods."""
    for contract, _ in CONTRACTS.values():
        for service in contract.DESCRIPTOR.services_by_name.values():
            assert service.full_name in SERVICES
            for method in service.methods:
                yield contract, method


async def send(channel, method, data, metadata):
    """What becomes of these bytes: the code, and the reason where it is an error."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    call = kind(path, request_serializer=None, response_deserializer=None)(
        data, metadata=metadata, timeout=60
    )
    try:
        if method.server_streaming:
            await call.read()
            call.cancel()
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return error.code(), error_from_rpc(error)
    return grpc.StatusCode.OK, None


async def attack(wire, rounds, seed):
    """Each method so often, by a player in a game, an operator, and nobody."""
    scene = wire.scene
    players = await scene.players()
    table = await scene.playing(players[:2])
    open_table = await scene.table_of(players[2:3], is_private=True)
    operator = await scene.player(scopes=("play", "operator"))
    known = {
        "table_id": table.table_id,
        "game_id": table.hands[0].game_id,
        "code": open_table.code or "",
        "player_id": players[0].player_id,
        "token_id": players[0].token_id,
        "preset": "lianzhong-simple",
        "bot": "greedy",
    }
    tokens = [scene.secret(each) for each in (players[0], players[2], operator)]
    chance = random.Random(seed)
    seen = {}
    for contract, method in methods():
        request = getattr(contract, method.input_type.name)
        for number in range(rounds):
            message = request()
            fill(message, chance, known)
            data = message.SerializeToString()
            if number % 4 == 0:
                data = noise(data, chance)
            # Tokens get revoked and players leave: whoever still can, acts.
            secret = chance.choice([*tokens, "bh_" + "0" * 48, "x", ""])
            metadata = chance.choice(
                [(("authorization", f"Bearer {secret}"),)] * 8
                + [(), (("authorization", "Basic x"),), (("x-request-id", "y" * 300), ("junk-bin", b"\xff"))]
            )
            code, error = await send(wire.channel, method, data, metadata)
            seen.setdefault(method.name, set()).add(code.name)
            where = f"{method.full_name} with {data[:200]!r} of round {number}, seed {seed}"
            assert code not in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL), f"{where}: {error}"
            if error is not None:
                assert STATUSES[error.reason].grpc is code, f"{where}: {error}"
    return seen


async def test_every_method_with_hostile_messages(wire):
    seen = await attack(wire, rounds=30, seed=1)
    answered = {name for name, codes in seen.items() if "OK" in codes}
    # The attack reaches behind the doors: a good part of the methods was also answered.
    assert {"GetTable", "GetView", "ListTables", "ListMyGames", "WatchMyGames", "GetPlayer"} <= answered


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(2, 7))
async def test_every_method_with_many_hostile_messages(wire, seed):
    print(await attack(wire, rounds=400, seed=seed))


async def test_a_request_that_is_too_large_is_refused(wire):
    channel = wire.channel
    for _, method in methods():
        code, error = await send(channel, method, b"\x0a\xff\xff\x07" + b"x" * 131_071, ())
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert error.reason == "REQUEST_TOO_LARGE"


async def test_calls_that_are_given_up_leave_nothing_behind(wire):
    """Deadlines and cancellations in the middle: the lobby answers the next call as ever."""
    player = await wire.player()
    calls = []
    for number in range(40):
        method, request = player.method("Table", "CreateTable")
        timeout = (0.0001, 0.001, 0.01, 0.1)[number % 4]
        message = request(rules=RULES, sit=True, command_id=f"c{number}")
        calls.append(method(message, metadata=player.metadata, timeout=timeout))
    for call in calls[::5]:
        call.cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    codes = {result.code() for result in results if isinstance(result, grpc.aio.AioRpcError)}
    assert codes <= {grpc.StatusCode.DEADLINE_EXCEEDED}
    # Whether it was done or not, the same command can be sent again.
    for number in range(40):
        made = await player.call("Table", "CreateTable", rules=RULES, sit=True, command_id=f"c{number}")
        assert made.table.table_id
    tables = (await player.call("Table", "ListTables", limit=100)).tables
    assert len(tables) == 40
