"""What a hand ended with, and what it hands on to the next (R8, R10.5, R10.6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from baohuang.rules.roles import Role, Seat, Solo


class Termination(StrEnum):
    """Why a hand ended (R8.6)."""

    PLAYED = "played"
    REFUSED = "refused"
    """Nobody took an offered throne (R5.1)."""
    VOID = "void"
    """No emperor could be found (R5.1, R5.14)."""


class DueKind(StrEnum):
    """Why a card is owed."""

    DEBT = "debt"
    """A cleared player's highest card (R10.4)."""
    TRIBUTE = "tribute"
    """A card between the sides after a played hand (R10.5)."""


@dataclass(frozen=True)
class Due:
    """One card that `giver` owes `receiver` right after the deal."""

    kind: DueKind
    giver: Seat
    receiver: Seat


@dataclass(frozen=True)
class Outcome:
    """Why a hand ended (`termination`) and who got what.

    Five entries a tuple, by seat. `places` (1 … 5) and `roles` are None unless the hand was played.
    `scores` sum to zero (R8.4); `penalties` (0 or −40 each, R8.5) stand apart and sum to what they sum to.
    `multiplier` is that of R8.3 for two players and of R8.2 for a solo. `auto_play` tells who was on auto-
    play at the end. `next_first_drawer` and `dues` are what the table's next hand starts with (R2.2,
    R10.6).
    """

    termination: Termination
    places: tuple[int, ...] | None
    roles: tuple[Role, ...] | None
    solo: Solo
    multiplier: int
    scores: tuple[int, ...]
    penalties: tuple[int, ...]
    auto_play: tuple[bool, ...]
    next_first_drawer: Seat
    dues: tuple[Due, ...]
