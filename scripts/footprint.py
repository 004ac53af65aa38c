"""Memory and processor time of each process of the platform while bots play, for the requests in deploy/.

Usage: python scripts/footprint.py [--tables N]     (default 20: four of each rule set, all at once)

Starts a platform of its own in a temporary folder. Memory is the proportional set size of a process and its
children: what would be gone if it ended.
"""

import argparse
import itertools
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from baohuang import PRESETS
from services.local.first_hands import play_first_hands
from services.local.platform import Platform

_EVERY_SECONDS: Final = 0.5
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")


class Footprint(NamedTuple):
    """Of one process with its children: bytes of memory, seconds of processor time since they began."""

    memory: int
    seconds: float


def footprint(pid: int) -> Footprint:
    """What the process and all its descendants use now; those that have just ended are left out."""
    memory, ticks = 0, 0
    for each in (pid, *_descendants(pid)):
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        memory += next(int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:"))
        ticks += int(fields[11]) + int(fields[12])
    return Footprint(memory, ticks / _TICKS_A_SECOND)


def _descendants(pid: int) -> Iterator[int]:
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listing.read_text().split()):
            yield child
            yield from _descendants(child)


class Sampler:
    """Keeps the largest memory of each process while the block runs."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.most = dict.fromkeys(pids, 0)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_EVERY_SECONDS):
            for name, pid in self._pids.items():
                self.most[name] = max(self.most[name], footprint(pid).memory)


def main() -> None:
    """Plays and prints one line for each process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=20)
    tables = parser.parse_args().tables
    presets = tuple(itertools.islice(itertools.cycle(PRESETS), tables))
    with tempfile.TemporaryDirectory(prefix="baohuang-footprint-") as folder:
        Path(folder).chmod(0o711)
        with Platform(Path(folder)) as platform:
            pids = {name: member.pid for name, member in platform.members.items() if member.pid is not None}
            before = {name: footprint(pid) for name, pid in pids.items()}
            started = time.monotonic()
            with Sampler(pids) as sampler:
                play_first_hands(platform, presets)
            wall = time.monotonic() - started
            after = {name: footprint(pid) for name, pid in pids.items()}
    print(f"{tables} hands of five bots at once in {wall:.1f} s on {os.cpu_count()} cores")
    print(f"{'process':<16} {'MiB idle':>9} {'MiB most':>9} {'CPU s':>7} {'cores':>6}")
    for name in sorted(pids):
        seconds = after[name].seconds - before[name].seconds
        print(
            f"{name:<16} {before[name].memory / 2**20:>9.0f} {sampler.most[name] / 2**20:>9.0f} "
            f"{seconds:>7.1f} {seconds / wall:>6.2f}"
        )


if __name__ == "__main__":
    main()
