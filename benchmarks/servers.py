"""Servers to measure: Postgres and Valkey from their wheels, and processes of ours beside them.

Postgres runs with its own defaults, so that every commit waits for the disk.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from services.eventstore import migrate_eventstore
from services.local.postgres import LocalPostgres
from services.local.valkey import LocalValkey

ROOT = Path(__file__).resolve().parents[1]


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """An empty folder that a server's own user may enter."""
    with tempfile.TemporaryDirectory(prefix="baohuang-bench-") as name:
        path = Path(name)
        path.chmod(0o711)
        yield path


@contextlib.contextmanager
def postgres(where: Path) -> Iterator[str]:
    """The address of a database with the event store's tables."""
    with LocalPostgres(where / "postgres") as server:
        migrate_eventstore(server.dsn)
        yield server.dsn


@contextlib.contextmanager
def valkey(where: Path) -> Iterator[str]:
    """The address of a server."""
    with LocalValkey(where / "valkey") as server:
        yield server.url


@contextlib.contextmanager
def listening(module: str, **settings: str) -> Iterator[str]:
    """A process of ours that says in its log where it listens; gives host:port."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BAOHUANG_")}
    environment |= {"BAOHUANG_LOG_FORMAT": "json", "BAOHUANG_LOG_LEVEL": "info", **settings}
    process = subprocess.Popen(
        [sys.executable, "-m", module], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            told = json.loads(line)
            if told["event"] == "listening":
                address = f"127.0.0.1:{told['port']}"
                break
            if told["event"] == "serving" and "address" in told:  # health says that it serves, too
                address = told["address"].removeprefix("http://")
                break
        else:
            raise RuntimeError(f"{module} ended")
        yield address
    finally:
        process.kill()
        process.communicate()
