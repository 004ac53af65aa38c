"""Bots that misbehave, each in one way. `BAD_BOTS` lists them with what a host must make of each.

`baohuang.testing.bad_bots:Crash` names one as a spec. Those that differ from a good bot in less than their
answer's action answer the first legal one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from baohuang.bots.choice import Candidate, Choice
from baohuang.bots.hosts.host import FaultKind
from baohuang.rules.actions import GUARD, PASS, Action, ActionKind
from baohuang.rules.cards import Card
from baohuang.rules.events import Step
from baohuang.rules.state import View

_FOR_EVER: Final = 3600.0


class _Bad:
    """A bot; its answer may be anything, so it has no type."""

    @property
    def name(self) -> str:
        return type(self).__name__

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return legal_actions[0]


class Crash(_Bad):
    """Raises an error in each move."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return 1 / 0


class CrashAtStart(_Bad):
    """Cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("the weights are not there")


class Quit(_Bad):
    """Ends its process in the middle of a move."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        os._exit(3)


class Abort(_Bad):
    """Falls as a fault in compiled code does, by a signal."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        os.abort()


class Hang(_Bad):
    """Waits for ever."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        time.sleep(_FOR_EVER)


class Spin(_Bad):
    """Computes for ever."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        while True:
            pass


class SlowStart(_Bad):
    """Is never done with starting up."""

    def __init__(self) -> None:
        time.sleep(_FOR_EVER)


class Cheat(_Bad):
    """Plays cards that it does not hold."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return Action.play("BJ " * 12)


class WrongTurn(_Bad):
    """Does what is not asked now: passes before play, declares in it."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return GUARD if view.public.step is Step.PLAY else PASS


class Mumble(_Bad):
    """Answers a text."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return "the seven of clubs, I think"


class Forge(_Bad):
    """Answers an action that was not made by the library's rules of form."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return Action("dance", (3, "of", "clubs"))  # type: ignore[arg-type]


class Bloat(_Bad):
    """Plays a million cards."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return Action(ActionKind.PLAY, (Card(0),) * 1_000_000)


class Garble(_Bad):
    """Writes a note that is no Unicode text."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        return Choice(legal_actions[0], "\udcff\udcfe not text \ud800")


class Ramble(_Bad):
    """Writes a note of ten megabytes and weighs a hundred thousand candidates, most of them by no number."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        candidates = (Candidate(legal_actions[0], float("nan")),) * 100_000
        return Choice(legal_actions[0], "保" * 3_500_000, candidates)


class Shout(_Bad):
    """Prints megabytes where a host might listen."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        for stream in (sys.stdout, sys.stderr):
            stream.write('{"action": "pass"}\n' * 100_000)
            stream.flush()
        return legal_actions[0]


class Flood(_Bad):
    """Writes megabytes into whatever its process has open, its host's pipes among it."""

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 (the folder is no place for files)
            try:
                os.write(int(name), b"\xff" * 60_000)
            except OSError:
                continue
        return legal_actions[0]


class Leak(_Bad):
    """Falls when it is asked about another game than before: it may be made for one game only."""

    def __init__(self) -> None:
        self.newest = 0

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Any:
        if view.public.version < self.newest:
            raise RuntimeError("this is another game than a moment ago")
        self.newest = view.public.version
        return legal_actions[0]


class BadBot(NamedTuple):
    """A bot that misbehaves, and its fault; None where only what it added is dropped, or nothing."""

    make: type[_Bad]
    kind: FaultKind | None
    is_start: bool = False
    ends_process: bool = False
    """Whether it may be run only in a process of its own: it ends or blocks the one in which it runs."""
    is_dropped: bool = False

    @property
    def spec(self) -> str:
        """Its name for hosts."""
        return f"{__name__}:{self.make.__name__}"


BAD_BOTS: Final = (
    BadBot(Crash, FaultKind.CRASHED),
    BadBot(CrashAtStart, FaultKind.CRASHED, is_start=True),
    BadBot(Quit, FaultKind.CRASHED, ends_process=True),
    BadBot(Abort, FaultKind.CRASHED, ends_process=True),
    BadBot(Hang, FaultKind.LATE, ends_process=True),
    BadBot(Spin, FaultKind.LATE, ends_process=True),
    BadBot(SlowStart, FaultKind.LATE, is_start=True, ends_process=True),
    BadBot(Cheat, FaultKind.ILLEGAL),
    BadBot(WrongTurn, FaultKind.ILLEGAL),
    BadBot(Mumble, FaultKind.MALFORMED),
    BadBot(Forge, FaultKind.MALFORMED),
    BadBot(Bloat, FaultKind.MALFORMED),
    BadBot(Garble, None, is_dropped=True),
    BadBot(Ramble, None, is_dropped=True),
    BadBot(Shout, None, ends_process=True),
    BadBot(Flood, FaultKind.OVERSIZED, ends_process=True),
    BadBot(Leak, None),
)
