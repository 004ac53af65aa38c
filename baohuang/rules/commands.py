"""What may be asked of a game. `decide` answers each with events or a `RuleError`."""

from __future__ import annotations

from dataclasses import dataclass

from baohuang.rules.actions import Action
from baohuang.rules.cards import Hand
from baohuang.rules.events import AutoPlayReason, ForfeitReason
from baohuang.rules.outcome import Due
from baohuang.rules.roles import Opening, Seat
from baohuang.rules.ruleset import RuleSet


@dataclass(frozen=True)
class Start:
    """Begins a game: from `seed`, or from given `hands` (R2.7), then possibly at play by `opening`.

    `salt` (32 bytes) makes the first event carry a commitment. `await_nonces` puts the deal off until `Deal`.
    """

    rules: RuleSet
    first_drawer: Seat = 0
    dues: tuple[Due, ...] = ()
    seed: int | None = None
    salt: bytes | None = None
    await_nonces: bool = False
    hands: tuple[Hand, ...] | None = None
    opening: Opening | None = None


@dataclass(frozen=True)
class AddNonce:
    """A seat's own share in the shuffle: 1 to 64 bytes of UTF-8, once a seat, before the deal."""

    seat: Seat
    nonce: str


@dataclass(frozen=True)
class Deal:
    """Deals a game that awaited nonces."""


@dataclass(frozen=True)
class Act:
    """What a player does."""

    seat: Seat
    action: Action


@dataclass(frozen=True)
class AutoAct:
    """The action of R9 for a seat that is on auto-play."""

    seat: Seat


@dataclass(frozen=True)
class StartAutoPlay:
    """The server plays for the seat from now on (R9.1)."""

    seat: Seat
    why: AutoPlayReason


@dataclass(frozen=True)
class StopAutoPlay:
    """The player takes back control (R9.3)."""

    seat: Seat


@dataclass(frozen=True)
class Forfeit:
    """The player left by force or was removed (R8.5)."""

    seat: Seat
    why: ForfeitReason


Command = Start | AddNonce | Deal | Act | AutoAct | StartAutoPlay | StopAutoPlay | Forfeit
