"""Whose decision is awaited, from whom it comes, and until when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from baohuang.rules.events import Event, Step
from baohuang.rules.evolve import fold
from baohuang.rules.state import State
from services.lobby.seating import SUBSTITUTE

TurnKind = Literal["bot", "player", "auto"]


class HandSeats(NamedTuple):
    """What stays the same during a hand: the built-in bot in each seat, None for a player; the times."""

    bots: tuple[str | None, ...]
    turn_seconds: int
    opening_seconds: int


class Decision(NamedTuple):
    """What tells one question to a seat from the next one.

    It came up at `version`; `answers` are those that the seat has given before in the same step (R10.6),
    `starts` how often it went on auto-play before.
    """

    version: int
    answers: int
    starts: int


class Awaited(NamedTuple):
    """A decision that is awaited from a seat since a time. Only a player has `seconds` for it."""

    seat: int
    decision: Decision
    kind: TurnKind
    bot: str | None
    seconds: int | None
    since_ms: int

    @property
    def deadline_ms(self) -> int | None:
        """When the player's time is over."""
        return None if self.seconds is None else self.since_ms + 1000 * self.seconds


@dataclass(frozen=True, slots=True)
class Position:
    """A game after some commits: its state, and what is awaited, by seat."""

    state: State
    awaited: tuple[Awaited, ...]

    def awaited_from(self, seat: int) -> Awaited | None:
        """What is awaited from a seat."""
        return next((each for each in self.awaited if each.seat == seat), None)


def advance(
    position: Position | None, events: Iterable[Event], recorded_at_ms: int, seats: HandSeats
) -> Position:
    """The position after the events of one more commit.

    A seat's time begins when it is asked, and anew when it takes back control; answers of others, and its own
    earlier ones in the same step, change nothing about it (R5.0).
    """
    state = fold(events, None if position is None else position.state)
    if state is None:
        raise ValueError("a commit without events")
    before = {} if position is None else {each.seat: each for each in position.awaited}
    return Position(
        state,
        tuple([_awaited(state, seats, seat, recorded_at_ms, before.get(seat)) for seat in state.to_act]),
    )


def _awaited(state: State, seats: HandSeats, seat: int, now_ms: int, before: Awaited | None) -> Awaited:
    public = state.public
    bot = SUBSTITUTE if public.forfeited[seat] else seats.bots[seat]
    kind: TurnKind = "player" if bot is None else "bot"
    if public.auto_play[seat]:
        kind, bot = "auto", None
    seconds = seats.turn_seconds if public.step is Step.PLAY else seats.opening_seconds
    decision = Decision(public.opened_version, len(state.hidden.answers[seat]), public.auto_play_starts[seat])
    is_same = (
        before is not None
        and before.kind == kind
        and (before.decision.version, before.decision.starts) == (decision.version, decision.starts)
    )
    since_ms = before.since_ms if is_same and before is not None else now_ms
    return Awaited(seat, decision, kind, bot, seconds if kind == "player" else None, since_ms)
