"""Bots that play over the public interface: all their games at once, through restarts of either side."""

import asyncio
import contextlib

import httpx
import pytest

from baohuang.bots.hosts import FaultKind, Times, open_host
from baohuang.bots.hosts.direct import DirectHost
from baohuang.bots.hosts.spec import load_maker
from baohuang.bots.remote import RemoteBot, play_remote
from baohuang.bots.remote_client import LobbyClient, RemoteError
from baohuang.rpc.lobby.v1 import players_pb2
from baohuang.testing.bad_bots import BAD_BOTS

PATIENT = Times(start_seconds=120, move_seconds=120)
SHORT_MOVES = Times(start_seconds=120, move_seconds=0.05)
SHORT_START = Times(start_seconds=0.05, move_seconds=120)
PATIENCE_SECONDS = 300


class Playing:
    """A remote bot as a task, and its games that are over."""

    def __init__(self, platform, token, host, times=PATIENT):
        self.ended = {}
        self._news = asyncio.Event()
        self._platform, self._token, self._host, self._times = platform, token, host, times
        self.task = None

    def start(self):
        self.task = asyncio.create_task(self._run())

    async def stop(self):
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task

    async def wait_ended(self, count):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.ended) < count:
                if self.task.done():
                    await self.task
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        await self._news.wait()
                self._news.clear()

    async def _run(self):
        async with LobbyClient(self._platform.grpc_target, self._token) as client:
            await RemoteBot(client, self._host, times=self._times, on_end=self._note).run()

    def _note(self, finished):
        self.ended[finished.game_id] = finished
        self._news.set()


def token_of(http: httpx.Client) -> str:
    return http.headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
async def table_of(platform):
    """Opens tables at which new players sit, everybody ready; ends their bots in the end."""
    open_bots = []
    closing = contextlib.ExitStack()

    def players(count):
        return [
            closing.enter_context(platform.register(f"bot{number}", is_bot=True)) for number in range(count)
        ]

    def open_table(clients, preset="marked-guard", hands=1, turn_seconds=600, bots=()):
        host, *others = clients
        seats = [None] * len(clients) + list(bots)
        body = {
            "rules": {"preset": preset},
            "hands": hands,
            "bots": seats,
            "pace": {"turn_seconds": turn_seconds, "opening_seconds": turn_seconds, "pause_seconds": 0},
        }
        answer = host.post("/v1/tables", json=body)
        assert answer.status_code == 201, answer.text
        table_id = answer.json()["table_id"]
        for client in others:
            assert client.post("/v1/join", json={"table_id": table_id}).status_code == 200
        for client in clients:
            assert client.put(f"/v1/tables/{table_id}/ready", json={"ready": True}).status_code == 200
        return table_id

    def bot(client, host="greedy", times=PATIENT):
        opened = DirectHost(host, load_maker(host)) if isinstance(host, str) else host
        playing = Playing(platform, token_of(client), opened, times)
        open_bots.append(playing)
        playing.start()
        return playing

    yield players, open_table, bot
    for playing in open_bots:
        await playing.stop()
    closing.close()


