"""Bots as gRPC services: they play as at home, many games at once, and none is too bad for the platform."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from baohuang import PRESETS, Game, RuleSet
from baohuang.bots.conformance import check_bot
from baohuang.bots.hosts import Decision, EndedGame, FaultKind, Host, NewGame, Times, open_host
from baohuang.bots.referee import play_games
from baohuang.bots.service import BotServer, serving
from baohuang.rpc.bots.v1 import bots_pb2 as pb
from baohuang.testing.bad_bots import BAD_BOTS, BadBot
from baohuang.testing.bad_services import BAD_SERVICES, BadService
from baohuang.testing.bad_services import serving as serving_badly
from services.local.ports import free_port
from tests.integration.lobby.wire.hostile import fill, noise

ROOT = Path(__file__).resolve().parents[3]
PATIENT = Times(start_seconds=120, move_seconds=120)
SHORT_MOVES = Times(start_seconds=120, move_seconds=0.05)
SHORT_START = Times(start_seconds=0.05, move_seconds=120)
MOST_FAULTS = 2


@contextlib.contextmanager
def served(spec: str, processes: int = 1) -> Iterator[str]:
    """A bot's service on a loop of its own; gives the spec by which hosts call it."""
    ready = threading.Event()
    address: list[str] = []
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        ended = asyncio.Event()
        stop.append((asyncio.get_running_loop(), ended))
        async with serving(BotServer(spec, processes=processes, shows_output=False)) as port:
            address.append(f"grpc://127.0.0.1:{port}")
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait()
    try:
        yield address[0]
    finally:
        loop, ended = stop[0]
        loop.call_soon_threadsafe(ended.set)
        thread.join()


@contextlib.contextmanager
def opened(*specs: str) -> Iterator[list[Host]]:
    hosts = [open_host(spec) for spec in specs]
    try:
        yield hosts
    finally:
        for host in hosts:
            host.close()


def deal(preset: str = "jiaodong", seed: int = 7) -> Game:
    return Game.deal(RuleSet.preset(preset), seed=seed)


def test_a_service_plays_as_the_bot_does_at_home() -> None:
    games = [deal(preset, seed) for preset in PRESETS for seed in (1, 2)]
    with served("random", processes=2) as spec, opened(spec, "random") as (remote, local):
        play_games(games, [[remote, local, remote, local, local]] * len(games), times=PATIENT, seed=5)
        for index, preset in enumerate(PRESETS):
            for seed in (1, 2):
                game = deal(preset, seed)
                play_games([game], [[local] * 5], times=PATIENT, seed=5 + (2 * index + seed - 1) * 5)
                assert game.record() == games[2 * index + seed - 1].record()


def test_a_service_passes_the_checks() -> None:
    with served("examples/simple_bot.py:LongestSetBot") as spec:
        report = check_bot(spec, hands=1, times=PATIENT)
    assert report.passed
    assert report.name == "longest-set"


@pytest.mark.parametrize("bad", BAD_BOTS, ids=lambda bad: bad.make.__name__)
def test_bad_bots_behind_a_service(bad: BadBot) -> None:
    times = PATIENT
    if bad.kind is FaultKind.LATE:
        times = SHORT_START if bad.is_start else SHORT_MOVES
    # What the service itself finds out about its bot it can only tell as a failure.
    told = {FaultKind.OVERSIZED: FaultKind.CRASHED}
    with served(bad.spec) as spec, opened(spec, "greedy") as (host, greedy):
        [played] = play_games(
            [deal()], [[greedy, host, greedy, greedy, greedy]], times=times, most_faults=MOST_FAULTS
        )
    faults = {(each.seat, each.fault.kind, each.fault.is_start) for each in played.faults if each.fault}
    expected = {(1, told.get(bad.kind, bad.kind), bad.is_start)} if bad.kind else set()
    assert faults == expected


