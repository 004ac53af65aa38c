"""The program in a bot's own process: `python -m baohuang.bots.hosts.child SPEC REQUESTS ANSWERS`.

`REQUESTS` and `ANSWERS` are file descriptors of pipes (baohuang.bots.hosts.frames).
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import sys
import threading
from collections.abc import Sequence
from typing import Any, Final

from baohuang.bots.hosts.direct import DirectHost, what_raised
from baohuang.bots.hosts.frames import answer_to_json, packed, started_to_json
from baohuang.bots.hosts.host import FaultKind, NewGame, Started, Times, fault
from baohuang.bots.hosts.spec import load_maker

_LENGTH: Final = struct.Struct(">I")


class Child:
    """Does what the host asks, in order."""

    def __init__(self, spec: str, answers: int) -> None:
        self._spec = spec
        self._answers = answers
        self._host: DirectHost | None = None

    def do(self, request: tuple[Any, ...]) -> None:
        match request:
            case ("start", games, times):
                started = self._start(games, times)
                self._write(started_to_json(*_introduction(started)))
            case ("choose", decisions):
                for decision in decisions:
                    if self._host is not None:
                        answer = self._host.choose([decision])[decision.game_id]
                        self._write(answer_to_json(answer))
            case ("end", games):
                if self._host is not None:
                    self._host.end(games)

    def _start(self, games: Sequence[NewGame], times: Times) -> Started:
        if self._host is None:
            try:
                self._host = DirectHost(self._spec, load_maker(self._spec))
            except (Exception, SystemExit) as error:  # noqa: BLE001 (an author's module may raise anything)
                why = fault(FaultKind.CRASHED, what_raised(error), is_start=True)
                return Started(self._spec, "", {game.game_id: why for game in games})
        return self._host.start(games, times)

    def _write(self, message: bytes) -> None:
        data = memoryview(packed(message))
        while data:
            data = data[os.write(self._answers, data) :]


def _introduction(started: Started) -> tuple[Any, ...]:
    return started.name, started.version, started.faults


def _read(requests: int, found: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    """Hand on requests as they come, and end the process when the host is gone, whatever the bot does."""
    try:
        with os.fdopen(requests, "rb") as stream:
            while header := stream.read(_LENGTH.size):
                data = stream.read(_LENGTH.unpack(header)[0])
                found.put(pickle.loads(data))  # noqa: S301 (the host alone writes into this pipe)
    finally:
        os._exit(0)


def main(arguments: Sequence[str]) -> None:
    """Run until the host closes its end."""
    spec, requests, answers = arguments[0], int(arguments[1]), int(arguments[2])
    # What the bot starts does not keep the pipes open.
    os.set_inheritable(requests, False)
    os.set_inheritable(answers, False)
    found: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, found), daemon=True).start()
    child = Child(spec, answers)
    while True:
        child.do(found.get())


if __name__ == "__main__":
    main(sys.argv[1:])
