"""What may be shown of a game: all of a finished one, of a running one what a spectator may know (R11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from baohuang.bots.choice import Choice
from baohuang.rules.cards import Hand
from baohuang.rules.events import Event, Played, redact
from baohuang.rules.evolve import evolve
from baohuang.rules.roles import Role, Seat, roles_of
from baohuang.rules.state import PublicState, State
from baohuang.rules.views import view
from services.replay.steps import StepSpan, spans_of, trick_starts_of


@dataclass(frozen=True)
class Viewpoint:
    """Where a game is looked at from: a seat, or None for a spectator; `is_revealed`: with every secret."""

    seat: Seat | None = None
    is_revealed: bool = False

    def redact(self, event: Event) -> Event:
        """The event as it is seen from here."""
        return event if self.is_revealed else redact(event, self.seat)


SPECTATOR = Viewpoint()
REVEALED = Viewpoint(is_revealed=True)


@dataclass(frozen=True)
class Known:
    """One moment as it is known from a viewpoint.

    By seat: `hands` and `roles`, None for what is not known. `carried` are the cards that travel with the
    throne or lie at the bottom, None where they are secret. `is_solo`: emperor and guard are known to be one
    player.
    """

    public: PublicState
    hands: tuple[Hand | None, ...]
    roles: tuple[Role | None, ...]
    carried: Hand | None
    is_solo: bool


class KnownGame:
    """A game without its secrets: `events` is what may be shown of its events to everybody.

    While it runs, nothing of it depends on a card that a spectator may not know, answers of an open step
    count only once the step closes (R5.0), and the last `delay_plays` plays are not shown. Once it is over
    all of it may be shown, and it may be looked at from any viewpoint. Steps are decisions, with what
    followed from them (services.replay.steps).
    """

    def __init__(
        self,
        game_id: str,
        events: Sequence[Event],
        *,
        delay_plays: int = 0,
        remarks: Mapping[int, Choice] = MappingProxyType({}),
    ) -> None:
        """`events` are all that happened, from `GameStarted` on; they are taken to be possible.

        `remarks` are what bots wrote of their moves, by the number of the event.
        """
        if not events:
            raise ValueError("a game has at least one event")
        self.game_id = game_id
        self.delay_plays = delay_plays
        self._remarks = remarks
        whole = tuple(events)
        states = _states_of(whole)
        self.whole_version = len(whole)
        """How many events there are, shown or not."""
        self.is_running = not states[-1].public.is_over
        if self.is_running:
            whole = whole[: _shown_length(whole, delay_plays)]
            self._now = view(states[len(whole) - 1], None).public
            whole = whole[: self._now.version]
            self.events = tuple([redact(event, None) for event in whole])
        else:
            self._now = states[-1].public
            self.events = whole
        self.rules = self._now.rules
        self.outcome = self._now.outcome
        self.steps: tuple[StepSpan, ...] = spans_of(self.events)
        # Only the moments between steps are ever shown.
        self._states = tuple([states[span.last - 1] for span in self.steps])

    @property
    def version(self) -> int:
        """How many events are shown."""
        return len(self.events)

    @property
    def mark(self) -> str:
        """Changes whenever anything that is shown changes."""
        return f"{self.version}.{len(self._now.answered)}"

    @cached_property
    def trick_starts(self) -> tuple[int, ...]:
        """The steps with which tricks begin."""
        return trick_starts_of(self.events, self.steps)

    def step_of(self, event_number: int) -> int:
        """The step that holds the event of this number, 1 … `version`; the last one for a later number."""
        return next(
            (step for step, span in enumerate(self.steps, 1) if event_number <= span.last), len(self.steps)
        )

    def remark(self, step: int) -> Choice | None:
        """What a bot wrote of the decision of a step; nothing of a running game."""
        self._check(step)
        return None if self.is_running else self._remarks.get(self.steps[step - 1].first)

    def state(self, step: int) -> State:
        """The whole state after a step of a finished game. Raises ValueError for a running one."""
        self._check(step)
        if self.is_running:
            raise ValueError("the states of a running game are secret")
        return self._states[step - 1]

    def seen(self, step: int, viewpoint: Viewpoint = SPECTATOR) -> tuple[Event, ...]:
        """What happened in a step, as it is seen from a viewpoint."""
        self._check(step, viewpoint)
        span = self.steps[step - 1]
        return tuple([viewpoint.redact(event) for event in self.events[span.first - 1 : span.last]])

    def at(self, step: int, viewpoint: Viewpoint = SPECTATOR) -> Known:
        """The moment after a step, 1 … `len(steps)`. A running game is seen by spectators only."""
        self._check(step, viewpoint)
        state = self._states[step - 1]
        guard = state.hidden.guard
        if viewpoint.is_revealed:
            public, hands, carried = state.public, state.hidden.hands, state.hidden.carried
            return Known(
                public, hands, _roles(public, guard), carried, guard is not None and guard == public.emperor
            )
        seen = view(state, viewpoint.seat)
        # Who has answered in a step that is still open is seen by all.
        public = self._now if self.is_running and step == len(self.steps) else seen.public
        own = seen.own
        roles = _roles(public, public.guard if own is None else own.guard)
        if own is not None and guard is not None and own.seat not in (public.emperor, guard):
            roles = (*roles[: own.seat], Role.REBEL, *roles[own.seat + 1 :])
        shown: tuple[Hand | None, ...] = seen.hands or tuple(
            [own.hand if own is not None and seat == own.seat else None for seat in range(5)]
        )
        known_guard = public.guard if own is None else own.guard
        return Known(
            public,
            shown,
            roles,
            own.carried or None if own is not None else None,
            known_guard is not None and known_guard == public.emperor,
        )

    def _check(self, step: int, viewpoint: Viewpoint = SPECTATOR) -> None:
        if not 1 <= step <= len(self.steps):
            raise ValueError(f"a step is between 1 and {len(self.steps)}, not {step}")
        if self.is_running and viewpoint != SPECTATOR:
            raise ValueError("a running game is shown as spectators see it")


def _roles(public: PublicState, guard: Seat | None) -> tuple[Role | None, ...]:
    """All roles if the guard is known, else those of the emperor and of rebels who declared."""
    emperor = public.emperor
    if emperor is None:
        return (None,) * 5
    if guard is not None:
        return roles_of(emperor, guard)
    return tuple(
        [
            Role.EMPEROR if seat == emperor else Role.REBEL if seat in public.rebels else None
            for seat in range(5)
        ]
    )


def _states_of(events: Sequence[Event]) -> list[State]:
    """The state after each event."""
    states: list[State] = []
    for event in events:
        states.append(evolve(states[-1] if states else None, event))
    return states


def _shown_length(events: Sequence[Event], delay_plays: int) -> int:
    """How many events are shown while the last plays are held back: those before the first play held back."""
    if delay_plays:
        plays = [number for number, event in enumerate(events) if isinstance(event, Played)]
        if plays:
            return plays[max(0, len(plays) - delay_plays)]
    return len(events)