@pytest.mark.parametrize("bad", BAD_SERVICES, ids=lambda bad: bad.name)
def test_bad_services(bad: BadService) -> None:
    times = PATIENT
    if bad.kind is FaultKind.LATE and bad.name.startswith("sleeps"):
        times = SHORT_START if bad.is_start else SHORT_MOVES
    with serving_badly(bad) as spec, opened(spec, "greedy") as (host, greedy):
        [played] = play_games(
            [deal()], [[greedy, host, greedy, greedy, greedy]], times=times, most_faults=MOST_FAULTS
        )
    faults = [(each.seat, each.fault.kind, each.fault.is_start) for each in played.faults if each.fault]
    count = 0 if bad.kind is None else 1 if bad.is_start else MOST_FAULTS
    assert faults == [(1, bad.kind, bad.is_start)] * count
    assert all(str(each.fault).isprintable() and len(str(each.fault)) < 400 for each in played.faults)


def test_a_service_that_is_not_there_is_unreachable() -> None:
    with opened(f"grpc://127.0.0.1:{free_port()}", "greedy") as (host, greedy):
        [played] = play_games(
            [deal()], [[greedy, host, greedy, greedy, greedy]], times=Times(0.05, 0.05), most_faults=1
        )
    [fault] = [each.fault for each in played.faults if each.fault]
    assert (fault.is_start, fault.kind) == (True, FaultKind.LATE)


def test_more_games_than_one_request_holds() -> None:
    game = deal()
    seat = game.to_act[0]
    ids = [f"game{number}" for number in range(300)]
    with served("greedy") as spec, opened(spec) as (host,):
        started = host.start([NewGame(each, seat, game.rules, 1) for each in ids], PATIENT)
        assert not started.faults
        decision = game.view(seat), tuple(game.legal_actions(seat))
        answers = host.choose([Decision(each, *decision) for each in ids])
        host.end([EndedGame(each, None) for each in ids])
    assert list(answers) == ids
    assert len({answer.choice for answer in answers.values()}) == 1


def test_a_service_that_was_started_again_plays_on() -> None:
    """It knows nothing of the game any more; the decision says all that is needed."""
    game = deal()
    seat = game.to_act[0]
    decision = Decision("a", game.view(seat), tuple(game.legal_actions(seat)))
    with served("greedy") as spec:
        target = spec.removeprefix("grpc://")
        channel = grpc.insecure_channel(target)
        choose = channel.unary_unary("/baohuang.rpc.bots.v1.BotService/Choose")
        from baohuang.rpc.codec import encode_action, encode_view

        request = pb.ChooseRequest(
            decisions=[
                pb.ChooseRequest.Decision(
                    game_id="a",
                    view=encode_view(decision.view),
                    legal_actions=[encode_action(action) for action in decision.legal_actions],
                )
            ],
            move_time_ms=120_000,
        )
        answer = pb.ChooseResponse.FromString(choose(request.SerializeToString(), timeout=120))
        assert answer.choices[0].action in request.decisions[0].legal_actions
        channel.close()


def test_hostile_requests_are_refused_as_such() -> None:
    chance = random.Random(3)
    seen = set()
    with served("greedy") as spec:
        with grpc.insecure_channel(spec.removeprefix("grpc://")) as channel:
            for number in range(150):
                name = chance.choice(("Start", "Choose", "End"))
                message = getattr(pb, f"{name}Request")()
                fill(message, chance, {})
                data = message.SerializeToString()
                if number % 3 == 0:
                    data = noise(data, chance)
                try:
                    channel.unary_unary(f"/baohuang.rpc.bots.v1.BotService/{name}")(data, timeout=120)
                    seen.add(grpc.StatusCode.OK)
                except grpc.RpcError as error:
                    seen.add(error.code())
        report = check_bot(spec, hands=1, times=PATIENT)
    # A bot that is given no time to start is late, and a request may be too large.
    codes = {"OK", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"}
    assert {code.name for code in seen} <= codes
    assert report.passed


def test_the_command_serves_until_it_is_stopped() -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "baohuang.cli",
            "bots",
            "serve",
            "examples/simple_bot.py:LongestSetBot",
            "--port",
            "0",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"on (grpc://\S+)", line)
        assert found, line
        with opened(found[1], "greedy") as (host, greedy):
            [played] = play_games([deal()], [[greedy, host, greedy, greedy, greedy]], times=PATIENT)
        assert not played.faults
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_command_says_why_it_cannot_serve() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "baohuang.cli", "bots", "serve", "no_such_module:Bot", "--port", "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "there is no module no_such_module" in done.stderr
