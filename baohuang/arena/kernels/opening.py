"""The steps before the first card, each going to the next that rule set and hand need (R5, R10.1, R10.6)."""

from __future__ import annotations

from baohuang.arena.jit import inner
from baohuang.arena.kernels.ending import end_refused, end_void
from baohuang.arena.kernels.hands import (
    first_in_order,
    holder_of,
    holds,
    lay_down,
    lowest_seat,
    move,
    others,
    pick_up,
    royal_side,
    size_of,
)
from baohuang.arena.kernels.layout import (
    CALL,
    CALLED,
    CLAIM_SOLO,
    COUNTER,
    COUNTERS,
    DEALS,
    DEALS_GIVEN,
    DECLARED,
    DECLARES_DOUBLES,
    DECLARES_NONE,
    EMPEROR,
    EMPEROR_JOKER,
    EVERYBODY,
    FIRST_DRAWER,
    FIRST_HOLDER,
    GIFT_COUNT,
    GIFTS,
    GIVE,
    GUARD,
    GUARD_JOKER,
    HOLDER,
    KEEP,
    MOST_DUES,
    NO,
    NONE,
    OPEN_GUARD,
    OPEN_SOLO,
    PENDING,
    REBELLION,
    REBELS,
    RECOUNTER,
    RECOUNTERS,
    REDEAL,
    REFUSE_MUST_PLAY,
    REFUSE_VOID,
    RETURN_COUNTS,
    RETURNS,
    S_ADDED,
    S_BOTTOM_FIRST,
    S_BOTTOM_OTHER,
    S_COUNTER_NEEDS,
    S_COUNTER_SIDE,
    S_OFFERED,
    S_REBELLION_STANDS,
    SEAT,
    SEATS,
    SHOWN,
    SIZES,
    STEP,
    STEP_CALL,
    STEP_CLAIM,
    STEP_COUNTER,
    STEP_DEAL,
    STEP_DECLARE,
    STEP_PLAY,
    STEP_RECOUNTER,
    STEP_THRONE,
    STEP_TRIBUTE,
    T_ADDS,
    T_ASKS_CLAIMS,
    T_CALLS,
    T_COUNTERS,
    T_MOST_REDEALS,
    T_MOST_YIELDS,
    T_OPEN_GUARD,
    T_REBELLION,
    T_REFUSE,
    T_ROUND,
    T_THRONE,
    TAKE,
    THRONE_FIXED,
    THRONE_OFFER,
    THRONE_UPSTREAM,
    YIELD,
    YIELDS,
    Row,
    Tables,
)


@inner
def answer(s: Row, t: Tables, seat: int, action: int) -> None:
    """Follows the legal answer of a seat that is awaited."""
    step = int(s[STEP])
    if step == STEP_THRONE:
        if t[T_THRONE] == THRONE_OFFER:
            _answer_offer(s, t, seat, action)
        elif t[T_THRONE] == THRONE_UPSTREAM:
            _answer_upstream(s, t, seat, action)
        else:
            _answer_bottom_cards(s, t, seat, action)
    elif step == STEP_CALL:
        if action == CLAIM_SOLO:
            s[GUARD] = seat
            _begin_open_solo(s, t)
        else:
            _call(s, t, seat, action - CALL)
    elif step == STEP_TRIBUTE:
        _give_back(s, t, seat, action - GIVE)
    else:
        if action != NO:
            s[DECLARED] |= 1 << seat
        if _is_last_answer(s, seat):
            if step == STEP_CLAIM:
                _close_claims(s, t)
            elif step == STEP_DECLARE:
                _close_declarations(s, t)
            else:
                _close_counters(s, t, step)


@inner
def ask_all(s: Row, step: int, seats: int) -> None:
    """Opens a step that the seats of a set answer."""
    s[STEP] = step
    s[PENDING] = seats
    s[DECLARED] = 0
    s[SEAT] = lowest_seat(seats)


@inner
def _ask_one(s: Row, step: int, seat: int) -> None:
    s[STEP] = step
    s[PENDING] = 0
    s[SEAT] = seat


@inner
def _is_last_answer(s: Row, seat: int) -> bool:
    s[PENDING] &= ~(1 << seat)
    if s[PENDING]:
        s[SEAT] = lowest_seat(int(s[PENDING]))
        return False
    return True


