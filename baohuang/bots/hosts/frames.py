"""Messages over a pipe between a host and the process of its bot: four bytes of length, then the message.

Towards the bot a message is a pickle, which only the host writes. Back comes JSON alone: what a bot's process
writes is read as text and checked, never executed.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from typing import Any, Final

from baohuang.bots.bot import BotError
from baohuang.bots.choice import Candidate, Choice, checked_choice
from baohuang.bots.hosts.host import Answer, Fault, FaultKind, fault
from baohuang.rules.actions import Action
from baohuang.rules.errors import CardError, Reason

MOST_FRAME_BYTES: Final = 256 * 1024
"""Of one from the bot's process; an honest one has a tenth of it."""
_LENGTH: Final = struct.Struct(">I")


class LatePipe(Exception):
    """Nothing came, or could be sent, in time."""


class BrokenPipe(Exception):
    """The other end is closed."""


class OversizedFrame(Exception):
    """A message longer than any may be."""


def packed(message: bytes) -> bytes:
    """A message with its length before it."""
    return _LENGTH.pack(len(message)) + message


class Pipe:
    """The host's two ends of the pipes to and from a process, neither of which can keep it waiting."""

    def __init__(self, to_bot: int, from_bot: int) -> None:
        self._to_bot, self._from_bot = to_bot, from_bot
        os.set_blocking(to_bot, False)
        os.set_blocking(from_bot, False)
        self._read = bytearray()

    def send(self, message: bytes, deadline: float) -> None:
        """Write a message by `deadline` (time.monotonic); raises LatePipe, BrokenPipe."""
        data = memoryview(packed(message))
        while data:
            _wait(self._to_bot, select.POLLOUT, deadline)
            try:
                data = data[os.write(self._to_bot, data) :]
            except BrokenPipeError as error:
                raise BrokenPipe from error

    def receive(self, deadline: float) -> bytes:
        """Read a message by `deadline`; raises LatePipe, BrokenPipe, OversizedFrame."""
        length = _LENGTH.unpack(self._bytes(_LENGTH.size, deadline))[0]
        if length > MOST_FRAME_BYTES:
            raise OversizedFrame
        return self._bytes(length, deadline)

    def close(self) -> None:
        """Close both ends, on which the process ends by itself."""
        os.close(self._to_bot)
        os.close(self._from_bot)

    def _bytes(self, count: int, deadline: float) -> bytes:
        while len(self._read) < count:
            _wait(self._from_bot, select.POLLIN, deadline)
            more = os.read(self._from_bot, 65_536)
            if not more:
                raise BrokenPipe
            self._read += more
        found = bytes(self._read[:count])
        del self._read[:count]
        return found


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise LatePipe


def answer_to_json(answer: Answer) -> bytes:
    """An answer on its way to the host."""
    if answer.choice is None:
        return json.dumps({"fault": _fault_to_json(answer.fault)}).encode()
    choice = answer.choice
    return json.dumps(
        {
            "action": str(choice.action),
            "note": choice.note,
            "candidates": [[str(action), value] for action, value in choice.candidates],
            "dropped": answer.dropped,
        }
    ).encode()


def answer_from_json(message: bytes, seconds: float) -> Answer:
    """What a process answered; whatever else it wrote is a fault of its own."""
    try:
        body = json.loads(message)
        if "fault" in body:
            return Answer(fault=fault_from_json(body["fault"]), seconds=seconds)
        candidates = tuple([Candidate(Action.parse(text), value) for text, value in body["candidates"]])
        choice, dropped = checked_choice(Choice(Action.parse(body["action"]), body["note"], candidates))
        return Answer(choice, dropped=dropped or str(body["dropped"])[:200], seconds=seconds)
    except (BotError, CardError, KeyError, LookupError, RecursionError, TypeError, ValueError) as error:
        problem = f"its process wrote what is no answer ({type(error).__name__})"
        return Answer(fault=fault(FaultKind.MALFORMED, problem), seconds=seconds)


def started_to_json(name: str, version: str, faults: Mapping[str, Fault]) -> bytes:
    """A bot's introduction on its way to the host."""
    told = {game_id: _fault_to_json(each) for game_id, each in faults.items()}
    return json.dumps({"name": name, "version": version, "faults": told}).encode()


def json_object(message: bytes) -> dict[str, Any]:
    """Raises `BotError` (MALFORMED_ACTION) for what is no object of JSON."""
    try:
        body = json.loads(message)
    except (RecursionError, ValueError) as error:
        raise BotError(Reason.MALFORMED_ACTION, "its process wrote what is no JSON") from error
    if not isinstance(body, dict):
        raise BotError(Reason.MALFORMED_ACTION, "its process wrote what is no object")
    return body


def fault_from_json(body: Any, *, is_start: bool = False) -> Fault:
    """Raises ValueError, TypeError for what is none."""
    kind, message = body
    return fault(FaultKind(kind), str(message), is_start=is_start)


def _fault_to_json(told: Fault | None) -> list[str]:
    return [FaultKind.CRASHED.value, "no answer"] if told is None else [told.kind.value, told.message]
