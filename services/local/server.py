"""What the two local servers share: a typed error, a free port, and a child process with manners."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

LOOPBACK = "127.0.0.1"

_LOG_TAIL_BYTES = 4_000


class LocalServerReason(StrEnum):
    """Stable reasons of a `LocalServerError`, for programs that want to tell them apart."""

    BINARIES_MISSING = "BINARIES_MISSING"
    PORT_IN_USE = "PORT_IN_USE"
    DISK_FULL = "DISK_FULL"
    WRONG_OWNER = "WRONG_OWNER"
    UNREACHABLE_FOLDER = "UNREACHABLE_FOLDER"
    VERSION_MISMATCH = "VERSION_MISMATCH"
    ALREADY_RUNNING = "ALREADY_RUNNING"
    NOT_RUNNING = "NOT_RUNNING"
    START_FAILED = "START_FAILED"
    STOP_FAILED = "STOP_FAILED"


class LocalServerError(RuntimeError):
    """A local server could not be started or stopped; `reason` is stable, the text is for people."""

    def __init__(self, reason: LocalServerReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def free_port() -> int:
    """A TCP port of the loopback interface that was free a moment ago; another process may still take it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def is_port_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers set this too: connections of a predecessor in TIME_WAIT do not make a port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
        return True


def make_folder(folder: Path) -> None:
    """Create a folder that only its owner may enter (parents keep the usual mode).

    Raises LocalServerError with DISK_FULL, WRONG_OWNER or START_FAILED.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise os_error(error, f"cannot create the folder {folder}") from error


def os_error(error: OSError, doing: str) -> LocalServerError:
    """The typed error for a failed file operation; `doing` says what was being done."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return LocalServerError(LocalServerReason.DISK_FULL, f"{doing}: the disk is full ({error})")
    if error.errno in (errno.EACCES, errno.EPERM):
        return LocalServerError(LocalServerReason.WRONG_OWNER, f"{doing}: not allowed ({error})")
    return LocalServerError(LocalServerReason.START_FAILED, f"{doing}: {error}")


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


class Deadline:
    """Counts down from `seconds`; `pause` waits a little between two looks at something another process
    does.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def has_passed(self) -> bool:
        return time.monotonic() >= self._end

    def pause(self) -> None:
        time.sleep(0.02)


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
