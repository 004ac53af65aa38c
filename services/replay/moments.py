"""One moment of a game, ready to be shown: the five seats, the middle of the table, what was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baohuang.bots.choice import Choice
from baohuang.phrases import Phrase, phrase_of
from baohuang.rules import events as ev
from baohuang.rules.actions import ActionKind
from baohuang.rules.cards import Card, Hand
from baohuang.rules.events import Event, Step
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import SEATS, Role, Seat, Solo
from baohuang.rules.scoring import multiplier
from baohuang.rules.state import Move, PublicState
from baohuang.words import Language, name_of
from services.replay.known import SPECTATOR, Known, KnownGame, Viewpoint

_Word = Solo | ActionKind | Step


@dataclass(frozen=True)
class Plate:
    """Who sits at a seat and how he stands.

    `role` is None while it is not known, `is_secret` if the table does not know it. `is_solo`: an undeclared
    solo. `count` is None where the rules hide it.
    """

    seat: Seat
    name: str
    role: Role | None
    is_secret: bool
    is_solo: bool
    is_secret_solo: bool
    is_role_open: bool
    """Whether there is a role to be known."""
    count: int | None
    declared: tuple[str, ...]
    place: int | None
    score: int | None
    penalty: int
    is_on_auto_play: bool
    is_forfeited: bool


@dataclass(frozen=True)
class Spot:
    """What lies before a seat: its last move of the trick (a pass has no cards), or its answer."""

    cards: Hand | None
    words: str
    is_best: bool
    is_past: bool
    """Whether the trick has ended."""
    is_asked: bool
    has_answered: bool


@dataclass(frozen=True)
class Middle:
    """What lies in the middle of the table."""

    stage: Step
    trick: int
    called: Card | None
    declared: tuple[str, ...]
    """What has been declared and stands."""
    multiplier: int
    redeal: int
    carried: Hand | None
    carried_count: int
    finished: tuple[Seat, ...]
    """Who is out, the first one first."""
    outcome: Outcome | None


@dataclass(frozen=True)
class Remark:
    """What the bot in a seat wrote of its move."""

    seat: Seat
    choice: Choice


@dataclass(frozen=True)
class Moment:
    """All that is shown of one step."""

    step: int
    plates: tuple[Plate, ...]
    spots: tuple[Spot, ...]
    hands: tuple[Hand | None, ...]
    called: Card | None
    middle: Middle
    said: tuple[Phrase, ...]
    remark: Remark | None


def first_shown_step(game: KnownGame) -> int:
    """Where a page without a step opens: a running game now, a finished one with the cards just dealt."""
    return len(game.steps) if game.is_running else 1


def moment_of(
    game: KnownGame,
    step: int,
    language: Language,
    viewpoint: Viewpoint = SPECTATOR,
    names: Sequence[str] | None = None,
) -> Moment:
    """The moment after a step. Raises ValueError unless the game shows it from this viewpoint."""
    known = game.at(step, viewpoint)
    public = known.public
    events = game.seen(step, viewpoint)
    # What the table knows of it.
    table = known if viewpoint == SPECTATOR else game.at(step)
    spots = _spots(public, events, language)
    return Moment(
        step=step,
        plates=tuple([_plate(known, table, seat, names, language) for seat in SEATS]),
        spots=spots,
        hands=known.hands,
        called=public.called,
        middle=_middle(known, language),
        said=said(events, language),
        remark=_remark(game, step, events, viewpoint),
    )


def _remark(game: KnownGame, step: int, events: Sequence[Event], viewpoint: Viewpoint) -> Remark | None:
    """What was written of a step's decision. It may tell cards: only its seat, or who sees all, reads it."""
    choice = game.remark(step)
    seat = getattr(events[0], "seat", None)
    if choice is None or seat is None or not (viewpoint.is_revealed or viewpoint.seat == seat):
        return None
    return Remark(seat, choice)


def said(events: Sequence[Event], language: Language) -> tuple[Phrase, ...]:
    """A step in sentences. The answers of a step that several answer are told together when it closes."""
    told = [event for event in events if not isinstance(event, ev.Answered)] or events
    return tuple([phrase_of(event, language) for event in told])


