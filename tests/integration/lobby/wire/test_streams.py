"""Streams over gRPC: what REST's streams say, in messages; they break off in errors that can be resumed."""

import asyncio

import grpc.aio
import pytest

from baohuang.rpc.codec import decode_outcome, decode_view, encode_event
from baohuang.rules.events import redact
from baohuang.rules.views import view
from services.engine.server import serving as serving_engine
from services.kit.rpc import error_from_rpc
from services.kit.stored_events import decode_stored
from services.lobby import metrics
from services.lobby.application import Lobby
from services.lobby.engine import Engine
from services.lobby.grpc.server import serving
from services.lobby.limits import Limits
from tests.integration.lobby.wire.conftest import Caller, refused

RULES = {"preset": "marked-guard"}


async def playing(wire, player):
    """The id of a game in which a player sits with four built-in bots, which act when a test has them act."""
    table = (await player.call("Table", "CreateTable", rules=RULES, sit=True)).table
    await player.call("Table", "StartTable", table_id=table.table_id)
    await wire.settle()
    return (await player.call("Table", "GetTable", table_id=table.table_id)).table.hands[0].game_id


async def log_of(scene, game_id):
    commits = await scene.store.read_stream(game_id)
    return [event for commit in commits for event in decode_stored(commit.payload, commit.schema_version)]


async def next_of(call, kind):
    """The next message of a kind, others passed over."""
    async with asyncio.timeout(60):
        while True:
            message = await call.read()
            assert message is not grpc.aio.EOF, f"the stream ended before {kind}"
            if message.WhichOneof("message") == kind:
                return message


async def rest_of(call, messages=None):
    """All messages to the end, keep-alives left out. Raises PlatformError where the stream breaks off."""
    messages = [] if messages is None else messages
    try:
        async with asyncio.timeout(60):
            while (message := await call.read()) is not grpc.aio.EOF:
                if message.WhichOneof("message") != "keep_alive":
                    messages.append(message)
    except grpc.aio.AioRpcError as error:
        raise error_from_rpc(error) from error
    return messages


async def ending(call, messages=None):
    """The error in which a stream ends."""
    return await refused(rest_of(call, messages))


async def test_a_snapshot_every_event_once_and_a_typed_end(wire):
    player, spectator = await wire.player(), await wire.player()
    game_id = await playing(wire, player)
    calls = {0: player.stream("WatchGame", game_id=game_id)}
    calls[None] = spectator.stream("WatchGame", game_id=game_id)
    began = {seat: (await next_of(call, "snapshot")).snapshot for seat, call in calls.items()}
    await wire.scene.play_to_the_end(game_id)
    events = await log_of(wire.scene, game_id)
    for seat, call in calls.items():
        messages = await rest_of(call)
        assert {message.game_id for message in messages} == {game_id}
        happened = [each.happened for each in messages if each.HasField("happened")]
        start = began[seat].version
        assert [each.version for each in happened] == list(range(start + 1, len(events) + 1))
        for each in happened:
            assert each.event == encode_event(redact(events[each.version - 1], seat))
        assert messages[-1].HasField("ended")
        assert decode_outcome(messages[-1].ended.outcome) == (await wire.scene.state(game_id)).public.outcome
        asked = [each.asked for each in messages if each.HasField("asked")]
        assert bool(asked) is (seat == 0)
        assert all(each.actions and each.deadline_ms for each in asked)


