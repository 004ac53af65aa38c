"""What may be shown of a game: all of a finished one, of a running one what a spectator may know (R11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baohuang.rules.cards import Hand
from baohuang.rules.events import Event, redact
from baohuang.rules.evolve import evolve
from baohuang.rules.roles import Seat
from baohuang.rules.state import PublicState, State
from baohuang.rules.views import view


@dataclass(frozen=True)
class Known:
    """One moment as far as it may be shown: `hands`, `guard` and `carried` are None where they are secret."""

    public: PublicState
    hands: tuple[Hand, ...] | None
    guard: Seat | None
    carried: Hand | None


class KnownGame:
    """A game without its secrets: `events` is what may be shown of its events, `at` of its state after them.

    While it runs, nothing of it depends on a card that a spectator may not know, and answers of an open step
    count only once the step closes (R5.0).
    """

    def __init__(self, game_id: str, events: Sequence[Event]) -> None:
        """`events` are all that happened, from `GameStarted` on; they are taken to be possible."""
        self.game_id = game_id
        self._whole = tuple(events)
        last = _fold(self._whole)
        self.is_running = not last.public.is_over
        self.rules = last.public.rules
        self.outcome = last.public.outcome
        if self.is_running:
            self.events = tuple([redact(event, None) for event in self._whole[: last.public.version]])
            self._last = view(last, None).public
        else:
            self.events = self._whole
            self._last = last.public

    @property
    def version(self) -> int:
        """How many events are shown."""
        return len(self.events)

    def at(self, step: int) -> Known:
        """What may be shown of the moment after `step` events, 1 … `version`."""
        if not 1 <= step <= self.version:
            raise ValueError(f"a step is between 1 and {self.version}, not {step}")
        if not self.is_running:
            state = _fold(self._whole[:step])
            return Known(state.public, state.hidden.hands, state.hidden.guard, state.hidden.carried)
        # Who has answered in a step that is still open is seen by all.
        is_now = step == self.version
        public = self._last if is_now else view(_fold(self._whole[:step]), None).public
        return Known(public, None, public.guard, None)


def _fold(events: Sequence[Event]) -> State:
    state: State | None = None
    for event in events:
        state = evolve(state, event)
    if state is None:
        raise ValueError("a game has at least one event")
    return state