# --------------------------------------------------------------------------------------------- tribute and
# throne
@inner
def _give_back(s: Row, t: Tables, seat: int, kind: int) -> None:
    given = s[RETURN_COUNTS + seat]
    s[RETURNS + seat * MOST_DUES + given] = kind
    s[RETURN_COUNTS + seat] += 1
    received = 0
    for gift in range(s[GIFT_COUNT]):
        received += s[GIFTS + 2 * gift + 1] == seat
    if given + 1 < received or not _is_last_answer(s, seat):
        return
    s[RETURN_COUNTS : RETURN_COUNTS + SEATS] = 0
    for gift in range(s[GIFT_COUNT]):
        giver, receiver = int(s[GIFTS + 2 * gift]), int(s[GIFTS + 2 * gift + 1])
        kind = int(s[RETURNS + receiver * MOST_DUES + s[RETURN_COUNTS + receiver]])
        move(s, t, receiver, giver, kind)
        s[RETURN_COUNTS + receiver] += 1
    s[RETURN_COUNTS : RETURNS + SEATS * MOST_DUES] = 0
    enthrone_holder(s, t)


@inner
def enthrone_holder(s: Row, t: Tables) -> None:
    """Asks the first holder; a fixed throne needs no answer (R5.4)."""
    if t[T_THRONE] == THRONE_FIXED:
        _enthrone(s, t, int(s[FIRST_HOLDER]))
    else:
        _ask_one(s, STEP_THRONE, int(s[FIRST_HOLDER]))


@inner
def _answer_offer(s: Row, t: Tables, seat: int, action: int) -> None:
    """R5.1."""
    giver = int(s[FIRST_HOLDER])
    if action == KEEP:
        _enthrone(s, t, seat)
        return
    if action == TAKE:
        s[HOLDER] = seat
        move(s, t, giver, seat, EMPEROR_JOKER)
        _enthrone(s, t, seat)
        s[SHOWN] = 1
        return
    steps = int(t[t[S_OFFERED] + s[YIELDS]])
    s[YIELDS] += 1
    if steps != NONE:
        asked = (giver + steps) % SEATS
        s[HOLDER] = asked
        _ask_one(s, STEP_THRONE, asked)
        return
    s[HOLDER] = seat
    if t[T_REFUSE] == REFUSE_MUST_PLAY:
        _enthrone(s, t, giver)
        s[SHOWN] = 1
    elif t[T_REFUSE] == REFUSE_VOID:
        end_void(s)
    else:
        end_refused(s, t, giver)


@inner
def _answer_upstream(s: Row, t: Tables, seat: int, action: int) -> None:
    """R5.2, R5.3."""
    if action != YIELD:
        if action == TAKE:
            pick_up(s, t, seat)
        s[HOLDER] = seat
        _enthrone(s, t, seat)
        return
    if t[T_ADDS] and s[YIELDS] > 0:
        lay_down(s, t, seat, first_in_order(s, t, seat, S_ADDED))
    s[YIELDS] += 1
    if s[YIELDS] == t[T_MOST_YIELDS]:
        s[HOLDER] = seat
        _deal_again(s, t)
    elif s[REDEAL] == t[T_MOST_REDEALS] and s[YIELDS] == t[T_ROUND]:
        s[HOLDER] = seat
        end_void(s)
    else:
        asked = (seat + SEATS - 1) % SEATS
        move(s, t, seat, asked, EMPEROR_JOKER)
        s[HOLDER] = asked
        _ask_one(s, STEP_THRONE, asked)


@inner
def _answer_bottom_cards(s: Row, t: Tables, seat: int, action: int) -> None:
    """R10.1."""
    s[HOLDER] = seat
    if action == TAKE:
        pick_up(s, t, seat)
        _enthrone(s, t, seat)
        return
    order = S_BOTTOM_FIRST if seat == s[FIRST_DRAWER] else S_BOTTOM_OTHER
    if s[SIZES + seat] > 1:
        lay_down(s, t, seat, first_in_order(s, t, seat, order))
    s[YIELDS] += 1
    asked = (seat + 1) % SEATS
    if asked == s[FIRST_DRAWER]:
        _deal_again(s, t)
    else:
        s[HOLDER] = asked
        _ask_one(s, STEP_THRONE, asked)


@inner
def _deal_again(s: Row, t: Tables) -> None:
    """Nobody took the throne (R5.14)."""
    if s[REDEAL] == t[T_MOST_REDEALS] or s[DEALS] == DEALS_GIVEN:
        end_void(s)
    else:
        s[REDEAL] += 1
        s[STEP] = STEP_DEAL
        s[SEAT] = NONE


