"""The platform's processes on real servers: engine, lobby, follower and a worker of the bots."""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
import pytest
from psycopg.rows import dict_row

from baohuang import Game, Record
from baohuang.rpc.codec import decode_events
from services.eventstore import Pool, make_pool, migrate
from services.lobby import feeds
from services.lobby.__main__ import MIGRATIONS
from services.local.ports import free_port
from services.local.server import Deadline
from services.local.valkey import LocalValkey
from tests.integration.lobby.scene import Scene, opened_scene

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 180.0

Value = TypeVar("Value")


def wait_for(what: str, look: Callable[[], Value | None], seconds: float = PATIENCE_SECONDS) -> Value:
    """What `look` gives once it gives something; fails when that takes too long."""
    deadline = Deadline(seconds)
    while True:
        found = look()
        if found:
            return found
        if deadline.has_passed():
            pytest.fail(f"waited {seconds:.0f} s in vain for {what}")
        deadline.pause()


@dataclass
class Process:
    """One process of the platform; its output goes to a file that is shown when it does not come up."""

    arguments: list[str]
    environment: dict[str, str]
    log: Path
    health_port: int | None = None
    running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                [sys.executable, "-m", *self.arguments],
                cwd=ROOT,
                env=os.environ | self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def wait_ready(self) -> None:
        if self.health_port is None:
            return
        wait_for(f"{self.arguments} to be ready", self.is_ready)

    def is_ready(self) -> bool:
        assert self.running is not None
        assert self.running.poll() is None, self.log.read_text()
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.health_port}/health/ready", timeout=5)
        except httpx.TransportError:
            return False
        return answer.status_code == 200

    def kill(self) -> None:
        """As kill -9 does: only the process itself, unasked."""
        assert self.running is not None
        self.running.kill()
        self.running.wait()

    def stop(self) -> int:
        """The exit code."""
        assert self.running is not None
        self.running.terminate()
        return self.running.wait(PATIENCE_SECONDS)

    def clean_up(self) -> None:
        if self.running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()


@dataclass
class Platform:
    """All processes, and what a test asks of them."""

    database: psycopg.Connection[dict[str, Any]]
    valkey: LocalValkey
    processes: dict[str, Process]
    http: httpx.Client
    grpc_target: str

    @contextlib.contextmanager
    def another(self, name: str) -> Iterator[Process]:
        """A second process of a kind beside the first, with its health on another port."""
        first, port = self.processes[name], free_port()
        environment = first.environment | {"BAOHUANG_METRICS_PORT": str(port)}
        second = Process(first.arguments, environment, first.log.with_suffix(".2.log"), port)
        try:
            second.start()
            second.wait_ready()
            yield second
            assert second.stop() == 0
        finally:
            second.clean_up()

    def register(self, name: str, is_bot: bool = False) -> httpx.Client:
        """A client with the token of a new player, who is called so and something more."""
        answer = self.http.post(
            "/v1/players", json={"name": f"{name} {secrets.token_hex(6)}", "is_bot": is_bot}
        )
        assert answer.status_code == 201, answer.text
        secret = answer.json()["secret"]
        return httpx.Client(
            base_url=self.http.base_url, timeout=30, headers={"Authorization": f"Bearer {secret}"}
        )

    def open_table(self, preset: str, hands: int = 1, **options: Any) -> dict[str, Any]:
        answer = self.http.post(
            "/v1/tables",
            json={
                "rules": {"preset": preset, "options": options},
                "bots": ["greedy", "random", "greedy", "random", "greedy"],
                "hands": hands,
            },
        )
        assert answer.status_code == 201, answer.text
        table: dict[str, Any] = answer.json()
        return table

    def table(self, table_id: str) -> dict[str, Any]:
        answer = self.http.get(f"/v1/tables/{table_id}")
        assert answer.status_code == 200, answer.text
        table: dict[str, Any] = answer.json()
        return table

    def wait_finished(self, table_id: str) -> dict[str, Any]:
        unfinished = "select from lobby.tables where table_id = %s and status in ('starting', 'playing')"
        wait_for(f"the end of table {table_id}", lambda: not self.query(unfinished, table_id))
        return self.table(table_id)

    def wait_events(self, game_id: str, count: int) -> None:
        wait_for(f"{count} events of {game_id}", lambda: self.version(game_id) >= count)

    def version(self, game_id: str) -> int:
        rows = self.query("select max(version) as version from eventstore.log where stream = %s", game_id)
        return int(rows[0]["version"] or 0)

    def replay(self, game_id: str) -> Game:
        """The game of a log, checked step by step by the rules: a doubled or lost move could not pass."""
        rows = self.query("select payload from eventstore.log where stream = %s order by version", game_id)
        events = [event for row in rows for event in decode_events(row["payload"])]
        return Game.replay(Record(tuple(events)).dumps())

    def query(self, statement: str, *parameters: object) -> list[dict[str, Any]]:
        return self.database.execute(statement, parameters).fetchall()

    def kill(self, name: str) -> None:
        if name == "valkey":
            self.valkey.kill()
        else:
            self.processes[name].kill()

    def restart(self, name: str) -> None:
        if name == "valkey":
            self.valkey.start()
        else:
            self.processes[name].start()
            self.processes[name].wait_ready()


