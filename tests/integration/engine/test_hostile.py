"""What a hostile or broken client may send and do: refused by type, and nothing of it stays."""

import asyncio
import contextlib
import random
from typing import Any

import grpc.aio
import pytest

from baohuang import Action, RuleSet, parse_cards
from baohuang.rpc.codec import encode_action, encode_hand, encode_rules
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.roles import Opening
from services.engine.metrics import STREAMS
from services.engine.play import Paces
from services.engine.server import serving
from services.eventstore import EventStore, Pool
from services.kit.errors import STATUSES
from services.kit.rpc import error_from_rpc
from tests.integration.engine.client import Client, refused
from tests.integration.engine.talk import Talk

SERVICE = pb.DESCRIPTOR.services_by_name["EngineService"]
UNARY = [method for method in SERVICE.methods if not method.client_streaming]
PLAIN = RuleSet.preset("marked-guard")
HANDS = [parse_cards(hand) for hand in ("EJ 9s 9h", "GJ 7c 7d", "8h 8d", "6c 6d", "Ts Th Ac")]
PASS = encode_action(Action.parse("pass"))
# A good request of each method, to be spoilt.
GOOD: dict[str, dict[str, Any]] = {
    "CreateGame": {
        "rules": encode_rules(PLAIN),
        "hands": [encode_hand(hand) for hand in HANDS],
        "opening": {"emperor": 0, "guard": 1},
    },
    "AddNonce": {"nonce": "x"},
    "Deal": {},
    "Act": {"seat": 0, "action": encode_action(Action.parse("play 9s")), "expected_version": 3},
    "StartAutoPlay": {"why": "AUTO_PLAY_REASON_REQUEST"},
    "StopAutoPlay": {},
    "AutoAct": {},
    "Forfeit": {"why": "FORFEIT_REASON_REMOVED"},
    "GetLegalActions": {},
    "GetView": {"viewer": 1},
    "CheckRecord": {"record": "{}"},
}
REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.ABORTED,
}


async def at_play(client: Client, game_id: str = "g") -> None:
    await client.create(game_id, PLAIN, hands=HANDS, opening=Opening(0, 1))


def request(name: str, **fields: Any) -> Any:
    """A good request of a method, to the game g, but for these fields; it may lack some of them."""
    known = SERVICE.methods_by_name[name].input_type.fields_by_name
    wanted = {"game_id": "g", "command_id": "c"} | GOOD[name] | fields
    return getattr(pb, f"{name}Request")(**{key: value for key, value in wanted.items() if key in known})


def raw(client: Client, name: str) -> Any:
    """A unary method that sends and gives bytes."""
    return client.channel.unary_unary(f"/{SERVICE.full_name}/{name}")


@pytest.mark.parametrize("junk", [b"\xff", b"\x0a\xff", b"\x0a\x02\xc3\x28", b"\x0b"], ids=repr)
async def test_bytes_that_are_no_request(junk: bytes, client: Client) -> None:
    for method in UNARY:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await raw(client, method.name)(junk)
        assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT, method.name
        assert error_from_rpc(failed.value).reason == "MALFORMED_REQUEST"
    await at_play(client)
    talk = Talk(
        client.channel.stream_stream(f"/{SERVICE.full_name}/Play", None, pb.PlayResponse.FromString)()
    )
    await talk.call.write(pb.PlayRequest(join={"game_id": "g", "seat": 0}).SerializeToString())
    await talk.until("asked")
    await talk.call.write(junk)
    assert (await refused(talk.until("never"))).reason == "MALFORMED_REQUEST"


def spoilt(good: bytes, chance: random.Random) -> bytes:
    data = bytearray(good)
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(data) + 1)
        match chance.choice(["set", "put in", "take out", "double"]):
            case "set" if place < len(data):
                data[place] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
            case "put in":
                data[place:place] = chance.randbytes(chance.randrange(1, 9))
            case "take out":
                del data[place : place + chance.randrange(1, 9)]
            case _:
                data[place:place] = data[: chance.randrange(1, 30)]
    return bytes(data)


async def test_spoilt_requests_end_in_typed_errors(client: Client) -> None:
    chance = random.Random(1)
    await at_play(client)
    refusals: list[tuple[str, int, grpc.aio.AioRpcError]] = []
    for name in GOOD:
        for number in range(150):
            good = request(name, command_id=f"{name}-{number}")
            try:
                await raw(client, name)(spoilt(good.SerializeToString(), chance))
            except grpc.aio.AioRpcError as error:
                refusals.append((name, number, error))
    for refusal in refusals:
        assert refusal[2].code() in REFUSALS, refusal
        assert error_from_rpc(refusal[2]).reason in STATUSES, refusal
    assert len({refusal[2].code() for refusal in refusals}) >= 4


