"""A child process with manners."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from services.local.errors import LocalServerError, LocalServerReason, os_error

_LOG_TAIL_BYTES = 4_000


class ChildProcess:
    """A server as a child in a session of its own, which ends with this process however this process ends.

    Its own session keeps the terminal's Ctrl-C away from it, so that a supervisor can decide the order of the
    end. A tiny shell, the guard, waits on a pipe that only this process holds open: when this process dies,
    even by SIGKILL, the pipe closes and the guard sends `end_signal` to the server.
    """

    def __init__(
        self,
        arguments: Sequence[str | Path],
        *,
        log_path: Path,
        folder: Path,
        environment: Mapping[str, str],
        user_id: int | None,
        group_id: int | None,
        end_signal: signal.Signals,
    ) -> None:
        self._end_signal = end_signal
        self._log_path = log_path
        try:
            with log_path.open("ab") as log:
                self._log_start = log.tell()
                self._server = subprocess.Popen(
                    [str(argument) for argument in arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env=dict(environment),
                    user=user_id,
                    group=group_id,
                    extra_groups=None if user_id is None else [],
                    start_new_session=True,
                )
        except FileNotFoundError as error:
            raise LocalServerError(
                LocalServerReason.BINARIES_MISSING, f"{arguments[0]} cannot be started: {error}"
            ) from error
        except OSError as error:
            raise os_error(error, f"cannot start {arguments[0]}") from error
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", 'read -r _; kill -s "$1" "$2"', "guard", end_signal.name[3:], str(self.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            user=user_id,
            group=group_id,
            extra_groups=None if user_id is None else [],
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._server.pid

    @property
    def return_code(self) -> int | None:
        """None while the server runs."""
        code = self._server.poll()
        if code is not None:
            self._dismiss_guard()
        return code

    def log(self) -> str:
        """The end of what the server has written since it was started."""
        try:
            with self._log_path.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_start, size - _LOG_TAIL_BYTES))
                return log.read().decode(errors="replace").strip()
        except OSError as error:
            return f"(the log {self._log_path} cannot be read: {error})"

    def stop(self, timeout_seconds: float) -> bool:
        """Ask the server to end cleanly and wait; False if it had to be killed after the timeout."""
        with contextlib.suppress(ProcessLookupError):
            self._server.send_signal(self._end_signal)
        self._dismiss_guard()
        try:
            self._server.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """End the server's process group at once, as a power cut would."""
        if self._server.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
        self._dismiss_guard()
        self._server.wait()

    def _dismiss_guard(self) -> None:
        # A guard that outlived its server could signal whatever process is given the server's id next.
        self._guard.kill()
        self._guard.wait()
        if self._guard.stdin is not None:
            self._guard.stdin.close()


def children_of(pid: int) -> list[int]:
    """The ids of the processes whose parent is `pid` now."""
    listing = Path("/proc")
    if not listing.is_dir():  # macOS
        shown = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        ).stdout
        pairs = [line.split() for line in shown.splitlines()]
        return [int(child) for child, parent in pairs if int(parent) == pid]
    children = []
    for entry in listing.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                # "pid (name) state parent ..."; the name may hold spaces and brackets.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    children.append(int(entry.name))
    return children
