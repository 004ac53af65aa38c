"""A bot in a process of its own, which can be ended when the bot hangs and made anew when it falls."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

from baohuang.bots.bot import BotError
from baohuang.bots.hosts.direct import late
from baohuang.bots.hosts.frames import (
    BrokenPipe,
    LatePipe,
    OversizedFrame,
    Pipe,
    answer_from_json,
    fault_from_json,
    json_object,
)
from baohuang.bots.hosts.host import (
    MOST_NAME,
    MOST_VERSION,
    Answer,
    Decision,
    EndedGame,
    Fault,
    FaultKind,
    NewGame,
    Started,
    Times,
    fault,
    printable,
)

GRACE_SECONDS: Final = 0.25
"""What the way to the process and back may take beside the time that the bot has."""

_ENDING_SECONDS: Final = 1.0
_STANDARD_ERROR: Final = 2


class _Process:
    """A running process with the pipes to it. Raises OSError if it cannot be started."""

    def __init__(self, spec: str, *, shows_output: bool) -> None:
        requests, to_bot = os.pipe()
        from_bot, answers = os.pipe()
        output = _STANDARD_ERROR if shows_output else subprocess.DEVNULL
        try:
            self._popen = subprocess.Popen(  # noqa: S603 (our own program)
                [sys.executable, "-m", "baohuang.bots.hosts.child", spec, str(requests), str(answers)],
                pass_fds=(requests, answers),
                stdin=subprocess.DEVNULL,
                # What a bot prints must not be taken for the output of the program that hosts it.
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        finally:
            os.close(requests)
            os.close(answers)
        self.pipe = Pipe(to_bot, from_bot)

    def kill(self) -> int:
        """End it and all that it started; gives its exit code, negative for a signal."""
        self.pipe.close()
        # It may have ended by itself a moment ago; its own code is told then.
        ended_by_itself = self._popen.poll()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        code = self._popen.wait()
        return code if ended_by_itself is None else ended_by_itself

    def wait_ended(self) -> str:
        """How it ended that has closed its end of a pipe."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_ENDING_SECONDS)
        code = self.kill()
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with code {code}"


class ProcessHost:
    """Runs a bot in one process for all its games; after a fault that ended it, in a new one."""

    def __init__(self, spec: str, *, shows_output: bool = False) -> None:
        self.spec = spec
        self._shows_output = shows_output
        self._times = Times()
        self._games: dict[str, NewGame] = {}
        self._name, self._version = spec, ""
        self._process: _Process | None = None

    def start(self, games: Sequence[NewGame], times: Times) -> Started:
        """Begin games; the first ones wait for the process and the author's module too."""
        self._times = times
        was_running = self._is_running()
        faults = self._begin(games if was_running else [*self._games.values(), *games])
        if was_running and not self._is_running():
            # It had fallen before, or over these games: they get a process that has nothing behind it.
            faults = self._begin([*self._games.values(), *games])
        self._games |= {game.game_id: game for game in games if game.game_id not in faults}
        told = {game.game_id: faults[game.game_id] for game in games if game.game_id in faults}
        return Started(self._name, self._version, told)

    def choose(self, decisions: Sequence[Decision]) -> dict[str, Answer]:
        """One after another, each within the time of a move; a fault that ends the process is that one's."""
        answers: dict[str, Answer] = {}
        waiting = []
        for decision in decisions:
            if decision.game_id in self._games:
                waiting.append(decision)
            else:
                why = fault(FaultKind.CRASHED, "it did not start in this game")
                answers[decision.game_id] = Answer(fault=why)
        while waiting:
            if self._process is None:
                faults = self._begin(list(self._games.values()))
                for decision in [each for each in waiting if each.game_id in faults]:
                    answers[decision.game_id] = Answer(fault=faults[decision.game_id])
                    waiting.remove(decision)
                if not self._is_running():
                    break
                continue
            answered = self._ask(self._process, waiting)
            answers |= answered
            waiting = waiting[len(answered) :]
        return answers

    def end(self, games: Sequence[EndedGame]) -> None:
        """Let the bot forget these games."""
        for game in games:
            self._games.pop(game.game_id, None)
        if self._process is not None:
            try:
                self._process.pipe.send(pickle.dumps(("end", tuple(games))), time.monotonic() + GRACE_SECONDS)
            except (BrokenPipe, LatePipe):
                self._kill()

    def close(self) -> None:
        """End the process."""
        self._games.clear()
        self._kill()

    def _begin(self, games: Sequence[NewGame]) -> dict[str, Fault]:
        """Begin games in the process, made for them if there is none; gives the faults by game."""
        deadline = time.monotonic() + self._times.start_seconds + GRACE_SECONDS
        try:
            if self._process is None:
                self._process = _Process(self.spec, shows_output=self._shows_output)
            pipe = self._process.pipe
            pipe.send(pickle.dumps(("start", tuple(games), self._times)), deadline)
            return self._read_start(json_object(pipe.receive(deadline)))
        except LatePipe:
            why = late(self._times.start_seconds, is_start=True)
        except BrokenPipe:
            why = fault(FaultKind.CRASHED, self._how_it_ended(), is_start=True)
        except OversizedFrame:
            why = fault(FaultKind.OVERSIZED, "its process wrote too much", is_start=True)
        except (BotError, TypeError, ValueError) as error:
            why = fault(FaultKind.MALFORMED, f"its process wrote what is no answer ({error})", is_start=True)
        self._kill()
        return {game.game_id: why for game in games}

    def _read_start(self, body: dict[str, Any]) -> dict[str, Fault]:
        self._name = printable(body.get("name"), MOST_NAME)
        self._version = printable(body.get("version"), MOST_VERSION)
        faults = body.get("faults")
        if not isinstance(faults, dict):
            raise TypeError("no faults")
        return {str(game_id): fault_from_json(each, is_start=True) for game_id, each in faults.items()}

    def _ask(self, process: _Process, decisions: Sequence[Decision]) -> dict[str, Answer]:
        """The answers to the first decisions, up to the one that ended the process."""
        answers: dict[str, Answer] = {}
        seconds = self._times.move_seconds
        asked = time.monotonic()
        try:
            process.pipe.send(pickle.dumps(("choose", tuple(decisions))), asked + seconds + GRACE_SECONDS)
            for decision in decisions:
                message = process.pipe.receive(asked + seconds + GRACE_SECONDS)
                now = time.monotonic()
                answers[decision.game_id] = answer_from_json(message, now - asked)
                asked = now
            return answers
        except LatePipe:
            why = late(seconds)
        except BrokenPipe:
            why = fault(FaultKind.CRASHED, self._how_it_ended())
        except OversizedFrame:
            why = fault(FaultKind.OVERSIZED, "its process wrote too much")
        self._kill()
        answers[decisions[len(answers)].game_id] = Answer(fault=why, seconds=time.monotonic() - asked)
        return answers

    def _is_running(self) -> bool:
        return self._process is not None

    def _how_it_ended(self) -> str:
        process, self._process = self._process, None
        return "" if process is None else process.wait_ended()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
