"""What the lobby does with clients that misbehave on the wire: each bears the cost himself."""

import asyncio

import grpc.aio
import pytest

from baohuang.rpc.codec import decode_view, encode_action
from baohuang.rpc.game.v1 import action_pb2
from baohuang.rules.actions import Action
from services.engine.server import serving as serving_engine
from services.lobby.application import Lobby
from services.lobby.engine import Engine
from services.lobby.grpc.server import serving
from services.lobby.limits import Limits
from tests.integration.lobby.wire.conftest import Caller, refused
from tests.integration.lobby.wire.test_streams import next_of, rest_of

RULES = {"preset": "marked-guard"}


@pytest.fixture
async def at_table(wire):
    """A bot's player who is asked for an action, another player, their game and table."""
    bad, other = await wire.player("bad", is_bot=True), await wire.player("good")
    table = (await other.call("Table", "CreateTable", rules=RULES, sit=True, bots_allowed=True)).table
    await bad.call("Table", "JoinTable", table_id=table.table_id)
    await bad.call("Table", "SetReady", table_id=table.table_id, ready=True)
    await other.call("Table", "StartTable", table_id=table.table_id)
    await wire.settle()
    game_id = (await other.call("Table", "GetTable", table_id=table.table_id)).table.hands[0].game_id
    # To the play of cards, where one seat is asked at a time.
    while (state := await wire.scene.state(game_id)).public.step != "play" or state.to_act != (1,):
        await wire.scene.act_for(game_id, state.to_act[0])
    return bad, other, game_id, table.table_id


async def plays_on(wire, game_id, table_id, other):
    """The hand can be played to its end, and the table is what it should be then."""
    await wire.scene.play_to_the_end(game_id)
    return (await other.call("Table", "GetTable", table_id=table_id)).table


async def test_an_illegal_action_is_refused_and_the_turn_is_still_his(wire, at_table):
    bad, other, game_id, table_id = at_table
    for number in range(20):
        cheat = encode_action(Action.play("BJ " * (number + 5)))
        error = await refused(bad.call("Game", "Act", game_id=game_id, action=cheat, command_id=f"x{number}"))
        assert error.clause
    assert (await bad.call("Game", "GetLegalActions", game_id=game_id)).actions
    table = await plays_on(wire, game_id, table_id, other)
    assert not any(table.hands[0].outcome.auto_play)


async def test_who_acts_out_of_turn_or_for_others_changes_nothing(wire, at_table):
    bad, other, game_id, _ = at_table
    version = (await wire.scene.state(game_id)).version
    offered = await bad.call("Game", "GetLegalActions", game_id=game_id)
    error = await refused(other.call("Game", "Act", game_id=game_id, action=offered.actions[0]))
    assert error.reason == "NOT_YOUR_TURN"
    stranger = await wire.player("stranger")
    error = await refused(stranger.call("Game", "Act", game_id=game_id, action=offered.actions[0]))
    assert error.reason == "FORBIDDEN"
    assert (await wire.scene.state(game_id)).version == version


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (action_pb2.Action(), "MALFORMED_REQUEST"),
        (action_pb2.Action(kind=99), "MALFORMED_REQUEST"),
        (action_pb2.Action(kind="ACTION_KIND_PLAY"), "MALFORMED_REQUEST"),
        (action_pb2.Action(kind="ACTION_KIND_PLAY", cards=[999]), "MALFORMED_REQUEST"),
        (action_pb2.Action(kind="ACTION_KIND_PLAY", cards=[1] * 217), "MALFORMED_REQUEST"),
        (action_pb2.Action(kind="ACTION_KIND_PLAY", cards=[1] * 70_000), "REQUEST_TOO_LARGE"),
    ],
)
async def test_garbage_and_oversized_actions_are_told_apart(action, reason, wire, at_table):
    bad, _, game_id, _ = at_table
    error = await refused(bad.call("Game", "Act", game_id=game_id, action=action))
    assert error.reason == reason
    assert (await bad.call("Game", "GetLegalActions", game_id=game_id)).actions