async def finished(platform, table_id):
    """The table once all its hands are over, as the lobby's follower sees to it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            table = await asyncio.to_thread(platform.table, table_id)
            if table["status"] not in ("gathering", "starting", "playing"):
                return table
            await asyncio.sleep(0.05)


async def test_five_bots_play_several_hands(platform, table_of):
    players, open_table, bot = table_of
    clients = players(5)
    table_id = open_table(clients, "lianzhong-classic", hands=2)
    bots = [bot(client) for client in clients]
    for each in bots:
        await each.wait_ended(2)
    table = await finished(platform, table_id)
    assert table["status"] == "finished"
    assert set(bots[0].ended) == {hand["game_id"] for hand in table["hands"]}
    for hand in table["hands"]:
        # No turn was missed: nobody was ever played for.
        assert not any(hand["outcome"]["auto_play"])
        assert platform.replay(hand["game_id"]).outcome == bots[0].ended[hand["game_id"]].outcome


async def test_one_player_in_several_games_at_once_with_built_in_bots_beside(platform, table_of):
    players, open_table, bot = table_of
    [client] = players(1)
    tables = [
        open_table([client], preset, bots=["greedy"] * 4)
        for preset in ("jiaodong", "shandong-folk", "jiaodong")
    ]
    playing = bot(client)
    await playing.wait_ended(3)
    for table_id in tables:
        table = await finished(platform, table_id)
        assert (table["status"], table["hands"][0]["outcome"]["auto_play"]) == ("finished", [False] * 5)


async def test_a_bot_survives_restarts_of_lobby_and_engine_in_the_middle_of_a_hand(platform, table_of):
    players, open_table, bot = table_of
    clients = players(5)
    table_id = open_table(clients, "marked-guard")
    table = await asyncio.to_thread(platform.table, table_id)
    game_id = table["hands"][0]["game_id"]
    bots = [bot(client, "random") for client in clients]
    for count, name in ((15, "lobby"), (60, "engine")):
        await asyncio.to_thread(platform.wait_events, game_id, count)
        platform.kill(name)
        await asyncio.to_thread(platform.restart, name)
    for each in bots:
        await each.wait_ended(1)
    assert len({str(each.ended[game_id].outcome) for each in bots}) == 1
    game = platform.replay(game_id)
    assert game.outcome == bots[0].ended[game_id].outcome
    assert game.state.public.auto_play_starts == (0,) * 5


async def test_a_bot_that_was_started_again_goes_on(platform, table_of):
    players, open_table, bot = table_of
    clients = players(5)
    table_id = open_table(clients, "lianzhong-simple")
    game_id = (await asyncio.to_thread(platform.table, table_id))["hands"][0]["game_id"]
    others = [bot(client) for client in clients[1:]]
    for count in (12, 60):
        first = bot(clients[0], "random")
        await asyncio.to_thread(platform.wait_events, game_id, count)
        await first.stop()
    last = bot(clients[0])
    for each in [*others, last]:
        await each.wait_ended(1)
    assert platform.replay(game_id).state.public.auto_play_starts == (0,) * 5


async def test_two_of_the_same_bot_do_each_move_once(platform, table_of):
    players, open_table, bot = table_of
    clients = players(5)
    table_id = open_table(clients)
    bots = [bot(client) for client in [*clients, clients[0], clients[0]]]
    for each in bots:
        await each.wait_ended(1)
    table = await finished(platform, table_id)
    assert platform.replay(table["hands"][0]["game_id"]).outcome is not None


async def test_a_bot_takes_its_seat_back_from_auto_play(platform, table_of):
    players, open_table, bot = table_of
    clients = players(5)
    table_id = open_table(clients)
    game_id = (await asyncio.to_thread(platform.table, table_id))["hands"][0]["game_id"]
    answer = clients[2].put(f"/v1/games/{game_id}/auto-play", json={"auto_play": True})
    assert answer.status_code == 200
    bots = [bot(client) for client in clients]
    for each in bots:
        await each.wait_ended(1)
    assert (await finished(platform, table_id))["hands"][0]["outcome"]["auto_play"] == [False] * 5


async def test_bad_bots_cost_themselves_dull_moves_only(platform, table_of):
    """Also one that is never there costs its table no time: what runs it acts in its place."""
    players, open_table, bot = table_of
    clients = players(len(BAD_BOTS))
    tables = []
    for first in range(0, len(BAD_BOTS), 5):
        some = clients[first : first + 5]
        tables.append(open_table(some, bots=["random"] * (5 - len(some))))
    with contextlib.ExitStack() as stack:
        playing = []
        for bad, client in zip(BAD_BOTS, clients, strict=True):
            host = open_host(bad.spec)
            stack.callback(host.close)
            times = PATIENT
            if bad.kind is FaultKind.LATE:
                times = SHORT_START if bad.is_start else SHORT_MOVES
            playing.append(bot(client, host, times))
        for each in playing:
            await each.wait_ended(1)
            await each.stop()
    for table_id in tables:
        table = await finished(platform, table_id)
        assert table["hands"][0]["outcome"]["auto_play"] == [False] * 5
        assert platform.replay(table["hands"][0]["game_id"]).outcome is not None


async def test_a_token_that_is_none_ends_the_bot(platform):
    with pytest.raises(RemoteError) as caught:
        await play_remote(load_maker("greedy"), platform.grpc_target, "bh_" + "0" * 48)
    assert caught.value.reason == "UNAUTHENTICATED"


async def test_errors_carry_reason_clause_and_details(platform):
    async with LobbyClient(platform.grpc_target) as lobby:
        with pytest.raises(RemoteError) as caught:
            await lobby.call(lobby.players.GetPlayer, players_pb2.GetPlayerRequest(player_id="nobody"))
    assert (caught.value.reason, caught.value.is_retryable) == ("PLAYER_NOT_FOUND", False)
