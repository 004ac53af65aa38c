"""The processes as those who run them see them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", *arguments.split()],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "variable"),
    [
        ("services.lobby", "BAOHUANG_DATABASE_URL"),
        ("services.lobby follow", "BAOHUANG_DATABASE_URL"),
        ("services.lobby migrate", "BAOHUANG_DATABASE_URL"),
        ("services.lobby operator", "BAOHUANG_DATABASE_URL"),
        ("services.bots worker", "BAOHUANG_BROKER_URL"),
    ],
)
def test_a_missing_setting_is_named(arguments, variable):
    ended = run(arguments)
    assert ended.returncode == 2
    assert ended.stderr == f"{variable} is not set\n"


@pytest.mark.parametrize(
    "arguments", ["services.lobby dance", "services.bots", "services.bots worker --concurrency 0"]
)
def test_a_wrong_command_line_is_refused(arguments):
    assert run(arguments).returncode == 2


@pytest.mark.parametrize("arguments", ["services.lobby", "services.lobby follow", "services.bots worker"])
def test_a_port_in_use_is_named(arguments, platform):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        name = "worker" if "bots" in arguments else "lobby"
        environment = platform.processes[name].environment
        ended = run(arguments, **environment | {"BAOHUANG_PORT": port, "BAOHUANG_METRICS_PORT": port})
    assert ended.returncode == 1
    assert "Address already in use" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_follower_without_its_tables_refuses_to_run(platform, database):
    environment = platform.processes["follower"].environment | {
        "BAOHUANG_DATABASE_URL": database,
        "BAOHUANG_METRICS_PORT": "0",
    }
    ended = run("services.lobby follow", **environment)
    assert ended.returncode == 1
    assert "python -m services.lobby migrate" in ended.stderr


def test_an_operator_is_made_beside_the_running_lobby(platform):
    ended = run("services.lobby operator", **platform.processes["lobby"].environment)
    assert ended.returncode == 0, ended.stderr
    table = platform.open_table("marked-guard", hands=100)
    headers = {"Authorization": f"Bearer {ended.stdout.strip()}"}
    answer = platform.http.delete(f"/v1/tables/{table['table_id']}", headers=headers)
    assert (answer.status_code, answer.json()["status"]) == (200, "dissolved"), answer.text


def test_migrating_again_does_nothing(platform):
    ended = run("services.lobby migrate", **platform.processes["lobby"].environment)
    assert (ended.returncode, ended.stdout) == (0, "nothing to do\n")


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("follower", 'baohuang_lobby_turns_sent_total{send="first"}'),
        # Counted in another process than the one that answers.
        ("worker", 'baohuang_bots_turns_total{bot="greedy",result="acted"}'),
    ],
)
def test_health_and_metrics_are_served_beside_the_work(name, metric, platform):
    address = f"http://127.0.0.1:{platform.processes[name].health_port}"
    assert httpx.get(f"{address}/health/live").status_code == 200
    table = platform.open_table("marked-guard")
    platform.wait_events(table["hands"][0]["game_id"], 20)
    metrics = httpx.get(f"{address}/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    assert metric in metrics.text
    assert httpx.get(f"{address}/elsewhere").status_code == 404


@pytest.mark.parametrize("name", ["lobby", "follower", "worker"])
def test_processes_end_cleanly_when_asked(name, platform):
    process = platform.processes[name]
    assert process.stop() == 0, process.log.read_text()
    process.start()
    process.wait_ready()
