"""What happens in a game. Events are stored for ever and say who may see them (R11).

Each class names its `Audience`. What a viewer may not see is None in the copy that `redact` gives him;
everything else is public. Counts beside hidden cards are what R11.5 lets everybody see.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Self

from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import Card, Hand
from baohuang.rules.outcome import Due, DueKind, Outcome
from baohuang.rules.roles import Opening, Seat
from baohuang.rules.ruleset import RuleSet

Viewer = Seat | None
"""A seat, or None for a spectator."""


class Audience(StrEnum):
    """Who sees an event whole."""

    EVERYONE = "everyone"
    PARTIES = "parties"
    """The seats named by the event's class see the fields that are theirs; others get None there."""


class Step(StrEnum):
    """Where a hand stands (R5.0)."""

    NONCES = "nonces"
    """Committed, not dealt: seats may add nonces."""
    TRIBUTE = "tribute"
    """Receivers give cards back (R10.6)."""
    THRONE = "throne"
    CALL = "call"
    CLAIM = "claim"
    DECLARE = "declare"
    COUNTER = "counter"
    RECOUNTER = "recounter"
    PLAY = "play"
    OVER = "over"


class AutoPlayReason(StrEnum):
    """Why auto-play began (R9.1)."""

    TIMEOUT = "timeout"
    REQUEST = "request"
    LEFT = "left"


class ForfeitReason(StrEnum):
    """How a seat was lost with a penalty (R8.5)."""

    FORCED_EXIT = "forced_exit"
    REMOVED = "removed"


@dataclass(frozen=True)
class Event:
    """Base of all events. `audience` has no default: a class without one cannot be defined."""

    audience: ClassVar[Audience]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "audience" not in cls.__dict__:
            raise TypeError(f"{cls.__name__} must say its audience")
        if (cls.audience is Audience.PARTIES) is not ("seen_by" in cls.__dict__):
            raise TypeError(f"{cls.__name__}: exactly events for parties define seen_by")

    def seen_by(self, viewer: Viewer) -> Self:
        """This event as `viewer` may see it."""
        return self


@dataclass(frozen=True)
class GameStarted(Event):
    """The first event. `commitment` is SHA-256(seed ‖ salt) in hex, of a seed and salt hidden until the end.

    `commitment` is None where no salt was given, `seed` too where the hands were given.
    """

    audience = Audience.PARTIES
    rules: RuleSet
    first_drawer: Seat
    dues: tuple[Due, ...]
    commitment: str | None
    seed: int | None
    salt: bytes | None

    def seen_by(self, viewer: Viewer) -> Self:
        return replace(self, seed=None, salt=None)


@dataclass(frozen=True)
class NonceAdded(Event):
    """A seat's own share in the shuffle."""

    audience = Audience.EVERYONE
    seat: Seat
    nonce: str


@dataclass(frozen=True)
class Dealt(Event):
    """Everybody's cards; `redeal` counts from 0. Each seat sees its own hand.

    `deck` is None where it is the rule set's, else the cards of a given deal (public).
    """

    audience = Audience.PARTIES
    redeal: int
    hands: tuple[Hand | None, ...]
    deck: Hand | None

    def seen_by(self, viewer: Viewer) -> Self:
        return replace(
            self, hands=tuple(hand if seat == viewer else None for seat, hand in enumerate(self.hands))
        )


@dataclass(frozen=True)
class OpeningGiven(Event):
    """A hand that starts at play. Who is guard he sees himself, the others by `GuardRevealed`."""

    audience = Audience.PARTIES
    opening: Opening

    def seen_by(self, viewer: Viewer) -> Self:
        return (
            self if viewer == self.opening.guard else replace(self, opening=replace(self.opening, guard=None))
        )


@dataclass(frozen=True)
class CardGiven(Event):
    """A card of a debt or tribute, or (`returned`) one given back; seen by giver and receiver (R10.6)."""

    audience = Audience.PARTIES
    giver: Seat
    receiver: Seat
    kind: DueKind
    returned: bool
    card: Card | None

    def seen_by(self, viewer: Viewer) -> Self:
        return self if viewer in (self.giver, self.receiver) else replace(self, card=None)


