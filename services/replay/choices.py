"""What was legal at a step of a finished game: what was to beat, and what each seat could have done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import BIG_JOKER, SMALL_JOKER, Card, Hand
from baohuang.rules.events import Step
from baohuang.rules.legal import legal_actions, revealing_card
from baohuang.rules.plays import legal_plays
from baohuang.rules.roles import SEATS, Seat
from baohuang.rules.state import Move, State
from services.replay.known import KnownGame

_NO_JOKERS: Final[Hand] = ()


@dataclass(frozen=True)
class Plays:
    """Plays that hang the same jokers, or none: one of each that differs by rank or number, the lowest first.

    Jokers alone are sets themselves.
    """

    hung: Hand
    sets: tuple[Hand, ...]

    @property
    def are_jokers(self) -> bool:
        return self.sets[0][0].is_joker


@dataclass(frozen=True)
class SeatChoices:
    """What a seat could do. `is_asked`: it was to act; otherwise: what it could have played if it had been.

    `answers` are the actions of the opening.
    """

    seat: Seat
    is_asked: bool
    may_pass: bool
    plays: tuple[Plays, ...]
    answers: tuple[Action, ...]

    @property
    def number(self) -> int:
        """How many different plays there are."""
        return sum([len(group.sets) for group in self.plays])


@dataclass(frozen=True)
class Choices:
    """Before a step: the play to beat, None for a lead and in the opening, and what each seat could do."""

    stage: Step
    to_beat: Move | None
    seats: tuple[SeatChoices, ...]


def choices_at(game: KnownGame, step: int) -> Choices | None:
    """What was legal when the decision of a step was made; None for the first step, which is none.

    Raises ValueError for a running game, whose hands are secret.
    """
    if step == 1:
        game.state(step)
        return None
    state = game.state(step - 1)
    public = state.public
    table = public.table
    seats = [_choices(state, seat) for seat in SEATS if seat in state.to_act or _could_beat(state, seat)]
    return Choices(
        stage=public.step,
        to_beat=None if table is None else Move(table.seat, table.cards),
        seats=tuple(seats),
    )


def _could_beat(state: State, seat: Seat) -> bool:
    """Whether it can be asked what a seat could have played out of turn: another's play is to be beaten."""
    public = state.public
    return public.table is not None and seat != public.table.seat and public.places[seat] is None


def _choices(state: State, seat: Seat) -> SeatChoices:
    public = state.public
    is_asked = seat in state.to_act
    if is_asked:
        actions = legal_actions(state, seat)
    else:
        actions = legal_plays(
            public.rules,
            state.hidden.hands[seat],
            None if public.table is None else public.table.shape,
            called=public.called,
            revealing=revealing_card(state),
        )
    return SeatChoices(
        seat=seat,
        is_asked=is_asked,
        may_pass=any(action.kind is ActionKind.PASS for action in actions),
        plays=_grouped([action.cards for action in actions if action.kind is ActionKind.PLAY]),
        answers=tuple(
            [action for action in actions if action.kind not in (ActionKind.PLAY, ActionKind.PASS)]
        ),
    )


def _grouped(plays: Iterable[Hand]) -> tuple[Plays, ...]:
    """Plays by the jokers hung on them; those that differ only in suits, or in marks, once."""

    def hung(cards: Hand) -> Hand:
        jokers = tuple([_plain(card) for card in cards if card.is_joker])
        return _NO_JOKERS if len(jokers) == len(cards) else jokers

    def order(cards: Hand) -> tuple[bool, int, Hand, int, int]:
        return cards[0].is_joker, len(hung(cards)), hung(cards), cards[0].rank, len(cards)

    found = {tuple([_plain(card).rank for card in cards]): cards for cards in reversed(list(plays))}
    ordered = sorted(found.values(), key=order)
    return tuple(
        [
            Plays(jokers, tuple([cards[: len(cards) - len(jokers)] for cards in same]))
            for (_, jokers), same in groupby(ordered, key=lambda cards: (cards[0].is_joker, hung(cards)))
        ]
    )


def _plain(card: Card) -> Card:
    """The card without its mark."""
    if not card.is_joker:
        return card
    return SMALL_JOKER if card.rank == SMALL_JOKER.rank else BIG_JOKER
