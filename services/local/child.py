"""One of our own services as a child: its log, its end, and the end of everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from services.local.errors import os_error
from services.local.process import ChildProcess

_LONGEST_LOG_BYTES = 8_000_000
_GRACE_SECONDS = 15


class Undertaker:
    """A tiny shell that ends the process groups of our children if this process dies without doing so.

    `ChildProcess` has the leader of each group asked to end; what is still there after a grace period (a web
    server's worker whose parent was killed outlives it) is killed here. Used as a context manager.
    """

    _SCRIPT = """
groups=
while read -r sign group; do
    case $sign in
    +) groups="$groups $group" ;;
    -) kept=; for each in $groups; do [ "$each" = "$group" ] || kept="$kept $each"; done; groups=$kept ;;
    esac
done
[ -n "$groups" ] || exit 0
sleep "$1"
for each in $groups; do kill -s KILL -- "-$each"; done
"""

    def __enter__(self) -> Self:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", self._SCRIPT, "undertaker", str(_GRACE_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            start_new_session=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shell.kill()
        self._shell.wait()
        if self._shell.stdin is not None:
            self._shell.stdin.close()

    def watch(self, group: int) -> None:
        self._tell("+", group)

    def forget(self, group: int) -> None:
        self._tell("-", group)

    def _tell(self, sign: str, group: int) -> None:
        if self._shell.stdin is not None:
            # Without its shell the groups are still ended by everything but our own sudden death.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._shell.stdin.fileno(), f"{sign} {group}\n".encode())


class Child:
    """A Python module of ours, run as a process in a group of its own. Its output goes to `log_path`.

    Starting it raises LocalServerError (a full disk, a folder that may not be written).
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        log_path: Path,
        folder: Path,
        environment: Mapping[str, str],
        undertaker: Undertaker,
    ) -> None:
        self.name = name
        self.log_path = log_path
        self._undertaker = undertaker
        self._is_gone = False
        _rotate(log_path)
        self._process = ChildProcess(
            [sys.executable, "-m", *arguments],
            log_path=log_path,
            folder=folder,
            environment=environment,
            user_id=None,
            group_id=None,
            end_signal=signal.SIGTERM,
        )
        undertaker.watch(self.pid)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it. Once it has ended, so has its group."""
        code = self._process.return_code
        if code is not None:
            self._end_group()
        return code

    def log_tail(self, lines: int = 15) -> str:
        """The last lines that it has written since it was started."""
        return "\n".join(self._process.log().splitlines()[-lines:])

    def stop(self, timeout_seconds: float) -> bool:
        """Ask it to end and wait; False if it had to be killed after the timeout."""
        in_time = self._process.stop(timeout_seconds)
        self._end_group()
        return in_time

    def kill(self) -> None:
        """End it and all that it started, at once."""
        self._process.kill()
        self._end_group()

    def _end_group(self) -> None:
        if self._is_gone:
            return
        self._is_gone = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._undertaker.forget(self.pid)


def describe_exit(code: int) -> str:
    """An exit code in words, such as `was killed by SIGKILL`."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _rotate(log_path: Path) -> None:
    """Put a long log aside, so that the logs of many runs stay bounded."""
    try:
        if log_path.stat().st_size > _LONGEST_LOG_BYTES:
            log_path.replace(log_path.with_suffix(".log.old"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise os_error(error, f"cannot write {log_path}") from error
