"""Scores (R8) and what a hand makes the next one owe (R10.5, R10.6)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from baohuang.rules.outcome import Due, DueKind, Outcome, Termination
from baohuang.rules.roles import SEATS, Seat, Solo, roles_of
from baohuang.rules.ruleset import OpenGuard, Rebellion, RuleSet
from baohuang.rules.state import ClearedDebt, PublicState, State, known

PENALTY: Final = -40
"""For leaving by force or being removed (R8.5)."""
SOLO_BASE: Final = 12
"""What a solo emperor wins or loses before the multiplier (R8.2)."""
REFUSED_LOSS: Final = 12
"""What the giver of a throne that nobody takes loses (R5.1)."""


def multiplier(
    rules: RuleSet,
    solo: Solo,
    *,
    open_guard: bool = False,
    rebellion: bool = False,
    counter: bool = False,
    recounter: bool = False,
) -> int:
    """By what a hand's scores are multiplied (R8.2, R8.3); each flag says whether that declaration stands."""
    doubles = rebellion and rules.rebellion is Rebellion.DOUBLES
    if solo is Solo.NONE:
        doubles = doubles or (open_guard and rules.open_guard is OpenGuard.DOUBLES)
    elif solo is Solo.OPEN:
        doubles = True
    return (2 if doubles else 1) * (2 if counter else 1) * (2 if recounter else 1)


def pair_scores(emperor_place: int, guard_place: int, times: int, *, split: bool) -> tuple[int, int, int]:
    """Scores of emperor, guard, each rebel (R8.1, R8.3); `split` shares the royal total (R5.12)."""
    guard = (6 - (emperor_place + guard_place)) * times
    if split:
        return 3 * guard // 2, 3 * guard // 2, -guard
    return 2 * guard, guard, -guard


def solo_scores(solo: Solo, emperor_place: int, times: int, *, cleared: bool = False) -> tuple[int, int]:
    """Scores of a solo emperor and of each rebel (R8.2); a `cleared` emperor has lost (R10.4)."""
    if emperor_place == 1 and not cleared:
        sign = 1
    elif emperor_place == 2 and solo is Solo.HIDDEN and not cleared:
        sign = 0
    else:
        sign = -1
    emperor = sign * SOLO_BASE * times
    return emperor, -emperor // 4


class Tribute(StrEnum):
    """Which side gives cards in the next hand (R10.5)."""

    COLLECTS = "collects"
    LEVEL = "level"
    PAYS = "pays"


def tribute_result(emperor_place: int, guard_place: int) -> Tribute:
    """What the royal side does in the next hand's tribute (R10.5)."""
    if emperor_place == 1:
        return Tribute.COLLECTS if guard_place != 5 else Tribute.LEVEL
    if guard_place == 1 and emperor_place in (2, 3):
        return Tribute.COLLECTS if emperor_place == 2 else Tribute.LEVEL
    return Tribute.PAYS


def tribute_dues(places: Sequence[int], emperor: Seat, guard: Seat) -> tuple[Due, ...]:
    """The tribute cards that the next hand owes, in the order of R10.6; for hands with two royal players."""
    best, middle, worst = sorted(
        [seat for seat in SEATS if seat not in (emperor, guard)], key=lambda seat: places[seat]
    )
    result = tribute_result(places[emperor], places[guard])
    if result is Tribute.COLLECTS:
        pairs = [(worst, emperor), (middle, emperor), (best, guard)]
    elif result is Tribute.PAYS:
        pairs = [(emperor, best), (emperor, middle), (guard, worst)]
    else:
        pairs = []
    return tuple(Due(DueKind.TRIBUTE, giver, receiver) for giver, receiver in pairs)


def played_outcome(state: State, places: tuple[int, ...]) -> Outcome:
    """The outcome of a hand that was played to `places`."""
    public, solo = state.public, state.solo
    rules, emperor, guard = public.rules, known(public.emperor), known(state.hidden.guard)
    times = multiplier(
        rules,
        solo,
        open_guard=public.open_guard,
        rebellion=public.rebellion,
        counter=public.counter,
        recounter=public.recounter,
    )
    if solo is Solo.NONE:
        crown, helper, rebel = pair_scores(places[emperor], places[guard], times, split=public.counter)
    else:
        cleared = any(debt.giver == emperor for debt in public.cleared)
        crown, rebel = solo_scores(solo, places[emperor], times, cleared=cleared)
        helper = crown
    dues = _debts(public.cleared)
    if rules.tribute and solo is Solo.NONE:
        dues += tribute_dues(places, emperor, guard)
    return Outcome(
        termination=Termination.PLAYED,
        places=places,
        roles=roles_of(emperor, guard),
        solo=solo,
        multiplier=times,
        scores=tuple(crown if seat == emperor else helper if seat == guard else rebel for seat in SEATS),
        penalties=_penalties(public),
        auto_play=public.auto_play,
        next_first_drawer=emperor,
        dues=dues,
    )


def refused_outcome(public: PublicState, giver: Seat) -> Outcome:
    """Nobody took the throne that `giver` offered (R5.1)."""
    scores = tuple(-REFUSED_LOSS if seat == giver else REFUSED_LOSS // 4 for seat in SEATS)
    return _unplayed(public, Termination.REFUSED, scores, giver)


def void_outcome(public: PublicState) -> Outcome:
    """No emperor could be found (R5.1, R5.14)."""
    return _unplayed(public, Termination.VOID, (0,) * 5, public.first_drawer)


def _unplayed(public: PublicState, why: Termination, scores: tuple[int, ...], first_drawer: Seat) -> Outcome:
    # Debts of a hand that was not played: none can have arisen (R10.5).
    return Outcome(
        termination=why,
        places=None,
        roles=None,
        solo=Solo.NONE,
        multiplier=1,
        scores=scores,
        penalties=_penalties(public),
        auto_play=public.auto_play,
        next_first_drawer=first_drawer,
        dues=(),
    )


def _debts(cleared: tuple[ClearedDebt, ...]) -> tuple[Due, ...]:
    return tuple(Due(DueKind.DEBT, debt.giver, debt.receiver) for debt in cleared)


def _penalties(public: PublicState) -> tuple[int, ...]:
    return tuple(PENALTY if forfeited else 0 for forfeited in public.forfeited)
