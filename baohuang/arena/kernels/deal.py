"""From nothing to five hands: rows made anew, shuffles, given deals, debts and tribute (R2.2, R10.6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from baohuang.arena.jit import inner
from baohuang.arena.kernels.chance import Stream, draw_below, open_stream
from baohuang.arena.kernels.hands import first_in_order, holder_of, move
from baohuang.arena.kernels.layout import (
    CALLED,
    CARRIED,
    DEALS,
    DECK,
    DUE_COUNT,
    DUES,
    EMPEROR,
    EMPEROR_JOKER,
    FIRST_DRAWER,
    FIRST_HOLDER,
    GIFT_COUNT,
    GIFTS,
    GUARD,
    HANDS,
    HOLDER,
    KEY,
    KINDS,
    LEVELS,
    MULTIPLIER,
    NEXT_FIRST,
    NONE,
    OWNER,
    RANKS,
    RANKS_STRIDE,
    REDEAL,
    ROLES,
    ROW,
    S_DECK,
    S_HIGHEST,
    S_RANK_OF,
    SEATS,
    SIZES,
    STEP,
    STEP_DEAL,
    STEP_THRONE,
    STEP_TRIBUTE,
    STRENGTH,
    T_DECK_SIZE,
    T_RETURN,
    T_THRONE,
    THRONE_BOTTOM_CARDS,
    TWO,
    Ids,
    Row,
    Tables,
)
from baohuang.arena.kernels.opening import ask_all, enthrone_holder


@inner
def begin(s: Row, key: Any, deals: int, first_drawer: int) -> None:
    """An empty row that waits for its first deal, without dues."""
    for field in range(KEY, STEP):
        s[field] = 0
    set_key(s, key)
    s[DEALS] = deals
    s[FIRST_DRAWER] = first_drawer
    s[STEP] = STEP_DEAL


@inner
def set_key(s: Row, key: Any) -> None:
    """Writes the key of the stream of deals."""
    for part in range(4):
        s[KEY + part] = np.int16(key >> np.uint64(16 * part) & np.uint64(0xFFFF))


@inner
def key_of(s: Row) -> Any:
    """The key of the stream of deals."""
    key = np.uint64(0)
    for part in range(4):
        key |= (np.uint64(s[KEY + part]) & np.uint64(0xFFFF)) << np.uint64(16 * part)
    return key


@inner
def deal_shuffled(s: Row, t: Tables, stream: Stream, cards: Ids) -> None:
    """Deals from the game's stream of deals: each redeal has a lane of its own. `stream` and `cards` are
    scratch space.
    """
    _clear(s)
    open_stream(stream, key_of(s), s[REDEAL])
    size = t[T_DECK_SIZE]
    deck = t[S_DECK]
    for place in range(size):
        cards[place] = t[deck + place]
    rank_of = t[S_RANK_OF]
    seat = s[FIRST_DRAWER]
    for dealt in range(size):
        other = dealt + draw_below(stream, size - dealt)
        kind = cards[other]
        cards[other] = cards[dealt]
        s[HANDS + seat * KINDS + kind] += 1
        s[DECK + kind] += 1
        s[SIZES + seat] += 1
        _count_card(s, seat, t[rank_of + kind])
        seat = seat + 1 if seat < SEATS - 1 else 0
    _open(s, t)


@inner
def deal_given(s: Row, t: Tables, hands: Any) -> None:
    """Deals the given hands, 5 × 56 counts."""
    _clear(s)
    for seat in range(SEATS):
        for kind in range(KINDS):
            s[HANDS + seat * KINDS + kind] = hands[seat, kind]
            s[DECK + kind] += hands[seat, kind]
            s[SIZES + seat] += hands[seat, kind]
            for _ in range(hands[seat, kind]):
                _count_card(s, seat, t[t[S_RANK_OF] + kind])
    _open(s, t)


@inner
def _clear(s: Row) -> None:
    """What a refused deal left behind is gone."""
    for field in range(HANDS, CARRIED + KINDS):
        s[field] = 0
    for field in range(STEP, ROW):
        s[field] = 0
    s[EMPEROR] = s[GUARD] = s[CALLED] = s[FIRST_HOLDER] = s[HOLDER] = s[OWNER] = s[NEXT_FIRST] = NONE
    s[STRENGTH] = NONE
    s[MULTIPLIER] = 1
    s[ROLES : ROLES + SEATS] = NONE


@inner
def _count_card(s: Row, seat: int, rank: int) -> None:
    level = s[RANKS + seat * RANKS_STRIDE + rank]
    s[RANKS + seat * RANKS_STRIDE + rank] = level + 1
    if rank <= TWO:
        s[LEVELS + seat * RANKS_STRIDE + level] |= 1 << rank


@inner
def _open(s: Row, t: Tables) -> None:
    """Debts and tribute, each the giver's highest card at that moment (R10.6), then the throne."""
    _find_holder(s, t)
    receivers = 0
    for due in range(s[DUE_COUNT]):
        giver, receiver = s[DUES + 3 * due + 1], s[DUES + 3 * due + 2]
        if s[SIZES + giver] > 1:  # a last card stays where it is
            move(s, t, giver, receiver, first_in_order(s, t, giver, S_HIGHEST))
            gift = s[GIFT_COUNT]
            s[GIFTS + 2 * gift] = giver
            s[GIFTS + 2 * gift + 1] = receiver
            s[GIFT_COUNT] += 1
            receivers |= 1 << receiver
    if receivers and t[T_RETURN]:
        ask_all(s, STEP_TRIBUTE, receivers)
    else:
        enthrone_holder(s, t)


@inner
def _find_holder(s: Row, t: Tables) -> None:
    holder = s[FIRST_DRAWER] if t[T_THRONE] == THRONE_BOTTOM_CARDS else holder_of(s, EMPEROR_JOKER)
    s[STEP] = STEP_THRONE
    s[FIRST_HOLDER] = s[HOLDER] = holder
