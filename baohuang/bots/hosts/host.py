"""What a host is, what it is told, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from baohuang.bots.choice import Choice
from baohuang.rules.actions import Action
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import Seat
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.state import View

MOST_GAMES: Final = 256
"""How many games one request to a bot is about, at most."""
MOST_TEXT: Final = 300
"""Characters of a message about a fault; bots may raise anything."""
MOST_NAME: Final = 64
MOST_VERSION: Final = 32


class FaultKind(StrEnum):
    """What a bot did wrong, as it is recorded."""

    ILLEGAL = "illegal"
    """An action that the rules forbid."""
    MALFORMED = "malformed"
    """An answer that is no action."""
    OVERSIZED = "oversized"
    """An answer too long to be read."""
    LATE = "late"
    """No answer within the time."""
    CRASHED = "crashed"
    """It raised an error, or its process ended."""
    UNREACHABLE = "unreachable"
    """Its service could not be called."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that went wrong; `is_start` tells that of starting up from that of a move."""

    kind: FaultKind
    message: str
    is_start: bool = False

    def __str__(self) -> str:
        return (
            f"{self.kind} at the start: {self.message}" if self.is_start else f"{self.kind}: {self.message}"
        )


@dataclass(frozen=True, slots=True)
class Times:
    """What a bot has, in seconds: for starting up (any number of games at once), and for each move."""

    start_seconds: float = 10.0
    move_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game that begins for a bot. `game_id` is random and of this seat alone; `seed` is for its chances."""

    game_id: str
    seat: Seat
    rules: RuleSet
    seed: int


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that is awaited."""

    game_id: str
    view: View
    legal_actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class EndedGame:
    """A game that is over; without an outcome it was broken off."""

    game_id: str
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a decision: a choice or a fault. The action is well made, though maybe not legal.

    `dropped` says what of the answer was not kept ("" if nothing); `seconds` how long it took, where the
    decision was asked alone.
    """

    choice: Choice | None = None
    fault: Fault | None = None
    dropped: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The bot's name and version, and by game why it cannot play it."""

    name: str
    version: str
    faults: Mapping[str, Fault]


class Host(Protocol):
    """Runs one bot. Methods block, may take as long as the times say, and raise nothing for what bots do.

    Not for several threads at once.
    """

    @property
    def spec(self) -> str:
        """What the bot was named by."""
        ...

    def start(self, games: Sequence[NewGame], times: Times) -> Started:
        """Begin games, in which it will be asked with these times."""
        ...

    def choose(self, decisions: Sequence[Decision]) -> dict[str, Answer]:
        """One answer for each decision, by game. A game may have one decision at a time."""
        ...

    def end(self, games: Sequence[EndedGame]) -> None:
        """Let go of games."""
        ...

    def close(self) -> None:
        """End the bot, and with it what it started."""
        ...


def fault(kind: FaultKind, message: str, *, is_start: bool = False) -> Fault:
    """A fault with a message that is one short line, whatever a bot put into it."""
    line = " ".join(printable(message, 4 * MOST_TEXT).split())
    return Fault(kind, line[:MOST_TEXT], is_start)


def printable(text: object, most: int) -> str:
    """The first characters of a text, those that cannot be shown or encoded replaced."""
    cut = str(text)[:most]
    return "".join(
        [char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in cut]
    )
