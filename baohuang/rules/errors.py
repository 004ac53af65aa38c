"""The tree of errors that the game raises; every reason is stable and shared by all interfaces.

BaohuangError
├── CardError       a text is no card, play or action
├── RuleSetError    options that cannot work together, or a given deal that cannot be played
├── RuleError       a command that the rules forbid in this state
└── RecordError     a record that is malformed or holds an impossible step
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Reason(StrEnum):
    """Why something was refused. The names are stable: clients may branch on them."""

    MALFORMED_CARD = "MALFORMED_CARD"
    MALFORMED_ACTION = "MALFORMED_ACTION"
    UNKNOWN_PRESET = "UNKNOWN_PRESET"
    UNKNOWN_OPTION = "UNKNOWN_OPTION"
    BAD_OPTION_VALUE = "BAD_OPTION_VALUE"
    OPTIONS_CONFLICT = "OPTIONS_CONFLICT"
    BAD_DEAL = "BAD_DEAL"
    BAD_SEED = "BAD_SEED"
    BAD_SEAT = "BAD_SEAT"
    NOT_STARTED = "NOT_STARTED"
    ALREADY_STARTED = "ALREADY_STARTED"
    ALREADY_DEALT = "ALREADY_DEALT"
    NONCE_REFUSED = "NONCE_REFUSED"
    GAME_OVER = "GAME_OVER"
    NOT_YOUR_TURN = "NOT_YOUR_TURN"
    ALREADY_ANSWERED = "ALREADY_ANSWERED"
    WRONG_STEP = "WRONG_STEP"
    TOO_LATE_TO_DECLARE = "TOO_LATE_TO_DECLARE"
    NOT_OFFERED = "NOT_OFFERED"
    CANNOT_YIELD = "CANNOT_YIELD"
    CANNOT_TAKE = "CANNOT_TAKE"
    CANNOT_CALL = "CANNOT_CALL"
    CARDS_NOT_HELD = "CARDS_NOT_HELD"
    NOT_A_PLAY = "NOT_A_PLAY"
    DOES_NOT_BEAT = "DOES_NOT_BEAT"
    LEADER_CANNOT_PASS = "LEADER_CANNOT_PASS"
    CARDS_HELD_BACK = "CARDS_HELD_BACK"
    ON_AUTO_PLAY = "ON_AUTO_PLAY"
    NOT_ON_AUTO_PLAY = "NOT_ON_AUTO_PLAY"
    AUTO_PLAY_FINAL = "AUTO_PLAY_FINAL"
    ALREADY_FORFEITED = "ALREADY_FORFEITED"
    BAD_RECORD = "BAD_RECORD"
    UNKNOWN_BOT = "UNKNOWN_BOT"


class BaohuangError(Exception):
    """Base of every error that this library raises on purpose.

    `reason` is a stable name, `clause` the id in the rules that it rests on ("" where none does), `details`
    structured facts; the message repeats them for people. None of them ever holds another seat's cards.
    """

    def __init__(self, reason: Reason, message: str, *, clause: str = "", **details: object) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.clause = clause
        self.details: Mapping[str, object] = details

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross processes (pools of workers). Exception's own way would call __init__ wrongly.
        return _restored, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        where = f" [{self.clause}]" if self.clause else ""
        return f"{self.reason}{where}: {self.message}"


def _restored(kind: type[BaohuangError], args: tuple[object, ...], facts: dict[str, object]) -> BaohuangError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


class CardError(BaohuangError, ValueError):
    """A text that is no card, play or action."""


class RuleSetError(BaohuangError, ValueError):
    """Options that cannot work together, or a given deal that cannot be played."""


class RuleError(BaohuangError):
    """A command that the rules forbid in this state; the state is unchanged."""


class RecordError(BaohuangError, ValueError):
    """A record that is malformed or holds an impossible step. `line` counts from 1."""

    def __init__(self, message: str, *, line: int, clause: str = "", **details: object) -> None:
        super().__init__(Reason.BAD_RECORD, f"line {line}: {message}", clause=clause, line=line, **details)
        self.line = line