async def test_texts_that_are_no_utf_8_are_refused(wire, at_table):
    bad, *_ = at_table
    call = wire.channel.unary_unary("/baohuang.rpc.lobby.v1.GameService/GetView")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(b"\x0a\x04\xff\xfe\xfd\xfc", metadata=bad.metadata)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_who_never_answers_is_played_for_once_his_time_is_over(wire, at_table):
    bad, other, game_id, table_id = at_table
    await wire.settle()
    await wire.scene.pass_time(game_id)
    await wire.settle()
    state = await wire.scene.state(game_id)
    assert state.public.auto_play[1]
    assert state.to_act != (1,), "the server has acted for him"
    # His stream says so, and he can come back.
    assert decode_view((await bad.call("Game", "GetView", game_id=game_id)).view).public.auto_play[1]
    await bad.call("Game", "SetAutoPlay", game_id=game_id, auto_play=False)
    table = await plays_on(wire, game_id, table_id, other)
    assert not any(table.hands[0].outcome.auto_play)


async def test_who_stays_away_ends_the_table_and_nothing_else(wire, at_table):
    _, other, game_id, table_id = at_table
    await wire.settle()
    await wire.scene.pass_time(game_id)
    await wire.settle()
    table = await plays_on(wire, game_id, table_id, other)
    assert list(table.hands[0].outcome.auto_play) == [False, True, False, False, False]
    assert sum(table.hands[0].outcome.scores) == 0


async def test_who_hangs_up_in_the_middle_of_everything_finds_it_all_later(wire, at_table):
    bad, other, game_id, table_id = at_table
    async with wire.open_channel() as channel:
        gone = Caller(channel, None, dict(bad.metadata)["authorization"].removeprefix("Bearer "))
        stream = gone.stream("WatchGame", game_id=game_id)
        version = (await next_of(stream, "snapshot")).snapshot.version
        offered = await gone.call("Game", "GetLegalActions", game_id=game_id)
        method, request = gone.method("Game", "Act")
        message = request(game_id=game_id, command_id="last", action=offered.actions[0])
        call = method(message, metadata=gone.metadata)
        # It may have been done or not, the answer is lost.
        await asyncio.sleep(0)
        call.cancel()
    done = await bad.call("Game", "Act", game_id=game_id, command_id="last", action=offered.actions[0])
    assert done.events
    await plays_on(wire, game_id, table_id, other)
    messages = await rest_of(bad.stream("WatchGame", game_id=game_id, after_version=version))
    happened = [each.happened.version for each in messages if each.HasField("happened")]
    assert happened == list(range(version + 1, (await wire.scene.state(game_id)).version + 1))


async def test_a_flood_is_limited_to_who_makes_it(scene, valkey):
    async with (
        serving_engine(scene.store) as engine_port,
        Limits(valkey.url, 1) as limits,
    ):
        engine = Engine(f"127.0.0.1:{engine_port}")
        lobby = Lobby(scene.pool, engine, limits)
        async with serving(lobby) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            bad = Caller(channel, None, scene.secret(await scene.player("bad", is_bot=True)))
            good = Caller(channel, None, scene.secret(await scene.player("good")))
            flood = [bad.call("Table", "CreateTable", rules=RULES, command_id=f"f{n}") for n in range(300)]
            results = await asyncio.gather(*flood, return_exceptions=True)
            reasons = {getattr(result, "reason", "OK") for result in results}
            assert "RATE_LIMITED" in reasons
            assert reasons <= {"OK", "RATE_LIMITED", "TOO_MANY"}
            assert (await good.call("Table", "CreateTable", rules=RULES)).table.table_id
        await engine.close()


async def test_streams_of_a_player_are_counted(wire, at_table, monkeypatch):
    bad, other, game_id, _ = at_table
    from services.lobby import streams

    monkeypatch.setattr(streams, "MOST_STREAMS_OF_BOT", 3)
    calls = [bad.stream("WatchGame", game_id=game_id) for _ in range(3)]
    for call in calls:
        await next_of(call, "snapshot")
    error = await refused(rest_of(bad.stream("WatchGame", game_id=game_id)))
    assert error.reason == "TOO_MANY"
    ours = other.stream("WatchGame", game_id=game_id)
    await next_of(ours, "snapshot")
    for call in [*calls, ours]:
        call.cancel()
