"""The guides run as they are written."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from baohuang import Game
from services.local.ports import free_port
from tests.integration.lobby.wire.guides import GUIDES, ROOT, run_guide

RUN = {"curl.md", "python-bot.md", "node-bot.md", "restarts.md"}


@pytest.fixture
def addresses(platform):
    """What the guides call by fixed ports."""
    return {
        "http://127.0.0.1:8000": str(platform.http.base_url).rstrip("/"),
        "127.0.0.1:50051": platform.grpc_target,
        "50061": str(free_port()),
        "50062": str(free_port()),
    }


def test_every_guide_is_run() -> None:
    assert {path.name for path in GUIDES.glob("*.md")} == RUN | {"README.md"}


def test_a_hand_with_curl(platform, addresses, tmp_path: Path) -> None:
    printed = run_guide("curl.md", tmp_path, addresses).splitlines()
    assert re.fullmatch(r"curl \d+", printed[0])
    actions = [line for line in printed if re.match(r"(keep|no|pass|play .*)$", line)]
    assert len(actions) > 10
    scores, places, offered, reason = printed[-4:]
    assert sum(map(int, scores.strip("[]").split(","))) == 0
    assert sorted(map(int, places.strip("[]").split(","))) == [1, 2, 3, 4, 5]
    assert offered == "[]"
    assert reason == "GAME_OVER"


def test_a_bot_in_python(platform, addresses, tmp_path: Path) -> None:
    printed = run_guide("python-bot.md", tmp_path, addresses)
    assert "clever.py:Clever: passed" in printed
    assert re.search(r"events of jiaodong, all possible; the hand is over", printed)
    assert Game.replay((tmp_path / "game.jsonl").read_text("utf-8")).outcome is not None
    assert re.search(r"^at table \w+\n\w+ seat \d: [+-]\d+$", printed, re.MULTILINE)
    assert re.search(r"grpc://127.0.0.1:\d+: passed", printed)


@pytest.mark.system
def test_a_bot_in_another_language(platform, addresses, tmp_path: Path) -> None:
    printed = run_guide("node-bot.md", tmp_path, addresses)
    assert re.search(r"^registered node \w+\nticket \w+\n\w+: -?\d+ in seat \d$", printed, re.MULTILINE)
    assert re.search(r"grpc://127.0.0.1:\d+: passed", printed)


async def test_a_client_that_survives_restarts(platform) -> None:
    """The command of the guide, while the lobby and the engine fall in the middle of its hands."""
    command = (GUIDES / "restarts.md").read_text("utf-8")
    (line,) = re.findall(r"^python (.*)$", command, re.MULTILINE)
    line = line.replace("http://127.0.0.1:8000", str(platform.http.base_url).rstrip("/"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *line.split(), cwd=ROOT, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        table_id = (await process.stdout.readline()).decode().split()[1]
        table = await asyncio.to_thread(platform.table, table_id)
        game_id = table["hands"][0]["game_id"]
        for count, name in ((20, "lobby"), (60, "engine")):
            await asyncio.to_thread(platform.wait_events, game_id, count)
            platform.kill(name)
            await asyncio.to_thread(platform.restart, name)
        async with asyncio.timeout(300):
            printed = (await process.stdout.read()).decode()
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert "opening it again" in printed
    assert len(re.findall(r"^\w+: [+-]\d+$", printed, re.MULTILINE)) == 1
    assert platform.replay(game_id).state.public.auto_play_starts == (0,) * 5
