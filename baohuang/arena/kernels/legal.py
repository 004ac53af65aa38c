"""What a seat may do: action ids, each action once."""

from __future__ import annotations

from baohuang.arena.jit import hot, inner
from baohuang.arena.kernels.hands import first_in_order, holds
from baohuang.arena.kernels.layout import (
    CALL,
    CLAIM_SOLO,
    COUNTER_IT,
    DECK,
    DECLARES_NONE,
    DECLINE,
    EMPEROR,
    EMPEROR_JOKER,
    FIRST_HOLDER,
    GIVE,
    GUARD,
    GUARD_JOKER,
    HANDS,
    KEEP,
    KINDS,
    MOST_DUES,
    NO,
    NONE,
    OWNER,
    PASS,
    REBEL,
    REDEAL,
    RETURN_COUNTS,
    RETURNS,
    S_ADDED,
    S_CALLABLE,
    SHOW_GUARD,
    SIZES,
    STEP,
    STEP_CALL,
    STEP_CLAIM,
    STEP_DECLARE,
    STEP_PLAY,
    STEP_THRONE,
    STEP_TRIBUTE,
    SUITED,
    T_ADDS,
    T_CALLS,
    T_GRAB,
    T_MOST_REDEALS,
    T_OPEN_GUARD,
    T_REBELLION,
    T_ROUND,
    T_THRONE,
    TAKE,
    THRONE_OFFER,
    THRONE_UPSTREAM,
    YIELD,
    YIELDS,
    Ids,
    Row,
    Tables,
)
from baohuang.arena.kernels.plays import list_answers, list_leads, may_answer


@hot
def list_legal(s: Row, t: Tables, seat: int, out: Ids) -> int:
    """Writes the actions of a seat that is awaited to `out` and gives back how many there are."""
    if s[STEP] != STEP_PLAY:
        return _list_opening(s, t, seat, out)
    if s[OWNER] == NONE:
        return list_leads(s, t, seat, out)
    out[0] = PASS
    return list_answers(s, t, seat, out, 1) if may_answer(s, t, seat) else 1


@inner
def _list_opening(s: Row, t: Tables, seat: int, out: Ids) -> int:
    step = s[STEP]
    if step == STEP_TRIBUTE:
        return _list_gifts(s, seat, out)
    if step == STEP_THRONE:
        return _list_throne(s, t, seat, out)
    if step == STEP_CALL:
        return _list_calls(s, t, seat, out)
    count = 0
    if step == STEP_CLAIM:
        if t[T_GRAB] or (seat == s[EMPEROR] and seat == s[GUARD]):
            out[0] = CLAIM_SOLO
            count = 1
    elif step == STEP_DECLARE:
        if seat != s[EMPEROR]:
            guards = seat == s[GUARD]
            if t[T_OPEN_GUARD if guards else T_REBELLION] != DECLARES_NONE:
                out[0] = SHOW_GUARD if guards else REBEL
                count = 1
    else:
        out[0] = COUNTER_IT
        count = 1
    out[count] = NO
    return count + 1


@inner
def _list_gifts(s: Row, seat: int, out: Ids) -> int:
    count = 0
    for kind in range(KINDS):
        left = s[HANDS + seat * KINDS + kind]
        for number in range(s[RETURN_COUNTS + seat]):
            left -= s[RETURNS + seat * MOST_DUES + number] == kind
        if left > 0:
            out[count] = GIVE + kind
            count += 1
    return count


@inner
def is_callable(s: Row, t: Tables, seat: int, kind: int) -> bool:
    """Whether an emperor in that seat may call that card (R5.5)."""
    return bool(t[t[S_CALLABLE] + 5 * s[DECK + kind] + s[HANDS + seat * KINDS + kind]])


@inner
def can_call(s: Row, t: Tables, seat: int) -> bool:
    """Whether an emperor in that seat may call any card."""
    for kind in range(SUITED):  # noqa: SIM110 - Numba compiles no generators
        if is_callable(s, t, seat, kind):
            return True
    return False


@inner
def _list_calls(s: Row, t: Tables, seat: int, out: Ids) -> int:
    count = 0
    for kind in range(SUITED):
        if is_callable(s, t, seat, kind):
            out[count] = CALL + kind
            count += 1
    out[count] = CLAIM_SOLO
    return count + 1


@inner
def _holds_copies(s: Row, seat: int, number: int) -> bool:
    for kind in range(SUITED):  # noqa: SIM110 - Numba compiles no generators
        if s[HANDS + seat * KINDS + kind] >= number:
            return True
    return False


@inner
def _list_throne(s: Row, t: Tables, seat: int, out: Ids) -> int:
    if t[T_THRONE] == THRONE_UPSTREAM:
        return _list_upstream(s, t, seat, out)
    if t[T_THRONE] == THRONE_OFFER:
        keeps = seat == s[FIRST_HOLDER]
        out[0] = KEEP if keeps else TAKE
        out[1] = YIELD if keeps else DECLINE
        return 2 if not keeps or (holds(s, seat, GUARD_JOKER) and holds(s, seat, EMPEROR_JOKER)) else 1
    if not _holds_copies(s, seat, 3):
        out[0] = DECLINE
        return 1
    out[0] = TAKE
    out[1] = DECLINE
    return 1 if s[REDEAL] == t[T_MOST_REDEALS] else 2


@inner
def _list_upstream(s: Row, t: Tables, seat: int, out: Ids) -> int:
    """R5.2, R5.3."""
    take = KEEP if s[YIELDS] == 0 else TAKE
    out[0] = take
    out[1] = YIELD
    left = s[SIZES + seat] - 1
    if t[T_ADDS] and s[YIELDS] > 0 and first_in_order(s, t, seat, S_ADDED) != NONE:
        left -= 1
    if left == 0:
        return 1  # a yield may not empty the hand
    calls = not t[T_CALLS] or can_call(s, t, seat)
    if s[REDEAL] == t[T_MOST_REDEALS]:
        out[0] = take if calls else YIELD
        return 1
    second_round = t[T_CALLS] and seat == s[FIRST_HOLDER] and s[YIELDS] >= t[T_ROUND]
    if second_round and calls and not _holds_copies(s, seat, 4):
        return 1
    return 2