# ------------------------------------------------------------------------------------------------ call and
# claims
@inner
def _enthrone(s: Row, t: Tables, emperor: int) -> None:
    s[EMPEROR] = s[HOLDER] = emperor
    if t[T_CALLS]:
        _ask_one(s, STEP_CALL, emperor)
    else:
        s[GUARD] = holder_of(s, GUARD_JOKER)
        _after_roles(s, t)


@inner
def _call(s: Row, t: Tables, emperor: int, card: int) -> None:
    s[CALLED] = card
    s[GUARD] = emperor
    for seat in range(SEATS):
        if seat != emperor and holds(s, seat, card):
            s[GUARD] = seat
            break
    _after_roles(s, t)


@inner
def _after_roles(s: Row, t: Tables) -> None:
    if t[T_ASKS_CLAIMS]:
        ask_all(s, STEP_CLAIM, EVERYBODY)
    else:
        _after_claims(s, t)


@inner
def _after_claims(s: Row, t: Tables) -> None:
    if t[T_OPEN_GUARD] == DECLARES_NONE and t[T_REBELLION] == DECLARES_NONE:
        start_play(s)
    else:
        ask_all(s, STEP_DECLARE, EVERYBODY)


@inner
def _close_claims(s: Row, t: Tables) -> None:
    claimants = int(s[DECLARED])
    if not claimants:
        _after_claims(s, t)
        return
    winner = int(s[EMPEROR])
    while not claimants >> winner & 1:  # the emperor first, then upstream from him (R5.7)
        winner = (winner + SEATS - 1) % SEATS
    s[EMPEROR] = s[GUARD] = winner
    s[CALLED] = NONE
    _begin_open_solo(s, t)


@inner
def _begin_open_solo(s: Row, t: Tables) -> None:
    s[OPEN_SOLO] = s[SHOWN] = 1
    _ask_counters(s, t)


# -------------------------------------------------------------------------------------------------
# declarations
@inner
def _close_declarations(s: Row, t: Tables) -> None:
    royals = royal_side(int(s[EMPEROR]), int(s[GUARD]))
    rebels = int(s[DECLARED]) & others(royals)
    s[REBELS] = rebels
    s[OPEN_GUARD] = 1 if s[DECLARED] & royals else 0
    s[REBELLION] = t[t[S_REBELLION_STANDS] + size_of(rebels)]
    doubles = s[REBELLION] and t[T_REBELLION] == DECLARES_DOUBLES
    if s[OPEN_GUARD] or doubles or rebels == others(royals):
        s[SHOWN] = 1
    if s[OPEN_GUARD] or s[REBELLION]:
        _ask_counters(s, t)
    else:
        start_play(s)


@inner
def _ask_counters(s: Row, t: Tables) -> None:
    if t[T_COUNTERS]:
        ask_all(s, STEP_COUNTER, countering_side(s, t, STEP_COUNTER))
    else:
        start_play(s)


@inner
def _case(s: Row, step: int) -> int:
    """Row of the counter tables: who declared, and which step it is."""
    royals_declared = s[OPEN_SOLO] or s[OPEN_GUARD]
    return (2 if royals_declared else 0) + (1 if step == STEP_RECOUNTER else 0)


@inner
def countering_side(s: Row, t: Tables, step: int) -> int:
    """The set of those who may counter, or recounter (R5.10, R5.11)."""
    royals = royal_side(int(s[EMPEROR]), int(s[GUARD]))
    return others(royals) if t[t[S_COUNTER_SIDE] + _case(s, step)] else royals


@inner
def _close_counters(s: Row, t: Tables, step: int) -> None:
    stands = size_of(int(s[DECLARED])) >= t[t[S_COUNTER_NEEDS] + _case(s, step)]
    if step == STEP_RECOUNTER:
        s[RECOUNTERS] = s[DECLARED]
        s[RECOUNTER] = stands
        start_play(s)
        return
    s[COUNTERS] = s[DECLARED]
    s[COUNTER] = stands
    if stands and s[GUARD] != s[EMPEROR]:
        ask_all(s, STEP_RECOUNTER, countering_side(s, t, STEP_RECOUNTER))
    else:
        start_play(s)


@inner
def start_play(s: Row) -> None:
    """The emperor leads (R6.1)."""
    s[DECLARED] = 0
    _ask_one(s, STEP_PLAY, int(s[EMPEROR]))
