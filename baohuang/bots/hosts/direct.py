"""Bots in this very process: for built-in ones, and for those whose author runs them himself."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence

from baohuang.bots.bot import Bot, BotError
from baohuang.bots.choice import checked_choice
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
from baohuang.bots.hosts.spec import Maker
from baohuang.rules.errors import BaohuangError


class DirectHost:
    """Calls bots one after another. What they raise is caught; they are told the time, and not held to it."""

    def __init__(self, spec: str, make: Maker) -> None:
        self.spec = spec
        self._make = make
        self._bots: dict[str, Bot] = {}
        self._times = Times()

    def start(self, games: Sequence[NewGame], times: Times) -> Started:
        """Make a bot for each game, so that nothing of one is left in the next."""
        self._times = times
        name, version = self.spec, ""
        faults: dict[str, Fault] = {}
        for game in games:
            try:
                bot = self._make(game.seed)
                name, version = introduce(bot, self.spec)
            except (Exception, SystemExit) as error:  # noqa: BLE001 (a bot may raise anything)
                faults[game.game_id] = fault(FaultKind.CRASHED, what_raised(error), is_start=True)
                continue
            self._bots[game.game_id] = bot
        return Started(name, version, faults)

    def choose(self, decisions: Sequence[Decision]) -> dict[str, Answer]:
        """Each decision after the other."""
        return {decision.game_id: self._choose(decision) for decision in decisions}

    def end(self, games: Sequence[EndedGame]) -> None:
        """Forget the bots of these games."""
        for game in games:
            self._bots.pop(game.game_id, None)

    def close(self) -> None:
        """Forget all bots."""
        self._bots.clear()

    def _choose(self, decision: Decision) -> Answer:
        limit = self._times.move_seconds
        bot = self._bots.get(decision.game_id)
        if bot is None:
            return Answer(fault=fault(FaultKind.CRASHED, "it did not start in this game"))
        started = time.perf_counter()
        try:
            choice, dropped = checked_choice(bot.choose(decision.view, list(decision.legal_actions), limit))
        except BotError as error:
            return Answer(fault=fault(FaultKind.MALFORMED, error.message))
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a bot may raise anything)
            return Answer(fault=fault(FaultKind.CRASHED, what_raised(error)))
        return Answer(choice, dropped=dropped, seconds=time.perf_counter() - started)


def introduce(bot: Bot, spec: str) -> tuple[str, str]:
    """The name and version of a bot; the version "" where it has none, the name its spec's then."""
    name = getattr(bot, "name", None)
    return (
        printable(name, MOST_NAME) if isinstance(name, str) and name else spec,
        printable(getattr(bot, "version", ""), MOST_VERSION),
    )


def late(seconds: float, *, is_start: bool = False) -> Fault:
    """The fault of whoever does not answer in time."""
    return fault(FaultKind.LATE, f"no answer within {seconds:g} s", is_start=is_start)


def what_raised(error: BaseException) -> str:
    """An error as one line, with the place where it was raised unless that is ours."""
    if isinstance(error, BotError):
        return error.message
    text = error.message if isinstance(error, BaohuangError) else str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" (line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""
    return f"{type(error).__name__}: {text}{where}" if text else f"{type(error).__name__}{where}"
