"""A game as text: JSON Lines, one event a line (docs/record-format.md); its replay up to the first fault."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from baohuang.codec_json import Json, MalformedError, event_from_json, event_to_json, hidden_field, show
from baohuang.rules import events as ev
from baohuang.rules.actions import PASS, SOLO, Action, ActionKind
from baohuang.rules.commands import (
    Act,
    AddNonce,
    AutoAct,
    Command,
    Deal,
    Forfeit,
    Start,
    StartAutoPlay,
    StopAutoPlay,
)
from baohuang.rules.decide import execute
from baohuang.rules.errors import BaohuangError, RecordError
from baohuang.rules.events import Event, Step
from baohuang.rules.roles import Seat
from baohuang.rules.state import State

FORMAT: Final = "baohuang-record"
SCHEMA: Final = 1
_MOST_CHARACTERS: Final = 64 * 1024
"""Of a line; the longest that `dumps` writes, a deal, has about a thousand."""
_MOST_DIGITS: Final = 18


@dataclass(frozen=True)
class Record:
    """The events of a game, finished or running, whole or as a viewer may see them."""

    events: tuple[Event, ...]

    def dumps(self) -> str:
        """JSON Lines: one event a line, each ended by a line feed; the first line names the format."""
        lines = [event_to_json(event) for event in self.events]
        if lines:
            lines[0] = {"format": FORMAT, "schema": SCHEMA, **lines[0]}
        return "".join([json.dumps(line, ensure_ascii=False) + "\n" for line in lines])

    @property
    def is_over(self) -> bool:
        """Whether it goes to the end of the hand."""
        return bool(self.events) and isinstance(self.events[-1], ev.HandEnded)

    def first_hidden(self) -> tuple[int, str] | None:
        """Line and name of the first field hidden from the viewer whose record this is, if any is."""
        for line, event in enumerate(self.events, 1):
            field = hidden_field(event)
            if (
                line == 1
                and isinstance(event, ev.GameStarted)
                and event.seed is None
                and not self._is_given()
            ):
                field = "seed"
            if field:
                return line, field
        return None

    def _is_given(self) -> bool:
        """Whether a game without a seed can be one with given hands."""
        dealt = self.events[1] if len(self.events) > 1 else None
        return not isinstance(dealt, ev.Dealt) or dealt.deck is not None

    @classmethod
    def loads(cls, text: str | bytes) -> Record:
        """The record of a text, or of its UTF-8 bytes; raises `RecordError` with the line of the first fault.

        Only the form is judged; `replay` tells whether the game could happen.
        """
        if isinstance(text, bytes):
            text = _decode(text)
        elif not isinstance(text, str):
            raise RecordError(f"a record is a text or bytes, not {type(text).__name__}", line=1)
        # Not splitlines: that would also cut at U+2028 and its like, which JSON allows inside a text.
        lines = text.split("\n")
        while lines and not lines[-1].strip(" \t\r"):
            del lines[-1]
        if not lines:
            raise RecordError("the record is empty", line=1)
        return cls(tuple([_parse_line(line, number) for number, line in enumerate(lines, 1)]))


def replay(record: Record) -> tuple[tuple[Event, ...], State]:
    """The events of a record and the state after them, every step decided anew.

    What follows from each move must be exactly what the record holds, and the hands must follow from the seed
    where there is one. A running game gives its running state. Raises `RecordError` with the line of the
    first step that cannot be, or of the first hidden field (a viewer's record), or of the last line if the
    record stops in the middle of what follows from one move.
    """
    events = record.events
    if hidden := record.first_hidden():
        line, field = hidden
        raise RecordError(f"{field} is hidden: a viewer's record cannot be replayed", line=line)
    command: Command | None = start_of(events)
    state: State | None = None
    done = 0
    while True:
        if command is None:
            name = event_to_json(events[done])["event"]
            raise RecordError(f"{name} cannot stand here: nothing before it leads to it", line=done + 1)
        try:
            expected, state = execute(state, command)
        except BaohuangError as error:
            raise RecordError(
                error.message, line=_line_of(error, command, done), clause=error.clause, cause=error.reason
            ) from error
        for place, event in enumerate(expected, done):
            if place == len(events):
                missing = event_to_json(event)["event"]
                raise RecordError(
                    f"the record stops in the middle of a move: {missing} must follow", line=place
                )
            if events[place] != event:
                raise RecordError(_difference(events[place], event), line=place + 1)
        done += len(expected)
        if done == len(events):
            return events, state
        command = command_of(state, events[done])


def start_of(events: Sequence[Event]) -> Start:
    """The command that began a game with these events; raises `RecordError` if they do not begin like a game.

    A game dealt from a seed comes back as one that awaits nonces: its deal is a command of its own, with the
    same result.
    """
    first = events[0] if events else None
    if not isinstance(first, ev.GameStarted):
        raise RecordError("a record begins with game_started", line=1)
    if first.seed is not None:
        return Start(first.rules, first.first_drawer, first.dues, first.seed, first.salt, await_nonces=True)
    dealt = events[1] if len(events) > 1 else None
    if not isinstance(dealt, ev.Dealt) or dealt.deck is None:
        raise RecordError("without a seed, the hands must be given in the next line", line=1)
    given = events[2] if len(events) > 2 else None
    hands = tuple([hand or () for hand in dealt.hands])
    opening = given.opening if isinstance(given, ev.OpeningGiven) else None
    return Start(first.rules, first.first_drawer, first.dues, salt=first.salt, hands=hands, opening=opening)


def command_of(state: State, event: Event) -> Command | None:
    """The command that `event` begins in `state`; None if it begins none and only follows from others."""
    match event:
        case ev.NonceAdded():
            return AddNonce(event.seat, event.nonce)
        case ev.Dealt() if state.public.step is Step.NONCES:
            return Deal()
        case ev.AutoPlayStarted():
            return StartAutoPlay(event.seat, event.why)
        case ev.AutoPlayEnded():
            return StopAutoPlay(event.seat)
        case ev.SeatForfeited():
            return Forfeit(event.seat, event.why)
    move = _move_of(event)
    if move is None:
        return None
    seat, action = move
    return AutoAct(seat) if state.public.auto_play[seat] else Act(seat, action)


def _move_of(event: Event) -> tuple[Seat, Action] | None:
    """Who did what, for the events that begin with an action."""
    match event:
        case ev.ThroneAnswered():
            return event.seat, Action(event.answer)
        case ev.CallAnswered():
            return event.seat, SOLO if event.card is None else Action(ActionKind.CALL, (event.card,))
        case ev.Answered(action=Action() as action):
            return event.seat, action
        case ev.Played():
            return event.seat, Action(ActionKind.PLAY, tuple(sorted(event.cards)))
        case ev.Passed():
            return event.seat, PASS
        case _:
            return None


def _line_of(error: BaohuangError, command: Command, done: int) -> int:
    """The line at fault: a given deal and its opening stand in the lines after the first."""
    if not isinstance(command, Start) or error.clause in ("", "R2.2", "R10.6"):
        return done + 1
    return 2 if error.clause == "R2.7" else 3


def _difference(got: Event, expected: Event) -> str:
    """What stands in the record and what follows by the rules, cut down to the first value that differs."""
    here, there = event_to_json(got), event_to_json(expected)
    name = here.pop("event")
    if name != there.pop("event"):
        return f"{name} cannot follow here; by the rules {event_to_json(expected)['event']} does"
    path, left, right = _first_difference("", here, there)
    return f"{name}: {path} cannot be {show(left)}; by the rules it is {show(right)}"


def _first_difference(path: str, got: Any, expected: Any) -> tuple[str, Json, Json]:
    if type(got) is type(expected) and isinstance(got, dict | list) and len(got) == len(expected):
        keys = got.keys() if isinstance(got, dict) else range(len(got))
        for key in keys:
            if got[key] != expected[key]:
                return _first_difference(f"{path}.{key}" if path else str(key), got[key], expected[key])
    return path, got, expected


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RecordError("not UTF-8", line=data.count(b"\n", 0, error.start) + 1) from None


def _parse_line(line: str, number: int) -> Event:
    try:
        value = _parse_json(line)
        if number == 1:
            value = _without_header(value)
        return event_from_json(value)
    except MalformedError as error:
        raise RecordError(str(error), line=number, clause=error.clause) from None


def _without_header(value: Json) -> Json:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise MalformedError(f'a record begins with an object whose format is "{FORMAT}"')
    schema = value.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise MalformedError(f"schema {show(schema)} is unknown; this library reads {SCHEMA}")
    if value.get("event") != "game_started":
        raise MalformedError("a record begins with game_started")
    return {field: each for field, each in value.items() if field not in ("format", "schema")}


def _parse_json(line: str) -> Json:
    if line.startswith("\ufeff"):
        raise MalformedError("a byte order mark; a record is UTF-8 without one")
    if len(line) > _MOST_CHARACTERS:
        raise MalformedError(f"a line of {len(line)} characters, more than {_MOST_CHARACTERS}")
    if not line.strip(" \t\r"):
        raise MalformedError("an empty line; they are allowed at the end only")
    try:
        value: Json = json.loads(
            line,
            object_pairs_hook=_object,
            parse_int=_parse_int,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except json.JSONDecodeError as error:
        raise MalformedError(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise MalformedError("not a record: values nested too deeply") from None
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, value in pairs:
        if name in found:
            raise MalformedError(f"the field {show(name)} stands there twice")
        found[name] = value
    return found


def _parse_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise MalformedError(f"{digits[:10]}... is too large a number")
    return int(digits)


def _refuse_number(text: str) -> Json:
    raise MalformedError(f"{text[:20]} is no whole number")
