"""Several lobbies and engines at once: a player's stream on one, his moves on another, and none is missed."""

import asyncio
import contextlib
import random
import signal

from baohuang.bots.remote_client import LobbyClient, RemoteError
from baohuang.rpc.codec import decode_action, decode_event, encode_event
from baohuang.rpc.lobby.v1 import games_pb2 as pb
from baohuang.rules.events import redact
from services.local.ports import free_port
from tests.integration.lobby.conftest import Process

PATIENCE_SECONDS = 300
OVERTAKEN = {"VERSION_CONFLICT", "NOT_YOUR_TURN", "ALREADY_ANSWERED", "GAME_OVER", "COMMAND_REUSED"}


@contextlib.contextmanager
def second(platform, name, **settings):
    """Another process of a kind, with these settings in the place of the first one's."""
    first = platform.processes[name]
    environment = first.environment | {
        f"BAOHUANG_{variable.upper()}": str(value) for variable, value in settings.items()
    }
    health_port = None if first.health_port is None else settings["port"]
    process = Process(first.arguments, environment, first.log.with_suffix(".second.log"), health_port)
    try:
        process.start()
        process.wait_ready()
        yield process
    finally:
        process.clean_up()


async def follow(client, game_id, said):
    """The events of a game by number, its stream opened again wherever it breaks off, to its typed end."""
    after = None
    while True:
        request = pb.WatchGameRequest(game_id=game_id, after_version=after)
        try:
            async with contextlib.aclosing(client.stream(client.games.WatchGame, request)) as messages:
                async for message in messages:
                    match message.WhichOneof("message"):
                        case "snapshot":
                            after = said["from"] = message.snapshot.version
                        case "happened":
                            after = message.happened.version
                            said.setdefault(after, []).append(message.happened.event)
                        case "ended":
                            return
            raise AssertionError("the stream ended without saying that the game is over")
        except RemoteError as error:
            if not error.is_retryable:
                raise
            said["breaks"] = said.get("breaks", 0) + 1
            await asyncio.sleep(0.02)


async def play(clients, game_id, chance, seen):
    """Act for a player until the game is over, each call over another lobby."""
    while True:
        client = chance.choice(clients)
        try:
            offered = await client.call(
                client.games.GetLegalActions, pb.GetLegalActionsRequest(game_id=game_id), tries=1
            )
            if not offered.actions:
                view = await client.call(client.games.GetView, pb.GetViewRequest(game_id=game_id), tries=1)
                if view.view.public.HasField("outcome"):
                    return
                await asyncio.sleep(0.01)
                continue
            action = chance.choice(list(offered.actions))
            assert decode_action(action)
            request = pb.ActRequest(
                game_id=game_id,
                command_id=f"{game_id}.{offered.version}.{len(seen)}",
                expected_version=offered.version,
                action=action,
            )
            await client.call(client.games.Act, request, tries=1)
            seen.append(offered.version)
        except RemoteError as error:
            if not error.is_retryable and error.reason not in OVERTAKEN:
                raise
            await asyncio.sleep(0.02)


async def test_streams_here_moves_there_and_one_of_each_killed(platform):
    chance = random.Random(5)
    engine_port, http_port, grpc_port = free_port(), free_port(), free_port()
    with contextlib.ExitStack() as stack:
        # The second lobby asks a second engine; both write to one log.
        engine = stack.enter_context(second(platform, "engine", port=engine_port, metrics_port=free_port()))
        engine_target = f"127.0.0.1:{engine_port}"
        lobby = stack.enter_context(
            second(platform, "lobby", port=http_port, grpc_port=grpc_port, engine_target=engine_target)
        )
        players = [
            stack.enter_context(platform.register(f"player{number}", is_bot=True)) for number in range(5)
        ]
        tokens = [player.headers["Authorization"].removeprefix("Bearer ") for player in players]
        body = {"rules": {"preset": "marked-guard"}, "pace": {"turn_seconds": 600, "opening_seconds": 600}}
        table_id = players[0].post("/v1/tables", json=body).json()["table_id"]
        for player in players[1:]:
            assert player.post("/v1/join", json={"table_id": table_id}).status_code == 200
        for player in players:
            assert player.put(f"/v1/tables/{table_id}/ready", json={"ready": True}).status_code == 200
        game_id = platform.table(table_id)["hands"][0]["game_id"]
        await asyncio.to_thread(platform.wait_events, game_id, 1)

        targets = [platform.grpc_target, f"127.0.0.1:{grpc_port}"]
        async with contextlib.AsyncExitStack() as clients, asyncio.timeout(PATIENCE_SECONDS):
            on = [
                [await clients.enter_async_context(LobbyClient(target, token)) for target in targets]
                for token in tokens
            ]
            said = [[{}, {}] for _ in tokens]
            async with asyncio.TaskGroup() as group:
                for seat in range(5):
                    for place in (0, 1):
                        group.create_task(follow(on[seat][place], game_id, said[seat][place]))
                    group.create_task(play(on[seat], game_id, chance, []))
                await asyncio.to_thread(platform.wait_events, game_id, 40)
                lobby.running.send_signal(signal.SIGKILL)
                engine.running.send_signal(signal.SIGKILL)
                lobby.running.wait()
                engine.running.wait()
                await asyncio.to_thread(platform.wait_events, game_id, 80)
                engine.start()
                lobby.start()
                await asyncio.to_thread(lobby.wait_ready)

    game = platform.replay(game_id)
    for seat in range(5):
        for place in (0, 1):
            told = said[seat][place]
            first = told.pop("from")
            breaks = told.pop("breaks", 0)
            assert (breaks > 0) is (place == 1)
            assert sorted(told) == list(range(first + 1, game.version + 1))
            for version, events in told.items():
                assert [decode_event(event) for event in events] == [
                    decode_event(encode_event(redact(game.events[version - 1], seat)))
                ], "each event once, as the seat may see it"
