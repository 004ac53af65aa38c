"""A built-in bot's turn against a real engine: taken once, whatever happens, and never stuck."""

import asyncio
import contextlib

import pytest

from baohuang import Action, RuleSet
from baohuang.bots import GreedyBot
from baohuang.rpc.codec.rules import encode_rules
from baohuang.rpc.engine.v1 import engine_pb2, engine_pb2_grpc
from services.bots.engine import Engine
from services.bots.turn import Result, take_turn
from services.engine.server import serving
from services.kit.rpc import connect
from services.local.ports import free_port


@pytest.fixture
async def port(store):
    async with serving(store) as port:
        yield port


@pytest.fixture
async def stub(port):
    channel = connect(f"127.0.0.1:{port}")
    yield engine_pb2_grpc.EngineServiceStub(channel)
    await channel.close()


@pytest.fixture
def engine(port):
    with contextlib.closing(Engine(f"127.0.0.1:{port}")) as opened:
        yield opened


@pytest.fixture
async def game(stub):
    """The id of a game at its first decision."""
    rules = encode_rules(RuleSet.preset("marked-guard"))
    await stub.CreateGame(
        engine_pb2.CreateGameRequest(game_id="game", command_id="new", rules=rules, seed=bytes(31) + b"\x07")
    )
    return "game"


async def awaited(engine, game_id):
    """The version and the seats of the decisions that are open."""
    public = (await asyncio.to_thread(engine.view, game_id, 0)).public
    return public.opened_version, [seat for seat in public.to_act if seat not in public.answered]


async def turn(engine, game_id, seat, version, bot="random"):
    return await asyncio.to_thread(take_turn, engine, game_id, seat, version, bot)


async def test_a_turn_is_taken_once(engine, game, store):
    version, [seat, *_] = await awaited(engine, game)
    assert await turn(engine, game, seat, version) is Result.ACTED
    stored = await store.stream_version(game)
    assert await turn(engine, game, seat, version) is Result.OVERTAKEN
    assert await store.stream_version(game) == stored


async def test_a_turn_taken_by_many_workers_at_once_is_taken_once(engine, game, store):
    version, [seat, *_] = await awaited(engine, game)
    results = await asyncio.gather(*(turn(engine, game, seat, version) for _ in range(8)))
    assert results.count(Result.ACTED) == 1
    assert set(results) <= {Result.ACTED, Result.REPEATED, Result.OVERTAKEN}
    assert len(await store.read_stream(game)) == 2


async def test_a_turn_of_the_past_or_of_another_seat_is_passed_over(engine, game):
    version, seats = await awaited(engine, game)
    assert await turn(engine, game, seats[0], version - 1) is Result.OVERTAKEN
    others = [seat for seat in range(5) if seat not in seats]
    for seat in others:
        assert await turn(engine, game, seat, version) is Result.OVERTAKEN


async def test_turns_play_a_whole_hand(engine, game):
    while True:
        version, seats = await awaited(engine, game)
        if not seats:
            break
        for seat in seats:
            assert await turn(engine, game, seat, version, "greedy") is Result.ACTED
    assert (await asyncio.to_thread(engine.view, game, 0)).public.outcome is not None


async def test_a_seat_on_auto_play_is_played_for(engine, game, stub):
    version, [seat, *_] = await awaited(engine, game)
    await stub.StartAutoPlay(
        engine_pb2.StartAutoPlayRequest(
            game_id=game, command_id="away", seat=seat, why="AUTO_PLAY_REASON_LEFT"
        )
    )
    assert await turn(engine, game, seat, version) is Result.ACTED


class Crash(Exception):
    """What a bot of this test raises."""


def crash(self, view, legal_actions, time_limit):
    raise Crash


def cheat(self, view, legal_actions, time_limit):
    return Action.parse("play " + " ".join(["BJ"] * 12))


def mumble(self, view, legal_actions, time_limit):
    return "seven of clubs"


def forge(self, view, legal_actions, time_limit):
    return Action("dance", (3, "of", "clubs"))


@pytest.mark.parametrize("misbehave", [crash, cheat, mumble, forge])
async def test_a_bot_that_misbehaves_costs_a_dull_move_only(misbehave, engine, game, monkeypatch):
    monkeypatch.setattr(GreedyBot, "choose", misbehave)
    version, [seat, *_] = await awaited(engine, game)
    assert await turn(engine, game, seat, version, "greedy") is Result.ACTED


async def test_an_unknown_bot_costs_a_dull_move_only(engine, game):
    version, [seat, *_] = await awaited(engine, game)
    assert await turn(engine, game, seat, version, "deep-thought") is Result.ACTED


async def test_an_unknown_game_is_refused(engine):
    assert await turn(engine, "nothing", 0, 1) is Result.REFUSED


async def test_an_absent_engine_leaves_the_turn_to_be_sent_again(game):
    with contextlib.closing(Engine(f"127.0.0.1:{free_port()}")) as nowhere:
        assert await turn(nowhere, game, 0, 1) is Result.UNAVAILABLE