EMPTY = """
truncate eventstore.commits, eventstore.archived_commits, eventstore.checkpoints, eventstore.parked_commits,
    lobby.answers, lobby.departures, lobby.hands, lobby.name_keys, lobby.players, lobby.seats, lobby.sittings,
    lobby.tables, lobby.tickets, lobby.tokens, lobby.turns
restart identity"""


@pytest.fixture(scope="session")
def migrated_database(databases: Any) -> Iterator[str]:
    """The address of a database with the event store's and the lobby's tables."""
    dsn = databases.create("lobby", "template_eventstore")
    migrate(dsn, "lobby", MIGRATIONS)
    yield dsn
    databases.drop("lobby")


@pytest.fixture
def lobby_database(migrated_database: str) -> str:
    """The same with all tables empty."""
    with psycopg.connect(migrated_database) as connection:
        connection.execute(EMPTY)
    return migrated_database


@pytest.fixture
async def lobby_pool(lobby_database: str) -> AsyncIterator[Pool]:
    async with make_pool(lobby_database, max_size=20, application="test") as opened:
        yield opened


@pytest.fixture(autouse=True)
def kept_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Feeds keep whole hands: a test plays one in a moment, before a reader in this process has his turn."""
    monkeypatch.setattr(feeds, "MOST_EVENTS", 5_000)


@pytest.fixture
async def scene(lobby_pool: Pool, valkey: LocalValkey) -> AsyncIterator[Scene]:
    async with opened_scene(lobby_pool, valkey.url) as opened:
        yield opened


@pytest.fixture(scope="session")
def platform(postgres: Any, databases: Any, server_folder: Path) -> Iterator[Platform]:
    dsn = databases.create("platform")
    folder = server_folder / "platform"
    folder.mkdir()
    names = ("engine", "engine_metrics", "lobby", "lobby_grpc", "follower", "worker")
    ports = {name: free_port() for name in names}
    with LocalValkey(server_folder / "platform-valkey") as valkey:
        common = {
            "BAOHUANG_DATABASE_URL": dsn,
            "BAOHUANG_VALKEY_URL": valkey.url,
            "BAOHUANG_ENGINE_TARGET": f"127.0.0.1:{ports['engine']}",
            # All players of the tests have one address.
            "BAOHUANG_LIMIT_FACTOR": "1000",
        }

        def process(name: str, arguments: str, health_port: int | None, **more: int) -> Process:
            ports_of = {f"BAOHUANG_{variable.upper()}": str(port) for variable, port in more.items()}
            return Process(arguments.split(), common | ports_of, folder / f"{name}.log", health_port)

        processes = {
            "engine": process(
                "engine", "services.engine", None, port=ports["engine"], metrics_port=ports["engine_metrics"]
            ),
            "lobby": process(
                "lobby", "services.lobby", ports["lobby"], port=ports["lobby"], grpc_port=ports["lobby_grpc"]
            ),
            "follower": process(
                "follower", "services.lobby follow", ports["follower"], metrics_port=ports["follower"]
            ),
            "worker": process(
                "worker",
                "services.bots worker --concurrency 2",
                ports["worker"],
                metrics_port=ports["worker"],
            ),
        }
        for service in ("eventstore", "lobby"):
            subprocess.run(
                [sys.executable, "-m", f"services.{service}", "migrate"],
                cwd=ROOT,
                env=os.environ | common,
                check=True,
            )
        try:
            for each in processes.values():
                each.start()
            for each in processes.values():
                each.wait_ready()
            with (
                httpx.Client(base_url=f"http://127.0.0.1:{ports['lobby']}", timeout=30) as http,
                psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as database,
            ):
                platform = Platform(database, valkey, processes, http, f"127.0.0.1:{ports['lobby_grpc']}")
                # Most tests are one player's, whose requests carry his token.
                with platform.register("tester") as player:
                    http.headers["Authorization"] = player.headers["Authorization"]
                yield platform
        finally:
            for each in processes.values():
                each.clean_up()
    databases.drop("platform")
