"""`make up`: plays a hand of every rule set, keeps all, says what goes wrong, leaves nothing behind."""

import os
import re
import signal
import socket
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from baohuang import PRESETS, Game, Record
from services.local.up import DataDirLock
from tests.e2e.running import all_processes, running_up, wait_until, wait_until_gone

ALL = tuple(PRESETS)


def finished_games(replay_url: str) -> list[dict[str, object]]:
    games: list[dict[str, object]] = httpx.get(f"{replay_url}/v1/games?status=finished").json()["games"]
    return games


def test_it_plays_a_hand_of_every_rule_set_and_finds_them_the_next_time(data_dir: Path) -> None:
    with running_up(data_dir, "--once") as first:
        assert first.wait_for_end() == 0, first.output
    rows = [line.strip("│").split("│") for line in first.lines if line.startswith("│")]
    assert [row[0].strip() for row in rows] == list(ALL)
    for row in rows:
        scores = [int(score) for score in row[5].split()]
        assert len(scores) == 5
        assert sum(scores) == 0
        assert float(row[6]) > 0
    ids = dict(re.findall(r"^(\S+) +http://127\.0\.0\.1:\d+/replay/([\w-]+) ", first.output, re.MULTILINE))
    assert set(ids) == set(ALL)
    assert first.lines[-2:] == ["stopping", "stopped"]

    with running_up(data_dir, "--presets", "jiaodong") as second:
        replay_url = second.wait_for_line(r"found 5 earlier games: (\S+)/")[1]
        second.wait_for_line("^running; Ctrl-C stops$")
        games = finished_games(replay_url)
        assert len(games) == 6
        assert {game["game_id"]: game["rules"] for game in games[1:]} == {
            ids[preset]: preset for preset in ALL
        }
        for game in games:
            text = httpx.get(f"{replay_url}/v1/games/{game['game_id']}/record").text
            assert Record.loads(text).dumps() == text
            played = Game.replay(text)
            assert played.rules.name == game["rules"]
            assert played.outcome is not None
            assert list(played.outcome.scores) == game["scores"]
        second.signal(signal.SIGINT)
        assert second.wait_for_end() == 0, second.output


def test_killed_processes_are_started_again_and_ctrl_c_ends_everything(data_dir: Path) -> None:
    with running_up(data_dir, "--presets", "jiaodong") as up:
        up.wait_for_line("^running; Ctrl-C stops$")
        for command, name in (
            ("-m services.engine", "engine"),
            ("-m services.bots worker", "bots"),
            ("valkey-server", "valkey"),
        ):
            os.kill(up.process(command), signal.SIGKILL)
            up.wait_for_line(rf"^{name} (was killed by SIGKILL|ended)\. The end of .*{name}\.log:$")
            up.wait_for_line(rf"^{name} is started again in 1 s \(1 of 5\)$")
            up.wait_for_line(rf"^{name} is ready again$")
        family = up.processes()
        commands = " ".join(family.values())
        for part in ("engine", "lobby", "lobby follow", "replay", "replay follow", "bots worker"):
            assert f"-m services.{part}" in commands
        up.signal(signal.SIGINT)
        assert up.wait_for_end() == 0, up.output
        assert not set(family) & set(all_processes())
    assert (data_dir / "postgres/cluster/PG_VERSION").exists()
    assert (data_dir / "logs/engine.log").read_text()
    assert not list(data_dir.rglob("postmaster.pid"))
    # What is kept can be played on.
    with running_up(data_dir, "--once", "--presets", "jiaodong") as again:
        assert again.wait_for_end() == 0, again.output
    assert "found 1 earlier game:" in again.output


def test_ctrl_c_during_the_start_ends_it_too(data_dir: Path) -> None:
    with running_up(data_dir) as up:
        up.wait_for_line("^starting engine, lobby, replay, followers and a bot worker$")
        family = up.processes()
        up.signal(signal.SIGINT)
        assert up.wait_for_end() == 130, up.output
        assert not set(family) & set(all_processes())
    assert "Traceback" not in up.output


def test_a_second_ctrl_c_kills(data_dir: Path) -> None:
    with running_up(data_dir, "--presets", "jiaodong") as up:
        up.wait_for_line("^playing a hand of")
        family = up.processes()
        # A process that is stopped does not end when asked.
        worker = up.process("-m services.replay follow")
        os.kill(worker, signal.SIGSTOP)
        up.signal(signal.SIGINT)
        up.wait_for_line("^stopping$")
        up.signal(signal.SIGINT)
        assert up.wait_for_end() == 130
        assert up.lines[-1].startswith("killing what is left")
        wait_until_gone(family)
    with running_up(data_dir, "--once", "--presets", "jiaodong") as again:
        assert again.wait_for_end() == 0, again.output


def test_nothing_outlives_a_supervisor_that_is_killed(data_dir: Path) -> None:
    with running_up(data_dir, "--presets", "jiaodong") as up:
        up.wait_for_line("^playing a hand of")
        family = up.processes()
        assert len(family) > 10
        up.signal(signal.SIGKILL)
        wait_until_gone(family)


@pytest.mark.parametrize("name", ["engine", "lobby", "replay", "postgres", "valkey"])
def test_a_port_in_use_is_named_with_its_process_and_the_setting(data_dir: Path, name: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with running_up(data_dir, "--once", f"--{name}-port", str(port)) as up:
            assert up.wait_for_end() == 1
    (line,) = [line for line in up.lines if str(port) in line]
    assert f"taken by process {os.getpid()} (" in line
    assert f"--{name}-port or BAOHUANG_{name.upper()}_PORT" in line


def test_two_platforms_do_not_share_data(data_dir: Path) -> None:
    with DataDirLock(data_dir), running_up(data_dir, "--once") as up:
        assert up.wait_for_end() == 1
    assert f"another platform (process {os.getpid()}) runs on {data_dir}" in up.output
    assert "--data" in up.output


def test_a_folder_that_cannot_be_used_is_named(data_dir: Path) -> None:
    data_dir.write_text("a file")
    with running_up(data_dir, "--once") as up:
        assert up.wait_for_end() == 1
    assert f"cannot use the folder {data_dir}" in up.output
    assert "Traceback" not in up.output


def test_a_full_disk_is_named(data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / ".gitignore").symlink_to("/dev/full")
    with running_up(data_dir, "--once") as up:
        assert up.wait_for_end() == 1
    assert "the disk is full" in up.output
    assert "Free some space, or choose another folder with --data" in up.output


def test_a_process_that_cannot_start_is_shown_with_the_end_of_its_log(data_dir: Path) -> None:
    # The log of the engine cannot be written where a folder lies in its place.
    (data_dir / "logs/engine.log").mkdir(parents=True)
    with running_up(data_dir, "--once") as up:
        assert up.wait_for_end() == 1
        wait_until("all processes are gone", lambda: not up.processes())
    assert "engine.log" in up.output
    assert "Traceback" not in up.output
