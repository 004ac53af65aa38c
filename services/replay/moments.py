"""One moment of a game, ready to be shown: five seats, where the steps lead, and the events around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from baohuang.phrases import Phrase, phrase_of
from baohuang.rules import events as ev
from baohuang.rules.cards import Hand
from baohuang.rules.events import Event, Step
from baohuang.rules.roles import SEATS, Role, Seat
from baohuang.rules.state import Move, PublicState
from baohuang.words import Language, name_of
from services.replay.known import Known, KnownGame


@dataclass(frozen=True)
class SeatShown:
    """One seat. `hand` is None where it is secret, `count` where the rules hide it.

    `role` is None while it is not known; `is_role_public` tells whether the table knows it too. `move` is the
    seat's last in the trick that is shown: cards, an empty hand for a pass, None for none.
    """

    seat: Seat
    role: Role | None
    is_role_public: bool
    hand: Hand | None
    count: int | None
    move: Hand | None
    is_best: bool
    is_asked: bool
    has_answered: bool
    declared: tuple[str, ...]
    place: int | None
    score: int | None
    penalty: int | None
    is_on_auto_play: bool
    is_forfeited: bool


@dataclass(frozen=True)
class Steps:
    """Where the links lead; None where there is nothing further that way."""

    first: int | None
    previous: int | None
    next: int | None
    next_trick: int | None
    previous_trick: int | None
    last: int | None


@dataclass(frozen=True)
class EventShown:
    """An event of the list; `step` is the moment right after it."""

    step: int
    phrase: Phrase
    is_current: bool


@dataclass(frozen=True)
class EventGroup:
    """A trick, or (`number` 0) what came before the first."""

    number: int
    events: tuple[EventShown, ...]

    @property
    def is_current(self) -> bool:
        return any(event.is_current for event in self.events)


@dataclass(frozen=True)
class Moment:
    """All that a page shows of one step of a game."""

    step: int
    public: PublicState
    seats: tuple[SeatShown, ...]
    is_past_trick: bool
    """Whether the moves shown are those of the trick that has just ended."""
    carried: Hand | None
    steps: Steps
    earlier: tuple[EventGroup, ...]
    current: EventGroup
    later: tuple[EventGroup, ...]
    phrase: Phrase


def first_shown_step(game: KnownGame) -> int:
    """Where a page without a step opens: a running game now, a finished one with the cards just dealt."""
    if game.is_running:
        return game.version
    dealt = (number for number, event in enumerate(game.events, 1) if isinstance(event, ev.Dealt))
    return next(dealt, 1)


def moment_of(game: KnownGame, step: int, language: Language) -> Moment:
    """The moment after `step` events. Raises ValueError unless the game shows that many."""
    known = game.at(step)
    public = known.public
    groups = _groups(game.events, step, language)
    here = next(index for index, group in enumerate(groups) if group.is_current)
    is_past_trick = not public.trick and bool(public.tricks)
    return Moment(
        step=step,
        public=public,
        seats=tuple([_seat(known, seat, language) for seat in SEATS]),
        is_past_trick=is_past_trick,
        carried=known.carried,
        steps=_steps(game.events, step),
        earlier=groups[:here],
        current=groups[here],
        later=groups[here + 1 :],
        phrase=phrase_of(game.events[step - 1], language),
    )


def _seat(known: Known, seat: Seat, language: Language) -> SeatShown:
    public = known.public
    moves = _shown_trick(public)
    best = next((move.seat for move in reversed(moves) if move.cards), None)
    outcome = public.outcome
    role, is_public = _role(known, seat)
    return SeatShown(
        seat=seat,
        role=role,
        is_role_public=is_public,
        hand=None if known.hands is None else known.hands[seat],
        count=public.counts[seat],
        move=next((move.cards for move in reversed(moves) if move.seat == seat), None),
        is_best=seat == best,
        is_asked=seat in public.to_act and seat not in public.answered,
        has_answered=seat in public.answered,
        declared=_declared(public, seat, language),
        place=public.places[seat],
        score=None if outcome is None else outcome.scores[seat],
        penalty=None if outcome is None else outcome.penalties[seat],
        is_on_auto_play=public.auto_play[seat],
        is_forfeited=public.forfeited[seat],
    )


def _shown_trick(public: PublicState) -> Sequence[Move]:
    """The moves on the table, or those of the trick that has just ended."""
    if public.trick or not public.tricks:
        return public.trick
    return public.tricks[-1]


def _role(known: Known, seat: Seat) -> tuple[Role | None, bool]:
    """The role of a seat, and whether the table knows it."""
    public = known.public
    if seat == public.emperor:
        return Role.EMPEROR, True
    if public.emperor is None:
        return None, True
    if known.guard is None:
        return None, False
    is_public = public.guard is not None or seat in public.rebels
    return (Role.GUARD if seat == known.guard else Role.REBEL), is_public


def _declared(public: PublicState, seat: Seat, language: Language) -> tuple[str, ...]:
    """What the seat has declared so far, standing or not."""
    words = []
    if public.open_solo and seat == public.emperor:
        words.append(language.say("open solo", "明独"))
    if public.open_guard and seat == public.guard:
        words.append(language.say("open guard", "明保"))
    if seat in public.rebels:
        words.append(language.say("rebellion", "造反"))
    if seat in public.counters:
        words.append(name_of(Step.COUNTER, language))
    if seat in public.recounters:
        words.append(name_of(Step.RECOUNTER, language))
    return tuple(words)


def _trick_starts(events: Sequence[Event]) -> list[int]:
    """The steps at which a trick's first card is played."""
    starts = []
    leads = True
    for step, event in enumerate(events, 1):
        if isinstance(event, ev.Played) and leads:
            starts.append(step)
            leads = False
        elif isinstance(event, ev.TrickEnded):
            leads = True
    return starts


def _steps(events: Sequence[Event], step: int) -> Steps:
    last = len(events)
    starts = _trick_starts(events)
    return Steps(
        first=1 if step > 1 else None,
        previous=step - 1 if step > 1 else None,
        next=step + 1 if step < last else None,
        next_trick=next((start for start in starts if start > step), None),
        previous_trick=next((start for start in reversed(starts) if start < step), None),
        last=last if step < last else None,
    )


def _groups(events: Sequence[Event], current: int, language: Language) -> tuple[EventGroup, ...]:
    """The events by trick."""
    bounds = [1, *_trick_starts(events), len(events) + 1]
    return tuple(
        [
            EventGroup(
                number,
                tuple(
                    [
                        EventShown(step, phrase_of(events[step - 1], language), step == current)
                        for step in range(start, end)
                    ]
                ),
            )
            for number, (start, end) in enumerate(pairwise(bounds))
            if start < end
        ]
    )
