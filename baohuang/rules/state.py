"""The state of a game: what is public, what is hidden, and what one seat may know.

Three types, so that a secret cannot slip into a view: `PublicState` never holds a hidden card, and changes
only by what every viewer may see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from baohuang.rules.actions import Action
from baohuang.rules.cards import Card, Hand
from baohuang.rules.cover import Shape
from baohuang.rules.events import CardGiven, Step, Viewer
from baohuang.rules.outcome import Due, Outcome
from baohuang.rules.roles import SEATS, Seat, Solo
from baohuang.rules.ruleset import RuleSet

SIMULTANEOUS = frozenset({Step.NONCES, Step.TRIBUTE, Step.CLAIM, Step.DECLARE, Step.COUNTER, Step.RECOUNTER})
"""Steps whose answers only their authors see until all have answered (R5.0), and the nonces."""


class Move(NamedTuple):
    """A play, or a pass where `cards` is empty."""

    seat: Seat
    cards: Hand


class TablePlay(NamedTuple):
    """The play to beat."""

    seat: Seat
    cards: Hand
    shape: Shape


class ClearedDebt(NamedTuple):
    """`giver` was cleared and owes `receiver` his highest card in the next hand (R10.4)."""

    giver: Seat
    receiver: Seat


@dataclass(frozen=True)
class PublicState:
    """What a spectator may know. Tuples of five are by seat.

    `version` counts the events up to the last one that everybody saw, so it stands still while a step that
    several answer is open, and so does `to_act` (R5.0); `answered` are those who have answered in it.
    Beginning or ending auto-play moves `version` but not `opened_version`: what was asked is asked still.
    """

    rules: RuleSet
    first_drawer: Seat
    dues: tuple[Due, ...]
    commitment: str | None
    version: int = 0
    opened_version: int = 0
    """The version at which the awaited decision came up: what a command may expect at least."""
    step: Step = Step.NONCES
    to_act: tuple[Seat, ...] = ()
    answered: tuple[Seat, ...] = ()
    nonces: tuple[str | None, ...] = (None,) * 5
    deck: Hand = ()
    redeal: int = 0
    given_deal: bool = False
    """The hands were given, so nothing can be dealt again."""
    counts: tuple[int | None, ...] = (0,) * 5
    """Cards held; None where `show_counts` hides it (views only)."""
    first_holder: Seat | None = None
    """Who was asked for the throne first."""
    holder: Seat | None = None
    """Who is asked for the throne, or was last."""
    yields: int = 0
    """How often the throne was yielded, offered or declined in this deal."""
    carried_count: int = 0
    """Number of added cards or bottom cards that wait for the emperor."""
    emperor: Seat | None = None
    called: Card | None = None
    guard: Seat | None = None
    """The guard, once public (R11.2); equals `emperor` in a solo hand."""
    open_solo: bool = False
    open_guard: bool = False
    rebels: tuple[Seat, ...] = ()
    """Who declared rebellion, whether it stands or not."""
    rebellion: bool = False
    """Whether a rebellion stands (R5.9)."""
    counters: tuple[Seat, ...] = ()
    counter: bool = False
    recounters: tuple[Seat, ...] = ()
    recounter: bool = False
    table: TablePlay | None = None
    passes: int = 0
    """Passes in a row since the play on the table."""
    trick: tuple[Move, ...] = ()
    tricks: tuple[tuple[Move, ...], ...] = ()
    places: tuple[int | None, ...] = (None,) * 5
    cleared: tuple[ClearedDebt, ...] = ()
    """In order of clearing."""
    auto_play: tuple[bool, ...] = (False,) * 5
    auto_play_starts: tuple[int, ...] = (0,) * 5
    forfeited: tuple[bool, ...] = (False,) * 5
    outcome: Outcome | None = None

    @property
    def is_over(self) -> bool:
        return self.step is Step.OVER


@dataclass(frozen=True)
class HiddenState:
    """What the engine knows beyond the public.

    `hands` are the cards held, without those that travel with the throne or lie at the bottom (`carried`).
    `pending` are those who have still to answer, `answers` what the others have answered, by seat.
    """

    seed: int | None
    salt: bytes | None
    hands: tuple[Hand, ...] = ((),) * 5
    carried: Hand = ()
    laid: tuple[Hand, ...] = ((),) * 5
    """What each seat has added or laid down in the throne step."""
    guard: Seat | None = None
    """The guard once roles are fixed; equals the emperor in a solo hand."""
    pending: tuple[Seat, ...] = ()
    answers: tuple[tuple[Action, ...], ...] = ((),) * 5
    gifts: tuple[CardGiven, ...] = ()


@dataclass(frozen=True)
class SeatState:
    """What a seat knows beyond the public.

    `guard` is set once the seat knows it: for the guard himself (and a solo emperor) as soon as roles are
    fixed. `carried` are the added or bottom cards that it holds or has taken, `laid` what it added or laid
    down, `answers` its own in the open step, `gifts` the debts and tributes to which it is a party.
    `to_act`: whether an action is awaited from it.
    """

    seat: Seat
    hand: Hand
    to_act: bool
    guard: Seat | None
    carried: Hand
    laid: Hand
    answers: tuple[Action, ...]
    gifts: tuple[CardGiven, ...]


@dataclass(frozen=True)
class View:
    """What a viewer may know (R11), the public state and a seat's own: equal for equal knowledge.

    `hands` are all cards left by seat once the hand is over and everything is public, else None.
    """

    viewer: Viewer
    public: PublicState
    own: SeatState | None
    hands: tuple[Hand, ...] | None


@dataclass(frozen=True)
class State:
    """A whole game after `version` events."""

    version: int
    public: PublicState
    hidden: HiddenState

    @property
    def to_act(self) -> tuple[Seat, ...]:
        """The seats whose action is awaited; empty before the deal and when the hand is over."""
        public = self.public
        return self.hidden.pending if public.step in SIMULTANEOUS else public.to_act

    @property
    def solo(self) -> Solo:
        """Whether the hand is a solo, once roles are fixed."""
        public, guard = self.public, self.hidden.guard
        if guard is None or guard != public.emperor:
            return Solo.NONE
        return Solo.OPEN if public.open_solo else Solo.HIDDEN


_Value = TypeVar("_Value", State, PublicState, HiddenState)
_Thing = TypeVar("_Thing")


def change(value: _Value, **changes: Any) -> _Value:
    """A copy of `value` with some fields changed: `dataclasses.replace` without its cost in every move."""
    copy = object.__new__(type(value))
    object.__setattr__(copy, "__dict__", value.__dict__ | changes)
    return copy


def known(value: _Thing | None) -> _Thing:
    """`value`, which the step of the game guarantees to be there."""
    if value is None:
        raise RuntimeError("the state lacks what its step guarantees: its events were not those of `decide`")
    return value


def put(values: tuple[Any, ...], seat: Seat, value: object) -> tuple[Any, ...]:
    """`values` (by seat) with that of `seat` replaced."""
    return (*values[:seat], value, *values[seat + 1 :])


def in_play(public: PublicState) -> tuple[Seat, ...]:
    """The seats that are neither out nor cleared."""
    places = public.places
    return tuple([seat for seat in SEATS if places[seat] is None])


def next_in_play(public: PublicState, seat: Seat) -> Seat:
    """The next seat downstream of `seat` that still plays."""
    places = public.places
    following = (seat + 1) % 5
    while places[following] is not None:
        following = (following + 1) % 5
    return following