@dataclass(frozen=True)
class ThroneAnswered(Event):
    """An answer of the throne step (public); `asked` is who is asked next, None if nobody.

    `laid` is the card that `seat` adds or lays (R5.2, R10.1), seen by him. `carried` are the added or
    bottom cards that change hands with the throne, seen by who gets them (`asked` for a yield, `seat` for a
    take) and by the giver of a yield.
    """

    audience = Audience.PARTIES
    seat: Seat
    answer: ActionKind
    asked: Seat | None
    laid: Hand | None
    laid_count: int
    carried: Hand | None
    carried_count: int

    def seen_by(self, viewer: Viewer) -> Self:
        if viewer == self.seat:
            return self
        receives = self.answer is ActionKind.YIELD and viewer is not None and viewer == self.asked
        return replace(self, laid=None, carried=self.carried if receives else None)


@dataclass(frozen=True)
class Enthroned(Event):
    """The throne step is over, or a solo claim took the throne."""

    audience = Audience.EVERYONE
    emperor: Seat


@dataclass(frozen=True)
class CallAnswered(Event):
    """The emperor's answer to the call: a card, or None for an open solo (R5.6)."""

    audience = Audience.EVERYONE
    seat: Seat
    card: Card | None


@dataclass(frozen=True)
class Answered(Event):
    """An answer in a step that several answer; its author sees it, the others that he has answered (R5.0)."""

    audience = Audience.PARTIES
    seat: Seat
    step: Step
    action: Action | None

    def seen_by(self, viewer: Viewer) -> Self:
        return self if viewer == self.seat else replace(self, action=None)


@dataclass(frozen=True)
class StepClosed(Event):
    """All have answered: every declaration made, by seat (R5.0); `stands` tells whether any stood."""

    audience = Audience.EVERYONE
    step: Step
    declared: tuple[tuple[Seat, ActionKind], ...]
    stands: bool


@dataclass(frozen=True)
class GuardRevealed(Event):
    """The guard is public from here (R11.2); `guard` equals `emperor` in a solo hand."""

    audience = Audience.EVERYONE
    emperor: Seat
    guard: Seat


@dataclass(frozen=True)
class Played(Event):
    """Cards played, in deck order."""

    audience = Audience.EVERYONE
    seat: Seat
    cards: Hand


@dataclass(frozen=True)
class Passed(Event):
    """No play."""

    audience = Audience.EVERYONE
    seat: Seat


@dataclass(frozen=True)
class WentOut(Event):
    """The last card played: `place` counts from 1."""

    audience = Audience.EVERYONE
    seat: Seat
    place: int


@dataclass(frozen=True)
class Cleared(Event):
    """Left with threes only and beaten by `by` (R10.4)."""

    audience = Audience.EVERYONE
    seat: Seat
    place: int
    by: Seat


@dataclass(frozen=True)
class TrickEnded(Event):
    """`winner` made the last play; `leader` leads next, another seat than `winner` by wind (R6.2)."""

    audience = Audience.EVERYONE
    winner: Seat
    leader: Seat


@dataclass(frozen=True)
class AutoPlayStarted(Event):
    """The server plays for the seat from here (R9.1)."""

    audience = Audience.EVERYONE
    seat: Seat
    why: AutoPlayReason


@dataclass(frozen=True)
class AutoPlayEnded(Event):
    """The player has taken back control (R9.3)."""

    audience = Audience.EVERYONE
    seat: Seat


@dataclass(frozen=True)
class SeatForfeited(Event):
    """A player left by force or was removed: his penalty stands, a built-in bot plays on (R8.5)."""

    audience = Audience.EVERYONE
    seat: Seat
    why: ForfeitReason


@dataclass(frozen=True)
class HandEnded(Event):
    """The last event: the outcome, and the seed and salt that prove the deal."""

    audience = Audience.EVERYONE
    outcome: Outcome
    seed: int | None
    salt: bytes | None


EVENT_TYPES: tuple[type[Event], ...] = tuple(Event.__subclasses__())


def redact(event: Event, viewer: Viewer) -> Event:
    """`event` as `viewer` (a seat, or None for a spectator) may see it; itself if it hides nothing."""
    return event.seen_by(viewer)
