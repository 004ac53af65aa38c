"""The processes of the local platform behind one face: the two stores, and our own services."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from pathlib import Path

from services.local.child import Child, Undertaker, describe_exit
from services.local.server import DISK_FULL_SIGN, Deadline, LocalServer

Pause = Callable[[float], None]
"""Waits that many seconds; raises to leave whatever is being waited for."""

READY_SECONDS = 90.0
STOP_SECONDS = 20.0
_LOOK_SECONDS = 0.05


class MemberFailed(RuntimeError):
    """A process of the platform did not become ready or ended; the text holds its last log lines."""

    def __init__(self, name: str, problem: str, log_path: Path, tail: str) -> None:
        shown = "\n".join(f"    {line}" for line in tail.splitlines()) or "    (it wrote nothing)"
        super().__init__(f"{name} {problem}. The end of {log_path}:\n{shown}{_hint(tail)}")
        self.name = name


class Member(abc.ABC):
    """One process of the platform. Apart, `launch` and `await_ready` let several get ready at once."""

    name: str
    log_path: Path

    @abc.abstractmethod
    def launch(self) -> None: ...

    @abc.abstractmethod
    def await_ready(self, pause: Pause) -> None:
        """Raises MemberFailed if it ends or is not ready in time, and whatever `pause` raises."""

    @abc.abstractmethod
    def how_it_ended(self) -> str | None:
        """None while it runs."""

    @abc.abstractmethod
    def log_tail(self) -> str: ...

    @abc.abstractmethod
    def stop(self) -> bool:
        """End it cleanly; False if it had to be killed. Does nothing when it does not run."""

    @property
    @abc.abstractmethod
    def pid(self) -> int | None:
        """None when it does not run."""

    def failure(self, problem: str) -> MemberFailed:
        return MemberFailed(self.name, problem, self.log_path, self.log_tail())


class StoreMember(Member):
    """Postgres or Valkey."""

    def __init__(self, name: str, server: LocalServer) -> None:
        self.name = name
        self.log_path = server.log_path
        self._server = server

    def launch(self) -> None:
        self._server.start()

    def await_ready(self, pause: Pause) -> None:
        pause(0)  # `launch` has waited already

    def how_it_ended(self) -> str | None:
        return None if self._server.is_running else "ended"

    def log_tail(self) -> str:
        return "\n".join(self._server.log.splitlines()[-15:])

    def stop(self) -> bool:
        self._server.stop()
        return True

    @property
    def pid(self) -> int | None:
        return self._server.pid


class ServiceMember(Member):
    """A service of ours: `python -m MODULE ...`, ready when `is_ready` says so."""

    def __init__(
        self,
        name: str,
        arguments: tuple[str, ...],
        *,
        log_path: Path,
        folder: Path,
        environment: Mapping[str, str],
        undertaker: Undertaker,
        is_ready: Callable[[], bool],
    ) -> None:
        self.name = name
        self.log_path = log_path
        self._arguments = arguments
        self._folder = folder
        self._environment = environment
        self._undertaker = undertaker
        self._is_ready = is_ready
        self._child: Child | None = None

    def launch(self) -> None:
        self._child = Child(
            self.name,
            self._arguments,
            log_path=self.log_path,
            folder=self._folder,
            environment=self._environment,
            undertaker=self._undertaker,
        )

    def await_ready(self, pause: Pause) -> None:
        deadline = Deadline(READY_SECONDS)
        while True:
            ended = self.how_it_ended()
            if ended is not None:
                raise self.failure(f"{ended} before it was ready")
            if self._is_ready():
                return
            if deadline.has_passed():
                raise self.failure(f"was not ready after {READY_SECONDS:.0f} s")
            pause(_LOOK_SECONDS)

    def run_to_end(self, pause: Pause) -> None:
        """For a process that does its work and ends; raises MemberFailed unless it ends well, in time."""
        self.launch()
        deadline = Deadline(READY_SECONDS)
        while self._child is not None and self._child.exit_code is None:
            if deadline.has_passed():
                raise self.failure(f"was not done after {READY_SECONDS:.0f} s")
            pause(_LOOK_SECONDS)
        if self._child is not None and self._child.exit_code != 0:
            raise self.failure(str(self.how_it_ended()))

    def how_it_ended(self) -> str | None:
        if self._child is None:
            return "was not started"
        code = self._child.exit_code
        return None if code is None else describe_exit(code)

    def log_tail(self) -> str:
        return "" if self._child is None else self._child.log_tail()

    def stop(self) -> bool:
        child = self._child
        if child is None or child.exit_code is not None:
            return True
        return child.stop(STOP_SECONDS)

    @property
    def pid(self) -> int | None:
        child = self._child
        return child.pid if child is not None and child.exit_code is None else None

    def kill(self) -> None:
        """End it and all that it started, at once."""
        if self._child is not None:
            self._child.kill()


def _hint(tail: str) -> str:
    if DISK_FULL_SIGN in tail:
        return "\nThe disk is full: free some space, or choose another folder with --data, and start again."
    if "Address already in use" in tail:
        return "\nAnother process took its port a moment before: start again."
    return ""
