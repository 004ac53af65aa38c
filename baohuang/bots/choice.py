"""What a bot answers: an action, and if it likes what it thought of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

from baohuang.bots.bot import BotError
from baohuang.rules.actions import Action
from baohuang.rules.errors import CardError, Reason

MOST_NOTE_BYTES: Final = 1_024
MOST_CANDIDATES: Final = 16


class Candidate(NamedTuple):
    """An action that was considered, and what it seemed to be worth, in whatever unit."""

    action: Action
    value: float


@dataclass(frozen=True, slots=True)
class Choice:
    """An action with a note of at most 1,024 bytes and up to 16 candidates, which the viewer shows."""

    action: Action
    note: str = ""
    candidates: tuple[Candidate, ...] = ()


class Checked(NamedTuple):
    """A choice that can be taken and kept, and what of the answer was dropped for it ("" if nothing)."""

    choice: Choice
    dropped: str


def checked_choice(answer: object) -> Checked:
    """A bot's answer, which may be anything, as a choice whose action is well made, though maybe not legal.

    A note or candidates that cannot be kept are dropped; the action counts. Raises `BotError`
    (MALFORMED_ACTION) for what is no action.
    """
    if not isinstance(answer, Choice):
        return Checked(Choice(checked_action(answer)), "")
    action = checked_action(answer.action)
    note, problem = _note(answer.note)
    candidates, more = _candidates(answer.candidates)
    return Checked(Choice(action, note, candidates), "; ".join([each for each in (problem, more) if each]))


def checked_action(answer: object) -> Action:
    """An answer as the action that it is, its cards in deck order; raises `BotError` (MALFORMED_ACTION)."""
    problem = f"answered {type(answer).__name__}, which is no action"
    if isinstance(answer, Action):
        kind, cards = tuple[object, object](answer)
        try:
            return Action.of(kind, cards)  # type: ignore[arg-type]  # a bot may have put anything into them
        except CardError as error:
            problem = f"answered an action that is none: {error.message}"
    raise BotError(Reason.MALFORMED_ACTION, problem, clause="R12")


def _note(note: object) -> tuple[str, str]:
    if not isinstance(note, str):
        return "", f"a note that is a {type(note).__name__}"
    # Most notes are short; a hostile one is not encoded just to be measured.
    if len(note) > MOST_NOTE_BYTES:
        return "", f"a note of more than {MOST_NOTE_BYTES:,} bytes"
    try:
        size = len(note.encode())
    except UnicodeEncodeError:
        return "", "a note that is no Unicode text"
    if size > MOST_NOTE_BYTES:
        return "", f"a note of more than {MOST_NOTE_BYTES:,} bytes"
    return note, ""


def _candidates(candidates: object) -> tuple[tuple[Candidate, ...], str]:
    if not isinstance(candidates, tuple | list):
        return (), f"candidates that are a {type(candidates).__name__}"
    kept = []
    problem = f"candidates beyond {MOST_CANDIDATES}" if len(candidates) > MOST_CANDIDATES else ""
    for candidate in candidates[:MOST_CANDIDATES]:
        try:
            action, value = candidate
            # A bool is a number to Python, an array's element often a float to its author.
            kept.append(Candidate(checked_action(action), _finite(float(value))))
        except (BotError, TypeError, ValueError, OverflowError):
            problem = problem or "a candidate that is no action with a finite number"
    return tuple(kept), problem


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value