def _plate(known: Known, table: Known, seat: Seat, names: Sequence[str] | None, language: Language) -> Plate:
    public = known.public
    outcome = public.outcome
    role = known.roles[seat]
    return Plate(
        seat=seat,
        name="" if names is None else names[seat],
        role=role,
        is_secret=role is not None and table.roles[seat] is None,
        is_solo=known.is_solo and seat == public.emperor and not public.open_solo,
        is_secret_solo=not table.is_solo,
        is_role_open=public.emperor is not None and public.step is not Step.THRONE,
        count=public.counts[seat],
        declared=_declared(public, seat, language),
        place=public.places[seat],
        score=None if outcome is None else outcome.scores[seat],
        penalty=0 if outcome is None else outcome.penalties[seat],
        is_on_auto_play=public.auto_play[seat],
        is_forfeited=public.forfeited[seat],
    )


def _spots(public: PublicState, events: Sequence[Event], language: Language) -> tuple[Spot, ...]:
    is_past = not public.trick and bool(public.tricks)
    moves: Sequence[Move] = public.tricks[-1] if is_past else public.trick
    best = next((move.seat for move in reversed(moves) if move.cards), None)
    last = {move.seat: move.cards for move in moves}
    answers = _answers(events, language)
    return tuple(
        [
            Spot(
                cards=last.get(seat),
                words=answers.get(seat, ""),
                is_best=seat == best,
                is_past=is_past,
                is_asked=seat in public.to_act and seat not in public.answered,
                has_answered=seat in public.answered,
            )
            for seat in SEATS
        ]
    )


def _answers(events: Sequence[Event], language: Language) -> dict[Seat, str]:
    """What seats said in a step of the opening, in a word each."""
    words: dict[Seat, str] = {}
    for event in events:
        match event:
            case ev.ThroneAnswered(seat=seat, answer=answer):
                words[seat] = name_of(answer, language)
            case ev.CallAnswered(seat=seat, card=card):
                words[seat] = name_of(Solo.OPEN if card is None else ActionKind.CALL, language)
            case ev.StepClosed(step=step, declared=declared):
                for seat, kind in declared:
                    words[seat] = name_of(step if step in (Step.COUNTER, Step.RECOUNTER) else kind, language)
            case _:
                pass
    return words


def _middle(known: Known, language: Language) -> Middle:
    public = known.public
    solo = (Solo.OPEN if public.open_solo else Solo.HIDDEN) if known.is_solo else Solo.NONE
    places = {place: seat for seat, place in enumerate(public.places) if place is not None}
    return Middle(
        stage=public.step,
        trick=max(1, len(public.tricks) + bool(public.trick)),
        called=public.called,
        declared=_standing(public, language),
        multiplier=multiplier(
            public.rules,
            solo,
            open_guard=public.open_guard,
            rebellion=public.rebellion,
            counter=public.counter,
            recounter=public.recounter,
        ),
        redeal=public.redeal,
        carried=known.carried or None,
        carried_count=public.carried_count,
        finished=tuple([places[place] for place in sorted(places)]),
        outcome=public.outcome,
    )


def _standing(public: PublicState, language: Language) -> tuple[str, ...]:
    made: tuple[tuple[bool, _Word], ...] = (
        (public.open_solo, Solo.OPEN),
        (public.open_guard, ActionKind.GUARD),
        (public.rebellion, ActionKind.REBEL),
        (public.counter, Step.COUNTER),
        (public.recounter, Step.RECOUNTER),
    )
    return tuple([name_of(word, language) for stands, word in made if stands])


def _declared(public: PublicState, seat: Seat, language: Language) -> tuple[str, ...]:
    """What the seat has declared so far, standing or not."""
    made: tuple[tuple[bool, _Word], ...] = (
        (public.open_solo and seat == public.emperor, Solo.OPEN),
        (public.open_guard and seat == public.guard, ActionKind.GUARD),
        (seat in public.rebels, ActionKind.REBEL),
        (seat in public.counters, Step.COUNTER),
        (seat in public.recounters, Step.RECOUNTER),
    )
    return tuple([name_of(word, language) for is_made, word in made if is_made])
