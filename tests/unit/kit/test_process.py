"""What a process needs: logs, metrics, a clean end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from services.kit.ids import is_id, new_id
from services.kit.metrics import MetricsServer
from services.kit.shutdown import stop_signals

LOGGING = """
import logging, structlog
from services.kit.logging import configure_logging
configure_logging("engine", level="info", log_format="{form}")
with structlog.contextvars.bound_contextvars(game_id="g1", command_id="c1"):
    structlog.get_logger("a").info("done", seat=3)
    logging.getLogger("library").warning("mind %s", "that")
    structlog.get_logger("a").debug("unseen")
    try:
        raise KeyError("x")
    except KeyError:
        structlog.get_logger("a").exception("failed")
"""


def logged(form: str) -> str:
    program = LOGGING.format(form=form)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == ""
    return result.stderr


def test_json_logs_are_one_object_a_line_with_the_ids() -> None:
    done, library, failed = [json.loads(line) for line in logged("json").splitlines()]
    assert (done["event"], done["seat"], done["level"], done["logger"]) == ("done", 3, "info", "a")
    for line in (done, library, failed):
        assert (line["process"], line["game_id"], line["command_id"]) == ("engine", "g1", "c1")
        assert line["timestamp"].endswith("Z")
    assert (library["event"], library["level"]) == ("mind that", "warning")
    assert failed["exception"][0]["exc_type"] == "KeyError"


def test_console_logs_are_for_people() -> None:
    text = logged("console")
    assert "done" in text
    assert "game_id=g1" in text
    assert "KeyError" in text


def test_metrics_have_a_port_of_their_own() -> None:
    with MetricsServer("127.0.0.1") as server:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
            assert b"baohuang_request_seconds" in answer.read()
        port = server.port
    with MetricsServer("127.0.0.1", port) as server:
        assert server.port == port


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signals_ask_to_stop(number: signal.Signals) -> None:
    with stop_signals() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(stop.wait(), 5)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_ids() -> None:
    assert is_id(new_id())
    assert new_id() != new_id()
    for text in ("", "a b", "a" * 65, "ä", "a\n", "a/b"):
        assert not is_id(text)
