"""`python -m services.local up` as a user starts it, and what is left of it afterwards."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from services.local.server import Deadline

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 240.0


class Up:
    """A running `up`, the lines that it has printed so far, and the processes that it has started."""

    def __init__(self, data_dir: Path, *arguments: str) -> None:
        self.data_dir = data_dir
        self.lines: list[str] = []
        self._unread: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "services.local", "up", "--data", str(data_dir), *arguments],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("BAOHUANG_")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def wait_for_line(self, pattern: str) -> re.Match[str]:
        """The next line, read or not, in which the pattern is found; fails if there will be none."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            line = self._unread.get(timeout=max(0.0, end - time.monotonic()))
            assert line is not None, f"it ended without a line like {pattern!r}:\n{self.output}"
            self.lines.append(line)
            if match := re.search(pattern, line):
                return match

    def wait_for_end(self) -> int:
        """The exit code, once it has ended and said all that it had to say."""
        code = self._process.wait(PATIENCE_SECONDS)
        while (line := self._unread.get(timeout=PATIENCE_SECONDS)) is not None:
            self.lines.append(line)
        return code

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def processes(self) -> dict[int, str]:
        """What it has started and what those have started, by process id, with their command lines."""
        commands = all_processes()
        family = {self.pid}
        while True:
            more = {pid for pid, (parent, _) in commands.items() if parent in family} - family
            if not more:
                return {pid: commands[pid][1] for pid in family - {self.pid}}
            family |= more

    def process(self, command: str) -> int:
        """The one process that it has started itself with this in its command line."""
        commands = all_processes()
        (found,) = [pid for pid, (parent, text) in commands.items() if parent == self.pid and command in text]
        return found

    def close(self) -> None:
        """End it whatever it does, and wait until nothing of it is left."""
        family = self.processes() if self._process.poll() is None else {}
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        wait_until_gone(family)
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._unread.put(line.rstrip("\n"))
        self._unread.put(None)


@contextmanager
def running_up(data_dir: Path, *arguments: str) -> Iterator[Up]:
    up = Up(data_dir, *arguments)
    try:
        yield up
    finally:
        up.close()


def all_processes() -> dict[int, tuple[int, str]]:
    """Parent and command line of every process by its id."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return {int(row[0]): (int(row[1]), row[2] if len(row) > 2 else "") for row in rows}


def wait_until(what: str, look: Callable[[], bool]) -> None:
    deadline = Deadline(PATIENCE_SECONDS)
    while not look():
        assert not deadline.has_passed(), f"waited {PATIENCE_SECONDS:.0f} s in vain: {what}"
        deadline.pause()


def wait_until_gone(family: dict[int, str]) -> None:
    """Until none of these processes is there any more."""

    def left() -> dict[int, str]:
        commands = all_processes()
        return {pid: text for pid, text in family.items() if pid in commands and commands[pid][1] == text}

    wait_until("processes outlived the supervisor", lambda: not left())
