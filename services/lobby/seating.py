"""Who sits where before a hand, and who may change it: decisions on plain values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from baohuang.bots import BOT_NAMES
from services.kit.errors import PlatformError
from services.lobby.callers import Caller

SUBSTITUTE: Final = "greedy"
"""The built-in bot that takes the seat of a player who left for good (R8.5)."""


@dataclass(frozen=True, slots=True)
class Place:
    """A seat: a player's, a built-in bot's, or free."""

    player_id: str | None = None
    bot: str | None = None
    ready: bool = False

    @property
    def is_free(self) -> bool:
        return self.player_id is None and self.bot is None

    @property
    def is_ready(self) -> bool:
        """Built-in bots always are."""
        return self.bot is not None or (self.player_id is not None and self.ready)


FREE: Final = Place()


@dataclass(frozen=True, slots=True)
class Seating:
    """A table as far as its seats are concerned."""

    table_id: str
    status: str
    host_id: str | None
    bots_allowed: bool
    places: tuple[Place, ...]

    def seat_of(self, player_id: str) -> int | None:
        """The seat of a player, None if he has none."""
        return next((seat for seat, place in enumerate(self.places) if place.player_id == player_id), None)

    @property
    def players(self) -> list[str]:
        """Those who sit, by seat."""
        return [place.player_id for place in self.places if place.player_id is not None]

    @property
    def is_ready(self) -> bool:
        """Whether a hand can start: five are ready."""
        return all(place.is_ready for place in self.places)


def checked_bot(name: str, where: str) -> str:
    """The name of a built-in bot. Raises PlatformError (UNKNOWN_BOT)."""
    if name not in BOT_NAMES:
        message = f"there is no bot {name!r}; there are {', '.join(BOT_NAMES)}"
        raise PlatformError("UNKNOWN_BOT", message).at(where)
    return name


def join(seating: Seating, caller: Caller, seat: int | None) -> Seating:
    """Sit down in a seat, or in the first free one.

    Raises PlatformError (WRONG_PHASE, ALREADY_SEATED, BOTS_NOT_ALLOWED, SEAT_TAKEN, TABLE_FULL).
    """
    require_phase(seating, "gathering")
    taken = seating.seat_of(caller.player_id)
    if taken is not None:
        raise PlatformError("ALREADY_SEATED", f"you sit in seat {taken}", details={"seat": taken})
    if caller.is_bot and not seating.bots_allowed:
        raise PlatformError("BOTS_NOT_ALLOWED", "this table wants no programs as players")
    if seat is None:
        seat = next((number for number, place in enumerate(seating.places) if place.is_free), None)
        if seat is None:
            raise PlatformError("TABLE_FULL", "all seats are taken")
    elif not seating.places[seat].is_free:
        raise PlatformError("SEAT_TAKEN", f"seat {seat} is taken", details={"seat": seat}).at("seat")
    return _put(seating, seat, Place(player_id=caller.player_id))


def free(seating: Seating, player_id: str) -> Seating:
    """The table without a player; a host who goes hands on to the next one who sits.

    Raises PlatformError (NOT_SEATED).
    """
    after = _put(seating, seat_of(seating, player_id), FREE)
    if seating.host_id == player_id:
        after = replace(after, host_id=next(iter(after.players), None))
    return after


def seat_bot(seating: Seating, caller: Caller, seat: int, bot: str) -> Seating:
    """Put a built-in bot in a seat that no player has. Raises PlatformError."""
    require_phase(seating, "gathering")
    require_host(seating, caller)
    if seating.places[seat].player_id is not None:
        raise PlatformError("SEAT_TAKEN", f"a player sits in seat {seat}", details={"seat": seat})
    return _put(seating, seat, Place(bot=checked_bot(bot, "bot")))


def unseat_bot(seating: Seating, caller: Caller, seat: int) -> Seating:
    """Free a built-in bot's seat. Raises PlatformError."""
    require_phase(seating, "gathering")
    require_host(seating, caller)
    if seating.places[seat].player_id is not None:
        raise PlatformError("SEAT_TAKEN", f"a player sits in seat {seat}", details={"seat": seat})
    return _put(seating, seat, FREE)


def set_ready(seating: Seating, player_id: str, ready: bool) -> Seating:
    """Note whether a player is ready. Raises PlatformError (NOT_SEATED, WRONG_PHASE)."""
    seat = seat_of(seating, player_id)
    require_phase(seating, "gathering", "playing")
    return _put(seating, seat, replace(seating.places[seat], ready=ready))


def start(seating: Seating, caller: Caller, bot: str) -> Seating:
    """Fill free seats with a bot; the host is ready by asking. Raises PlatformError."""
    require_phase(seating, "gathering")
    require_host(seating, caller)
    checked_bot(bot, "bot")
    places = tuple([Place(bot=bot) if place.is_free else place for place in seating.places])
    seat = seating.seat_of(caller.player_id)
    if seat is not None:
        places = (*places[:seat], replace(places[seat], ready=True), *places[seat + 1 :])
    waited_for = [seat for seat, place in enumerate(places) if not place.is_ready]
    if waited_for:
        seats = ", ".join(map(str, waited_for))
        raise PlatformError("WRONG_PHASE", f"not ready yet: seat {seats}", details={"seats": waited_for})
    return replace(seating, places=places)


def seat_of(seating: Seating, player_id: str) -> int:
    """The seat of a player. Raises PlatformError (NOT_SEATED)."""
    seat = seating.seat_of(player_id)
    if seat is None:
        raise PlatformError("NOT_SEATED", "you have no seat at this table")
    return seat


def require_phase(seating: Seating, *statuses: str) -> None:
    """Raises PlatformError (WRONG_PHASE) unless the table stands so."""
    if seating.status not in statuses:
        raise PlatformError(
            "WRONG_PHASE",
            f"the table is {seating.status}; this wants one that is {' or '.join(statuses)}",
            details={"status": seating.status},
        )


def require_host(seating: Seating, caller: Caller) -> None:
    """Raises PlatformError (FORBIDDEN) unless the caller is the table's host."""
    if seating.host_id != caller.player_id:
        raise PlatformError("FORBIDDEN", "only the host of the table may do this")


def _put(seating: Seating, seat: int, place: Place) -> Seating:
    return replace(seating, places=(*seating.places[:seat], place, *seating.places[seat + 1 :]))
