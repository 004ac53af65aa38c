"""The whole platform on this machine: two stores and our services, started, watched and stopped in order."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from services.local.child import Undertaker
from services.local.errors import LocalServerError, LocalServerReason
from services.local.members import Member, MemberFailed, Pause, ServiceMember, StoreMember
from services.local.ports import LOOPBACK, ReservedPort
from services.local.postgres import LocalPostgres
from services.local.probes import answers_http, serves_grpc
from services.local.restarts import MOST_RESTARTS, Restarts
from services.local.server import make_folder
from services.local.valkey import LocalValkey

PROJECT = Path(__file__).resolve().parents[2]

_MIGRATIONS = ("services.eventstore", "services.lobby", "services.replay")


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Where the processes listen on the loopback interface; 0 takes a free port."""

    postgres: int = 0
    valkey: int = 0
    engine: int = 0
    lobby: int = 0
    lobby_grpc: int = 0
    replay: int = 0

    @classmethod
    def setting(cls, name: str) -> str:
        """How a user sets one of these, for messages."""
        return f"--{name.replace('_', '-')}-port or BAOHUANG_{name.upper()}_PORT"


def _keep_quiet(_: str) -> None:
    pass


class Platform:
    """The running platform. Its data and logs lie in `data_dir` and outlive it.

    A database or broker named in `environment` (BAOHUANG_DATABASE_URL, BAOHUANG_VALKEY_URL,
    BAOHUANG_BROKER_URL) is used as it is; what is not named is started here. `tell` gets a line for people
    about each thing that happens; `pause` waits that many seconds and may raise to leave whatever is being
    waited for. The database's files go to `spare_postgres_dir` where Postgres, which root has run by another
    user, may not enter `data_dir`.

    Raises LocalServerError and MemberFailed from `start`; `stop` may be called at any time, twice too.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        ports: Ports | None = None,
        environment: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = _keep_quiet,
        pause: Pause = time.sleep,
        spare_postgres_dir: Path | None = None,
    ) -> None:
        self.data_dir = Path(data_dir).absolute()
        self._wanted_ports = ports or Ports()
        self._given_environment = dict(os.environ if environment is None else environment)
        self._environment = self._given_environment
        self._tell = tell
        self.pause = pause
        self._spare_postgres_dir = spare_postgres_dir
        self._undertaker = Undertaker()
        self._open = contextlib.ExitStack()
        self._tiers: list[list[Member]] = []
        self._restarts = Restarts()
        self.engine_target = ""
        self.lobby_url = ""
        self.lobby_grpc_target = ""
        self.replay_url = ""
        self.metrics_urls: dict[str, str] = {}
        """Where each process of ours is scraped, by name."""

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def log_dir(self) -> Path:
        return self.data_dir / "logs"

    @property
    def database_url(self) -> str:
        return self._environment["BAOHUANG_DATABASE_URL"]

    @property
    def valkey_url(self) -> str:
        return self._environment["BAOHUANG_VALKEY_URL"]

    @property
    def members(self) -> dict[str, Member]:
        """Every process by its name: postgres, valkey, engine, lobby, lobby-follower, replay, bots ..."""
        return {member.name: member for tier in self._tiers for member in tier}

    # --- start ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything and wait until all of it is ready."""
        make_folder(self.data_dir)
        make_folder(self.log_dir)
        self._environment = dict(self._given_environment)
        self._open.enter_context(self._undertaker)
        reserved = {
            name: self._reserve(name, getattr(self._wanted_ports, name))
            for name in ("engine", "lobby", "lobby_grpc", "replay")
        }
        self._start_stores()
        self._migrate()
        services = self._make_services(reserved)
        # The order of the end is that of this list, the order of the start its reverse.
        self._tiers[:0] = services
        for member in [member for tier in reversed(services) for member in tier]:
            member.launch()
        for member in [member for tier in reversed(services) for member in tier]:
            member.await_ready(self.pause)
            self._restarts.note_start(member.name, time.monotonic())
        self._tell("all processes are ready")

    def _start_stores(self) -> None:
        if not self._environment.get("BAOHUANG_DATABASE_URL"):
            self._check_fixed_port("postgres")
            postgres = self._start_postgres()
            self._environment["BAOHUANG_DATABASE_URL"] = postgres.dsn
        if not self._environment.get("BAOHUANG_VALKEY_URL"):
            self._check_fixed_port("valkey")
            valkey = LocalValkey(self.data_dir / "valkey", port=self._wanted_ports.valkey)
            self._start_store(StoreMember("valkey", valkey))
            self._environment["BAOHUANG_VALKEY_URL"] = valkey.url

    def _start_postgres(self) -> LocalPostgres:
        port = self._wanted_ports.postgres
        postgres = LocalPostgres(self.data_dir / "postgres", port=port)
        try:
            self._start_store(StoreMember("postgres", postgres))
        except LocalServerError as error:
            spare = self._spare_postgres_dir
            if error.reason is not LocalServerReason.UNREACHABLE_FOLDER or spare is None:
                raise
            self._tell(f"root's Postgres may not enter {self.data_dir}: the database is kept in {spare}")
            self._tiers.pop(0)
            postgres = LocalPostgres(spare, port=port)
            self._start_store(StoreMember("postgres", postgres))
        return postgres

    def _start_store(self, member: StoreMember) -> None:
        self._tell(f"starting {member.name}")
        # In the list before it runs: what an interruption leaves half started is stopped too.
        self._tiers.insert(0, [member])
        member.launch()
        member.await_ready(self.pause)
        self._restarts.note_start(member.name, time.monotonic())

    def _migrate(self) -> None:
        self._tell("bringing the database's tables up to date")
        for module in _MIGRATIONS:
            name = f"migrate-{module.rpartition('.')[2]}"
            member = self._service(name, (module, "migrate"), {}, is_ready=lambda: True)
            self._tiers.insert(0, [member])
            member.run_to_end(self.pause)
            self._tiers.pop(0)

    def _make_services(self, ports: Mapping[str, int]) -> list[list[Member]]:
        """Our services, those that are stopped first in front."""
        self._tell("starting engine, lobby, replay, followers and a bot worker")
        self.engine_target = f"{LOOPBACK}:{ports['engine']}"
        self.lobby_url = f"http://{LOOPBACK}:{ports['lobby']}"
        self.lobby_grpc_target = f"{LOOPBACK}:{ports['lobby_grpc']}"
        self.replay_url = f"http://{LOOPBACK}:{ports['replay']}"
        self._environment |= {
            "BAOHUANG_ENGINE_TARGET": self.engine_target,
            "BAOHUANG_HOST": LOOPBACK,
        }
        return [
            [
                self._worker("lobby-follower", ("services.lobby", "follow")),
                self._worker("bots", ("services.bots", "worker")),
            ],
            [
                self._web("lobby", self.lobby_url, BAOHUANG_GRPC_PORT=str(ports["lobby_grpc"])),
                self._engine(ports["engine"]),
            ],
            [
                self._worker("replay-follower", ("services.replay", "follow")),
                self._web("replay", self.replay_url),
            ],
        ]

    def _web(self, name: str, url: str, **more: str) -> Member:
        self.metrics_urls[name] = f"{url}/metrics"
        environment = {"BAOHUANG_PORT": url.rpartition(":")[2], **more}
        return self._service(
            name, (f"services.{name}",), environment, is_ready=partial(answers_http, f"{url}/health/ready")
        )

    def _worker(self, name: str, arguments: tuple[str, ...]) -> Member:
        port = self._reserve(name, 0)
        address = f"http://{LOOPBACK}:{port}"
        self.metrics_urls[name] = f"{address}/metrics"
        environment = {"BAOHUANG_METRICS_PORT": str(port)}
        return self._service(
            name, arguments, environment, is_ready=partial(answers_http, f"{address}/health/ready")
        )

    def _engine(self, port: int) -> Member:
        metrics_port = self._reserve("engine", 0)
        self.metrics_urls["engine"] = f"http://{LOOPBACK}:{metrics_port}/metrics"
        environment = {"BAOHUANG_PORT": str(port), "BAOHUANG_METRICS_PORT": str(metrics_port)}
        return self._service(
            "engine", ("services.engine",), environment, is_ready=partial(serves_grpc, self.engine_target)
        )

    def _service(
        self,
        name: str,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        is_ready: Callable[[], bool],
    ) -> ServiceMember:
        return ServiceMember(
            name,
            arguments,
            log_path=self.log_dir / f"{name}.log",
            folder=PROJECT,
            environment={**self._environment, **environment},
            undertaker=self._undertaker,
            is_ready=is_ready,
        )

    def _reserve(self, name: str, wanted: int) -> int:
        port = ReservedPort(wanted, f"the {name}", Ports.setting(name))
        self._open.callback(port.release)
        return port.number

    def _check_fixed_port(self, name: str) -> None:
        """Say who is in the way before the server says only that somebody is."""
        wanted = getattr(self._wanted_ports, name)
        if wanted:
            ReservedPort(wanted, name, Ports.setting(name)).release()

    # --- watch ----------------------------------------------------------------------------------------------

    def look_after(self) -> None:
        """Start again whatever has ended, after a pause that grows; to be called every now and then.

        Raises GaveUp when a process has ended too often, and what its start raises if it cannot start.
        """
        for member in [member for tier in reversed(self._tiers) for member in tier]:
            how = member.how_it_ended()
            if how is not None:
                self._start_again(member, how)

    def _start_again(self, member: Member, how: str) -> None:
        failure = member.failure(how)
        self._tell(str(failure))
        restart = self._restarts.after_end(member.name, time.monotonic())
        attempt = f"{restart.number} of {MOST_RESTARTS}"
        self._tell(f"{member.name} is started again in {restart.wait_seconds:.0f} s ({attempt})")
        self.pause(restart.wait_seconds)
        member.launch()
        self._restarts.note_start(member.name, time.monotonic())
        try:
            member.await_ready(self.pause)
        except MemberFailed as error:
            # It counts as one more end; the next look starts it again or gives up.
            self._tell(str(error))
            member.stop()
            return
        self._tell(f"{member.name} is ready again")

    # --- stop -----------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """End every process cleanly, those that give out work first and the stores last; the data stay."""
        while self._tiers:
            tier = self._tiers[0]
            with ThreadPoolExecutor(len(tier)) as pool:
                list(pool.map(self._stop_member, tier))
            self._tiers.pop(0)
        self._open.close()

    def kill(self) -> None:
        """End our services at once. The stores, whose data must stay whole, end when this process does."""
        for member in self.members.values():
            if isinstance(member, ServiceMember):
                member.kill()

    def _stop_member(self, member: Member) -> None:
        try:
            in_time = member.stop()
        except LocalServerError as error:
            self._tell(str(error))
        else:
            if not in_time:
                self._tell(f"{member.name} did not end when asked and was killed")
