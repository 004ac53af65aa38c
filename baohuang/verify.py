"""Checks that a finished game was dealt as it was promised (docs/verifiable-deals.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from baohuang.record import Record
from baohuang.rules import events as ev
from baohuang.rules.cards import Hand
from baohuang.rules.events import Event
from baohuang.rules.roles import SEATS, Seat
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.shuffle import commit, deal


class DealCheck(NamedTuple):
    """One thing that was checked, in words."""

    holds: bool
    text: str


@dataclass(frozen=True)
class DealReport:
    """What `verify_deal` found.

    `unproven` says why there is nothing to judge by, "" where there is; `notes` say how far the proof goes.
    """

    checks: tuple[DealCheck, ...]
    unproven: str
    notes: tuple[str, ...]

    @property
    def has_failed(self) -> bool:
        """Whether any check failed."""
        return not all(check.holds for check in self.checks)

    @property
    def is_proven(self) -> bool:
        """Whether there was a commitment and everything follows from it."""
        return not self.unproven and not self.has_failed


def verify_deal(record: Record, *, noted: str | None = None) -> DealReport:
    """Checks commitment, nonces and every deal of a finished game.

    A viewer's record will do: the hands that it shows are checked. `noted` is the commitment (hex) that
    somebody wrote down before the deal, if he did. Only the deal is judged; whether the play was legal is for
    `baohuang.record.replay`.
    """
    events = record.events
    first, last = events[0] if events else None, events[-1] if events else None
    if not isinstance(first, ev.GameStarted):
        return _unproven("the record does not begin with game_started")
    checks = []
    if noted is not None:
        same = first.commitment == noted.lower()
        shown = first.commitment or "none"
        checks.append(DealCheck(same, f"commitment noted before the deal: the record has {shown}"))
    if any(isinstance(event, ev.Dealt) and event.deck is not None for event in events):
        return _unproven("the hands were given, not dealt from a seed", checks)
    if not isinstance(last, ev.HandEnded):
        return _unproven("the game is running: its seed is revealed by its last event", checks)
    if last.seed is None:
        return _unproven("the last event reveals no seed", checks)
    if first.seed is not None:
        checks.append(
            DealCheck(first.seed == last.seed, "seed of the first event: equals the one revealed at the end")
        )
    unproven = ""
    if first.commitment is None:
        unproven = "no commitment was published, so nothing shows that the seed was fixed before the deal"
    elif last.salt is None:
        checks.append(DealCheck(False, "commitment: there is one, but the last event reveals no salt"))
    else:
        made = commit(last.seed, last.salt)
        checks.append(
            DealCheck(
                made == first.commitment, f"commitment: {first.commitment}; SHA-256(seed ‖ salt) gives {made}"
            )
        )
    nonces, nonce_checks = _nonces(events)
    checks += nonce_checks
    checks += _deal_checks(events, first.rules, last.seed, nonces, first.first_drawer)
    return DealReport(tuple(checks), unproven, (_bound(nonces),))


def _unproven(why: str, checks: Sequence[DealCheck] = ()) -> DealReport:
    return DealReport(tuple(checks), why, ())


def _nonces(events: Sequence[Event]) -> tuple[list[str | None], list[DealCheck]]:
    nonces: list[str | None] = [None] * len(SEATS)
    checks = []
    dealt = False
    for event in events:
        dealt = dealt or isinstance(event, ev.Dealt)
        if isinstance(event, ev.NonceAdded):
            first = nonces[event.seat] is None
            checks.append(
                DealCheck(
                    first and not dealt, f"nonce of seat {event.seat}: its only one, added before the deal"
                )
            )
            if first and not dealt:
                nonces[event.seat] = event.nonce
    return nonces, checks


def _deal_checks(
    events: Sequence[Event], rules: RuleSet, seed: int, nonces: Sequence[str | None], first_drawer: Seat
) -> list[DealCheck]:
    checks = []
    deals = [event for event in events if isinstance(event, ev.Dealt)]
    if not deals:
        checks.append(DealCheck(False, "deal: the record holds none"))
    for redeal, dealt in enumerate(deals):
        expected = deal(rules, seed, nonces=nonces, redeal=redeal, first_drawer=first_drawer)
        name = f"redeal {redeal}" if redeal else "deal"
        if dealt.redeal != redeal:
            checks.append(DealCheck(False, f"{name}: the record numbers it {dealt.redeal}"))
        checks.append(_hands_check(name, dealt.hands, expected))
    return checks


def _hands_check(name: str, hands: Sequence[Hand | None], expected: Sequence[Hand]) -> DealCheck:
    shown = [seat for seat in SEATS if hands[seat] is not None]
    wrong = [seat for seat in shown if hands[seat] != expected[seat]]
    if wrong:
        return DealCheck(
            False, f"{name}: {_seats(wrong)} got other cards than follow from the seed and the nonces"
        )
    which = (
        "all five hands follow"
        if len(shown) == len(SEATS)
        else f"of the hands, those shown ({_seats(shown)}) follow"
    )
    return DealCheck(True, f"{name}: {which} from the seed and the nonces")


def _seats(seats: Sequence[Seat]) -> str:
    if not seats:
        return "none"
    return f"seat{'s' if len(seats) > 1 else ''} {', '.join(map(str, seats))}"


def _bound(nonces: Sequence[str | None]) -> str:
    added = [seat for seat in SEATS if nonces[seat] is not None]
    if not added:
        return "no seat added a nonce: this shows that the deal was fixed before play, not how it was chosen"
    return (
        f"who added a nonce ({_seats(added)}) knows that the deal was not chosen by anyone without that nonce"
    )