async def test_a_stream_goes_on_right_after_what_the_client_has(wire):
    player = await wire.player()
    game_id = await playing(wire, player)
    await wire.scene.play_to_the_end(game_id)
    events = await log_of(wire.scene, game_id)
    for after in (0, 1, len(events) // 2, len(events)):
        messages = await rest_of(player.stream("WatchGame", game_id=game_id, after_version=after))
        happened = [each.happened.version for each in messages if each.HasField("happened")]
        assert happened == list(range(after + 1, len(events) + 1))
        assert messages[-1].HasField("ended")
    error = await ending(player.stream("WatchGame", game_id=game_id, after_version=len(events) + 1))
    assert error.reason == "MALFORMED_REQUEST"


async def test_views_of_a_stream_are_the_viewer_s(wire):
    player = await wire.player()
    game_id = await playing(wire, player)
    state = await wire.scene.state(game_id)
    call = player.stream("WatchGame", game_id=game_id)
    assert decode_view((await next_of(call, "snapshot")).snapshot.view) == view(state, 0)
    call.cancel()
    call = player.stream("WatchGame", game_id=game_id, as_spectator=True)
    assert decode_view((await next_of(call, "snapshot")).snapshot.view) == view(state, None)
    call.cancel()


async def test_all_games_of_a_player_as_one_stream(wire):
    player = await wire.player()
    before = await playing(wire, player)
    call = player.stream("WatchMyGames")
    first = await next_of(call, "all_games")
    assert [game.game_id for game in first.all_games.games] == [before]
    other = await playing(wire, player)
    began = await next_of(call, "began")
    assert began.began.game.game_id == other
    await wire.scene.play_to_the_end(other)
    said = []
    while not said or not said[-1].HasField("ended"):
        async with asyncio.timeout(60):
            said.append(await call.read())
    said = [each for each in said if not each.HasField("keep_alive")]
    assert {each.WhichOneof("message") for each in said} == {"asked", "ended"}
    assert said[-1].ended.game.game_id == other
    assert len({each.cursor for each in said}) == len(said)
    call.cancel()
    # Resumed anywhere, it says what it said from there on.
    for index in (0, len(said) // 2):
        again = player.stream("WatchMyGames", after_cursor=said[index].cursor)
        for expected in said[index + 1 :]:
            async with asyncio.timeout(60):
                assert await again.read() == expected
        again.cancel()
    error = await ending(player.stream("WatchMyGames", after_cursor="nonsense"))
    assert error.reason == "MALFORMED_REQUEST"


async def test_streams_need_a_token_and_a_game(wire):
    error = await ending(wire.caller(None).stream("WatchMyGames"))
    assert error.reason == "UNAUTHENTICATED"
    player = await wire.player()
    error = await ending(player.stream("WatchGame", game_id="a" * 26))
    assert error.reason == "GAME_NOT_FOUND"


@pytest.fixture
async def lobby(scene, valkey):
    """A lobby of its own over the scene's database, whose keep-alives come soon."""
    async with serving_engine(scene.store) as engine_port, Limits(valkey.url, 0) as limits:
        engine = Engine(f"127.0.0.1:{engine_port}")
        lobby = Lobby(scene.pool, engine, limits)
        lobby.streams.keep_alive_seconds = 0.05
        running = asyncio.create_task(lobby.run())
        yield lobby
        running.cancel()
        await asyncio.wait({running})
        await engine.close()


async def test_keep_alives_come_where_nothing_happens(scene, lobby):
    players = await scene.players()
    game_id = (await scene.playing(players)).hands[0].game_id
    async with serving(lobby) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        caller = Caller(channel, None, scene.secret(players[0]))
        call = caller.stream("WatchGame", game_id=game_id)
        assert (await next_of(call, "keep_alive")).game_id == game_id
        call.cancel()


async def test_a_server_that_stops_ends_streams_in_an_error_that_can_be_resumed(scene, lobby):
    players = await scene.players()
    game_id = (await scene.playing(players)).hands[0].game_id
    async with serving(lobby) as port:
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        caller = Caller(channel, None, scene.secret(players[0]))
        calls = [caller.stream("WatchGame", game_id=game_id), caller.stream("WatchMyGames")]
        await next_of(calls[0], "snapshot")
        await next_of(calls[1], "all_games")
    errors = [await ending(call) for call in calls]
    assert [(error.reason, error.is_retryable) for error in errors] == [("SERVICE_UNAVAILABLE", True)] * 2
    await channel.close()


async def test_a_reader_that_does_not_read_is_cut_off_and_can_resume(scene, lobby):
    """Nothing is kept for him but what lies in the connection."""
    players = await scene.players()
    game_id = (await scene.playing(players)).hands[0].game_id
    # A window of the smallest size, so that a hand is more than fits into it.
    options = (("grpc.http2.lookahead_bytes", 1), ("grpc.http2.bdp_probe", 0))
    async with (
        serving(lobby, slow_reader_seconds=0.1) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel,
    ):
        caller = Caller(channel, None, scene.secret(players[0]))
        call = caller.stream("WatchGame", game_id=game_id)
        version = (await next_of(call, "snapshot")).snapshot.version
        await scene.play_to_the_end(game_id)
        async with asyncio.timeout(60):
            while metrics.STREAMS.labels("game")._value.get():
                await scene.state(game_id)
        received = []
        error = await ending(call, received)
        assert (error.reason, error.is_retryable) == ("READER_TOO_SLOW", True)
        # What lay in the connection is all that he finds; the rest he can have.
        after = max(
            [each.happened.version for each in received if each.HasField("happened")], default=version
        )
        messages = await rest_of(caller.stream("WatchGame", game_id=game_id, after_version=after))
        events = len(await log_of(scene, game_id))
        assert [each.happened.version for each in messages[:-1]] == list(range(after + 1, events + 1))
