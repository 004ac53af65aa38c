"""Roles, and the opening of a hand given ready made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from baohuang.rules.cards import Card
from baohuang.rules.errors import Reason, RuleError

Seat = int
"""0 … 4, in playing order (R2.4)."""

SEATS: Final = (0, 1, 2, 3, 4)


def downstream(seat: Seat, steps: int = 1) -> Seat:
    """The seat that many places after `seat` in playing order."""
    return (seat + steps) % 5


def upstream(seat: Seat, steps: int = 1) -> Seat:
    """The seat that many places before `seat` in playing order."""
    return (seat - steps) % 5


def check_seat(seat: Seat) -> None:
    """Raises `RuleError` (`BAD_SEAT`) unless `seat` is 0 … 4."""
    if type(seat) is not int or seat not in SEATS:
        raise RuleError(Reason.BAD_SEAT, f"there is no seat {seat!r}; seats are 0 to 4", clause="R2.4")


class Role(StrEnum):
    """A player's part in a hand; emperor and guard are the royal side."""

    EMPEROR = "emperor"
    GUARD = "guard"
    REBEL = "rebel"


class Solo(StrEnum):
    """Whether emperor and guard are one player, undeclared or declared."""

    NONE = "none"
    HIDDEN = "hidden"
    OPEN = "open"


def roles_of(emperor: Seat, guard: Seat) -> tuple[Role, ...]:
    """The role of each seat; `guard` equals `emperor` in a solo hand."""
    return tuple(
        Role.EMPEROR if seat == emperor else Role.GUARD if seat == guard else Role.REBEL for seat in SEATS
    )


@dataclass(frozen=True)
class Opening:
    """How the opening of a hand came out, for hands that start at play.

    `guard` equals `emperor` in a solo hand, and is None only in what others than the guard see. The tuples
    hold the seats that declared, whether or not it stood.
    """

    emperor: Seat
    guard: Seat | None
    open_solo: bool = False
    called: Card | None = None
    open_guard: bool = False
    rebels: tuple[Seat, ...] = ()
    counters: tuple[Seat, ...] = ()
    recounters: tuple[Seat, ...] = ()
