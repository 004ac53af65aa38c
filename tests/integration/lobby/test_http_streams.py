"""Streams as a client over HTTP sees them, on several servers of which some die."""

import contextlib
import threading

import httpx
import pytest

from baohuang import Game
from services.local.ports import free_port
from tests.integration.lobby.conftest import Process
from tests.integration.lobby.events import read_events


@contextlib.contextmanager
def another_lobby(platform):
    """A second server of the lobby; gives its process and address."""
    first, port = platform.processes["lobby"], free_port()
    second = Process(
        first.arguments,
        first.environment | {"BAOHUANG_PORT": str(port), "BAOHUANG_GRPC_PORT": "0"},
        first.log.with_suffix(f".{port}.log"),
        port,
    )
    try:
        second.start()
        second.wait_ready()
        yield second, f"http://127.0.0.1:{port}"
    finally:
        second.clean_up()


class Bot:
    """A remote bot in a few lines: follows its game, answers each question, resumes wherever it broke off."""

    def __init__(self, client, stream_url, act_url, game_id, hurdles=()):
        self.client, self.game_id = client, game_id
        self.stream_url, self.act_url = stream_url, act_url
        self.ids, self.snapshots, self.outcome, self.breaks = [], 0, None, 0
        self.error = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        try:
            while self.outcome is None:
                try:
                    self._follow()
                except httpx.TransportError:
                    self.breaks += 1
        except Exception as error:  # noqa: BLE001 (shown by the test)
            self.error = error

    def _follow(self):
        headers = {"Last-Event-ID": self.ids[-1]} if self.ids else {}
        url = f"{self.stream_url()}/v1/games/{self.game_id}/stream"
        with self.client.stream("GET", url, headers=headers) as answer:
            answer.raise_for_status()
            for event in read_events(answer):
                if event.event_id is not None:
                    self.ids.append(event.event_id)
                assert event.name == "error" or event.data["game_id"] == self.game_id
                if event.name == "snapshot":
                    self.snapshots += 1
                elif event.name == "asked":
                    self._answer(event.data)
                elif event.name == "ended":
                    self.outcome = event.data["outcome"]
                elif event.name == "error":
                    assert event.data["status"] == 503, event
                    self.breaks += 1

    def _answer(self, asked):
        action = next(
            (each for each in asked["actions"] if each in ("no", "pass", "keep")), asked["actions"][0]
        )
        body = {"action": action, "expected_version": asked["version"]}
        key = f"{self.game_id}.{asked['version']}.{len(self.ids)}"
        while True:
            try:
                answer = self.client.post(
                    f"{self.act_url()}/v1/games/{self.game_id}/actions",
                    json=body,
                    headers={"Idempotency-Key": key},
                )
            except httpx.TransportError:
                continue
            if answer.status_code != 503:
                break
        # A question that was told again after a break may have been answered before it.
        assert answer.status_code == 200 or answer.json()["reason"] in (
            "VERSION_CONFLICT",
            "NOT_YOUR_TURN",
            "ALREADY_ANSWERED",
            "GAME_OVER",
        ), answer.text


def open_table(platform, players, **fields):
    host, *others = players
    body = {
        "rules": {"preset": "marked-guard"},
        "bots": ["greedy"] * (5 - len(players)) + [None] * len(players),
    }
    table = host.post("/v1/tables", json=body | fields).json()
    for player in others:
        joined = player.post("/v1/join", json={"table_id": table["table_id"]})
        assert joined.status_code == 200, joined.text
    for player in players:
        table = player.put(f"/v1/tables/{table['table_id']}/ready", json={"ready": True}).json()
    return table


@pytest.fixture
def players(platform):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(platform.register(f"player{number}")) for number in range(2)]


def wait_begun(platform, table):
    game_id = table["hands"][0]["game_id"]
    platform.wait_events(game_id, 1)
    return game_id


def check_bot(bot, platform, log_length):
    bot.thread.join(180)
    assert not bot.thread.is_alive()
    if bot.error is not None:
        raise bot.error
    assert bot.snapshots == 1
    numbers = [int(event_id) for event_id in bot.ids]
    assert numbers == list(range(numbers[0], log_length + 1)), "an event was missed or told twice"


def test_bots_play_a_hand_over_http(platform, players):
    table = open_table(platform, players)
    game_id = wait_begun(platform, table)
    url = str(platform.http.base_url)
    bots = [Bot(player, lambda: url, lambda: url, game_id) for player in players]
    ended = platform.wait_finished(table["table_id"])
    for bot in bots:
        check_bot(bot, platform, platform.version(game_id))
        assert bot.outcome == ended["hands"][0]["outcome"]
    assert isinstance(platform.replay(game_id), Game)


def test_a_stream_on_one_server_moves_on_another_and_one_killed(platform, players):
    # The players follow the second server and move on the first; then the second is killed.
    first = str(platform.http.base_url)
    with another_lobby(platform) as (process, second), another_lobby(platform) as (_, third):
        alive = [second]
        table = open_table(platform, players)
        game_id = wait_begun(platform, table)
        bots = [Bot(player, lambda: alive[-1], lambda: first, game_id) for player in players]
        platform.wait_events(game_id, platform.version(game_id) + 25)
        alive.append(third)
        process.kill()
        platform.wait_finished(table["table_id"])
        for bot in bots:
            check_bot(bot, platform, platform.version(game_id))
            assert bot.breaks >= 1


def test_streams_are_told_when_their_server_stops(platform, players):
    with another_lobby(platform) as (process, second):
        table = open_table(platform, players, pace={"opening_seconds": 600})
        game_id = wait_begun(platform, table)
        for path in (f"/v1/games/{game_id}/stream", "/v1/me/games/stream"):
            with players[0].stream("GET", second + path) as answer:
                events = read_events(answer)
                assert next(events).name in ("snapshot", "all_games")
                if path.startswith("/v1/me"):
                    process.running.terminate()
                    last = list(events)[-1]
                    assert (last.name, last.data["reason"]) == ("error", "SERVICE_UNAVAILABLE")
        assert process.running.wait(60) == 0
    players[0].post(f"/v1/tables/{table['table_id']}/leave", json={"by_force": True})
    players[1].post(f"/v1/tables/{table['table_id']}/leave", json={"by_force": True})


@pytest.mark.parametrize("event_id", ["x", "-1", "1 2", "999999", "1" * 50])
def test_what_is_no_event_to_resume_from_is_refused(event_id, platform, players):
    table = open_table(platform, players)
    game_id = wait_begun(platform, table)
    answer = players[0].get(f"/v1/games/{game_id}/stream", headers={"Last-Event-ID": event_id})
    assert (answer.status_code, answer.json()["reason"]) == (400, "MALFORMED_REQUEST")
    assert answer.json()["violations"][0]["field"] == "Last-Event-ID"


def test_streams_need_a_token_and_a_game(platform, players):
    url = f"{platform.http.base_url}/v1/games/nothing/stream"
    assert httpx.get(url).status_code == 401
    assert players[0].get(url).json()["reason"] == "GAME_NOT_FOUND"
