"""`python -m tests.faults.forge`: starts processes of the platform in a few milliseconds.

It has loaded all services and forks for each process, which then runs the service's own `main`. It also
starts and kills Postgres, since a process that uses gRPC, as the tests do, should not fork. One order a line
on standard input, one answer a line on standard output. At the end of its input it ends what it started.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from services.local.postgres import LocalPostgres

ROOT = Path(__file__).resolve().parents[2]
# kill -9 leaves the files' pages with the kernel, so that nothing has to be forced to disk for these tests.
POSTGRES_OPTIONS = {"autovacuum": "off", "fsync": "off"}
SERVICES = ("services.engine", "services.lobby", "services.replay")


class Forge:
    """The face of the process for tests. Used as a context manager."""

    def __enter__(self) -> Self:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BAOHUANG_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forge"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def start(self, service: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> int:
        """The process id."""
        return int(self.order("start", service, list(arguments), dict(environment), str(log)))

    def exit_code(self, pid: int) -> int | None:
        """Of a process that has ended by itself; None while it runs."""
        code = self.order("look", pid)
        return None if code is None else int(code)

    def kill(self, pid: int) -> int:
        """kill -9; gives the exit code once the process is gone: another than -9 if it ended by itself."""
        return int(self.order("kill", pid))

    def postgres(self, data_dir: Path, programs_of: LocalPostgres | None = None) -> ForgedPostgres:
        """A server, not started yet; `programs_of` spares its disk a copy of the programs."""
        bin_dir = None
        if programs_of is not None:
            copies = programs_of.data_dir.glob("programs-*/*/*/bin")
            bin_dir = next(copies, None)  # there is none where its user may enter the wheel's folder
        return ForgedPostgres(data_dir, bin_dir, self.order)

    def order(self, *words: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the forge has ended"
        return json.loads(answer)


class ForgedPostgres(LocalPostgres):
    """A server of which the forge takes care. Used as a context manager."""

    def __init__(self, data_dir: Path, bin_dir: Path | None, order: Callable[..., Any]) -> None:
        super().__init__(data_dir, bin_dir=bin_dir)
        self._words = [str(data_dir), None if bin_dir is None else str(bin_dir)]
        self._order = order

    def start(self) -> None:
        self.port = self._ask("start")

    def restart_if_ended(self) -> None:
        """Starts it again if it has ended by itself."""
        self._ask("restart_if_ended")

    def stop(self) -> None:
        self._ask("stop")

    def kill(self) -> None:
        self._ask("kill")

    def _ask(self, action: str) -> int:
        return int(self._order("postgres", action, *self._words))


def start(service: str, arguments: Sequence[str], environment: Mapping[str, str], log: str) -> int:
    """Forks; gives the child's process id."""
    pid = os.fork()
    return pid or _become(service, arguments, environment, log)


def _become(service: str, arguments: Sequence[str], environment: Mapping[str, str], log: str) -> NoReturn:
    code = 1
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for handle, standard in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(handle, standard)
        os.environ.update(environment)
        main = sys.modules[f"{service}.__main__"].main
        code = main(list(arguments)) if arguments else main()
    except BaseException:  # noqa: BLE001 (nothing of the forge's own may run in its child)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def kill(pid: int) -> int:
    """Kills a child and waits for its end; gives its exit code, negative for a signal."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def look(pid: int) -> int | None:
    """The exit code of a child that has ended, None while it runs. It stays to be looked at."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return None if ended is None else ended.si_status


class Clusters:
    """The servers by their folder."""

    def __init__(self) -> None:
        self._servers: dict[str, LocalPostgres] = {}

    def order(self, action: str, data_dir: str, bin_dir: str | None) -> int:
        """Starts, stops or kills a server; gives its port."""
        server = self._servers.get(data_dir)
        if server is None:
            programs = None if bin_dir is None else Path(bin_dir)
            server = LocalPostgres(Path(data_dir), bin_dir=programs, options=POSTGRES_OPTIONS)
            self._servers[data_dir] = server
        if action == "restart_if_ended":
            if not server.is_running:
                server.start()
        else:
            getattr(server, action)()
        return server.port

    def stop(self) -> None:
        for server in self._servers.values():
            server.stop()


def main() -> None:
    for service in SERVICES:
        importlib.import_module(f"{service}.__main__")
    for service in ("services.lobby", "services.replay"):
        importlib.import_module(f"{service}.process")
    gc.freeze()
    clusters, running = Clusters(), set[int]()
    answer: int | None
    for line in sys.stdin:
        order, *words = json.loads(line)
        if order == "start":
            answer = start(*words)
            running.add(answer)
        elif order == "look":
            answer = look(*words)
        elif order == "kill":
            running.discard(words[0])
            answer = kill(*words)
        else:
            answer = clusters.order(*words)
        print(json.dumps(answer), flush=True)
    for pid in running:
        kill(pid)
    clusters.stop()


if __name__ == "__main__":
    main()