TEXTS = ["", "\0", "a\0b", "\x7f", "\u202e", "é", "保皇", "a\n", " a", "a ", "x" * 65, "x" * 500_000]


async def test_ids_of_any_text(client: Client, store: EventStore) -> None:
    await at_play(client)
    for text in TEXTS:
        for field in ("game_id", "command_id"):
            for name in GOOD:
                if field in SERVICE.methods_by_name[name].input_type.fields_by_name:
                    error = await refused(client.call(name, request(name, **{field: text})))
                    told = error.reason, error.violations[0].field
                    assert told == ("MALFORMED_REQUEST", field), (name, text[:9])
    assert len(await store.read_stream("g")) == 1


async def test_numbers_at_the_ends_of_their_types(client: Client, store: EventStore) -> None:
    await at_play(client)
    last = 2**32 - 1
    for version in (0, 1, 2**31 - 1, 2**31, last):
        for name in ("Act", "AutoAct", "StartAutoPlay"):
            error = await refused(client.call(name, request(name, expected_version=version)))
            assert error.reason == "VERSION_CONFLICT"
    for seat in (5, 2**31 - 1, 2**31, last):
        for name in ("Act", "AddNonce", "AutoAct", "StartAutoPlay", "StopAutoPlay", "Forfeit"):
            error = await refused(client.call(name, request(name, seat=seat)))
            assert (error.reason, error.violations[0].field) == ("MALFORMED_REQUEST", "seat")
    for number in (-(2**31), -1, 0, 99, 2**31 - 1):
        for name, field in (("StartAutoPlay", "why"), ("Forfeit", "why"), ("Act", "action")):
            value = {"kind": number} if field == "action" else number
            error = await refused(client.call(name, request(name, **{field: value})))
            assert error.reason == "MALFORMED_REQUEST"
    async with Talk.joined(client, "g", 0, after_version=last) as talk:
        assert (await refused(talk.next())).reason == "MALFORMED_REQUEST"
    assert len(await store.read_stream("g")) == 1


async def test_deadlines_too_short_and_calls_taken_back(
    client: Client, store: EventStore, pool: Pool
) -> None:
    """Whatever moment they hit: done or not done, never half, and the same id again tells which."""
    chance = random.Random(1)
    codes: set[grpc.StatusCode] = set()
    games = [f"g{number}" for number in range(8)]
    for game_id in games:
        await at_play(client, game_id)

    async def send(game_id: str, number: int) -> None:
        act = request("Act", game_id=game_id, command_id="a")
        call = client.stub.Act(act, timeout=chance.choice([0.0001, 0.001, 0.003, 20]))
        for _ in range(chance.randrange(40)):
            await asyncio.sleep(0)
        if number % 2:
            call.cancel()
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
            await call
        codes.add(await call.code())

    await asyncio.gather(*[send(game_id, number) for number in range(30) for game_id in games])
    ends = grpc.StatusCode.OK, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED
    assert codes == set(ends)
    for game_id in games:
        await client.act(game_id, 0, "play 9s", command_id="a", expected_version=3)
        assert [commit.command_id for commit in await store.read_stream(game_id)][1:] == ["a"]


async def test_streams_that_nobody_joins_or_reads(pool: Pool) -> None:
    """Who opens a stream and says nothing is let go after a while; the rest go on."""
    paces = Paces(join_seconds=0.2)
    async with (
        serving(EventStore(pool), paces=paces) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        client = Client(channel)
        await at_play(client)
        silent = [client.stub.Play() for _ in range(100)]
        ended = [asyncio.create_task(refused(Talk(call).next())) for call in silent]
        async with Talk.joined(client, "g", 0) as talk:
            await talk.until("asked")
            assert {error.reason for error in await asyncio.gather(*ended)} == {"DEADLINE_EXCEEDED"}
            await talk.act("a", "play 9s")
            await talk.until("done")
        deaf = [client.stub.Play() for _ in range(100)]
        for call in deaf:
            await call.write(pb.PlayRequest(join={"game_id": "g", "seat": 1}))
        await client.act("g", 1, "pass")
        for call in deaf:
            call.cancel()
        async with asyncio.timeout(20):
            while STREAMS._value.get():
                await client.view("g")
