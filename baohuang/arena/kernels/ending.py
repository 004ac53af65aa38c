"""The end of a hand: places, scores, what the next hand owes (R6.3, R8, R10.5)."""

from __future__ import annotations

from baohuang.arena.jit import inner
from baohuang.arena.kernels.hands import take_place
from baohuang.arena.kernels.layout import (
    CLEARED,
    CLEARED_COUNT,
    COUNTER,
    DUE_DEBT,
    DUE_TRIBUTE,
    EMPEROR,
    FIRST_DRAWER,
    GUARD,
    MULTIPLIER,
    NEXT_FIRST,
    NONE,
    OPEN_GUARD,
    OPEN_SOLO,
    OWED,
    OWED_COUNT,
    PENDING,
    PLACES,
    REBELLION,
    RECOUNTER,
    ROLE_EMPEROR,
    ROLE_GUARD,
    ROLE_REBEL,
    ROLES,
    S_MULTIPLIER,
    S_PAIR,
    S_SOLO,
    S_TRIBUTE,
    SCORES,
    SEAT,
    SEATS,
    SHOWN,
    SOLO,
    SOLO_HIDDEN,
    SOLO_NONE,
    SOLO_OPEN,
    STEP,
    STEP_OVER,
    T_REFUSED_GIVER,
    T_REFUSED_OTHER,
    T_TRIBUTE,
    TERMINATION,
    TERMINATION_PLAYED,
    TERMINATION_REFUSED,
    TERMINATION_VOID,
    Row,
    Tables,
)


@inner
def solo_of(s: Row) -> int:
    """Whether emperor and guard are one, undeclared or declared."""
    if s[GUARD] != s[EMPEROR]:
        return SOLO_NONE
    return SOLO_OPEN if s[OPEN_SOLO] else SOLO_HIDDEN


@inner
def end_void(s: Row) -> None:
    """No emperor could be found (R8.6)."""
    _end(s, TERMINATION_VOID)
    s[NEXT_FIRST] = s[FIRST_DRAWER]


@inner
def end_refused(s: Row, t: Tables, giver: int) -> None:
    """Nobody took the throne that `giver` offered (R5.1)."""
    _end(s, TERMINATION_REFUSED)
    for seat in range(SEATS):
        s[SCORES + seat] = t[T_REFUSED_GIVER] if seat == giver else t[T_REFUSED_OTHER]
    s[NEXT_FIRST] = giver


@inner
def end_played(s: Row, t: Tables, last: int) -> None:
    """Fills the places left, downstream from the player of the last play, and scores them (R6.3)."""
    _end(s, TERMINATION_PLAYED)
    _fill_places(s, last)
    _score(s, t)
    _owe(s, t)
    s[NEXT_FIRST] = s[EMPEROR]


@inner
def _end(s: Row, termination: int) -> None:
    s[STEP] = STEP_OVER
    s[SEAT] = NONE
    s[PENDING] = 0
    s[TERMINATION] = termination
    if s[GUARD] != NONE:
        s[SHOWN] = 1


@inner
def first_free(s: Row) -> int:
    """The lowest place that nobody has."""
    return _free(s, 1, 1)


@inner
def last_free(s: Row) -> int:
    """The highest place that nobody has."""
    return _free(s, SEATS, -1)


@inner
def _free(s: Row, place: int, step: int) -> int:
    taken = True
    while taken:
        taken = False
        for seat in range(SEATS):
            if s[PLACES + seat] == place:
                taken = True
        if taken:
            place += step
    return place


@inner
def _fill_places(s: Row, last: int) -> None:
    for steps in range(1, SEATS + 1):
        seat = (last + steps) % SEATS
        if s[PLACES + seat] == 0:
            take_place(s, seat, first_free(s))


@inner
def _score(s: Row, t: Tables) -> None:
    emperor, guard, solo = int(s[EMPEROR]), int(s[GUARD]), solo_of(s)
    flags = s[OPEN_GUARD] + 2 * s[REBELLION] + 4 * s[COUNTER] + 8 * s[RECOUNTER]
    s[SOLO] = solo
    s[MULTIPLIER] = t[t[S_MULTIPLIER] + 16 * solo + flags]
    place = s[PLACES + emperor] - 1
    if solo == SOLO_NONE:
        row = t[S_PAIR] + 3 * ((flags * SEATS + place) * SEATS + s[PLACES + guard] - 1)
        crown, helper, rebel = t[row], t[row + 1], t[row + 2]
    else:
        cleared = 0
        for number in range(s[CLEARED_COUNT]):
            if s[CLEARED + 2 * number] == emperor:
                cleared = 1
        row = t[S_SOLO] + 2 * ((((solo - 1) * 16 + flags) * SEATS + place) * 2 + cleared)
        crown, helper, rebel = t[row], t[row], t[row + 1]
    for seat in range(SEATS):
        if seat == emperor:
            s[ROLES + seat] = ROLE_EMPEROR
            s[SCORES + seat] = crown
        elif seat == guard:
            s[ROLES + seat] = ROLE_GUARD
            s[SCORES + seat] = helper
        else:
            s[ROLES + seat] = ROLE_REBEL
            s[SCORES + seat] = rebel


@inner
def _owe(s: Row, t: Tables) -> None:
    """Debts of the cleared, then tribute (R10.4, R10.5)."""
    for number in range(s[CLEARED_COUNT]):
        giver, receiver = int(s[CLEARED + 2 * number]), int(s[CLEARED + 2 * number + 1])
        _add_owed(s, DUE_DEBT, giver, receiver)
    if not t[T_TRIBUTE] or s[SOLO] != SOLO_NONE:
        return
    row = t[S_TRIBUTE] + 7 * ((s[PLACES + s[EMPEROR]] - 1) * SEATS + s[PLACES + s[GUARD]] - 1)
    for number in range(t[row]):
        giver = _seat_of_part(s, int(t[row + 1 + 2 * number]))
        receiver = _seat_of_part(s, int(t[row + 2 + 2 * number]))
        _add_owed(s, DUE_TRIBUTE, giver, receiver)


@inner
def _seat_of_part(s: Row, part: int) -> int:
    """The seat of emperor (0), guard (1), and of the rebels from best to worst (2 … 4)."""
    if part < 2:
        return int(s[EMPEROR if part == 0 else GUARD])
    rebels = part - 1
    place = 0
    found = NONE
    while rebels > 0:
        place += 1
        for seat in range(SEATS):
            if s[PLACES + seat] == place and seat != s[EMPEROR] and seat != s[GUARD]:
                rebels -= 1
                found = seat
    return found


@inner
def _add_owed(s: Row, kind: int, giver: int, receiver: int) -> None:
    field = OWED + 3 * s[OWED_COUNT]
    s[field] = kind
    s[field + 1] = giver
    s[field + 2] = receiver
    s[OWED_COUNT] += 1
