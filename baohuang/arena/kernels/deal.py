"""From nothing to five hands: rows made anew, shuffles, given deals, debts and tribute (R2.2, R10.6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from baohuang.arena.jit import hot, inner
from baohuang.arena.kernels.bits import below, put_stairs
from baohuang.arena.kernels.chance import Stream, draw_three, open_stream
from baohuang.arena.kernels.hands import first_in_order, holder_of, move
from baohuang.arena.kernels.layout import (
    BIG,
    CALLED,
    CARRIED,
    DEALS,
    DECK,
    DUE_COUNT,
    DUES,
    EMPEROR,
    EMPEROR_JOKER,
    EVERYBODY,
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
    PLAYING,
    RANKS,
    RANKS_STRIDE,
    REDEAL,
    ROLES,
    ROW,
    S_COUNTS,
    S_DECK,
    S_HIGHEST,
    SEATS,
    SHAPE,
    SIZES,
    SMALL,
    STEP,
    STEP_DEAL,
    STEP_THRONE,
    STEP_TRIBUTE,
    STRENGTH,
    SUITED,
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
    open_stream(stream, key_of(s), int(s[REDEAL]))
    size = int(t[T_DECK_SIZE])
    deck, counts = int(t[S_DECK]), int(t[S_COUNTS])
    for place in range(size):
        cards[place] = t[deck + place]
    hand = HANDS + KINDS * below(s[FIRST_DRAWER], SEATS)
    for dealt in range(0, size, 3):
        first, second, third = draw_three(stream, size - dealt)
        hand = _hand_out(s, cards, dealt, first, hand)
        if dealt + 1 < size:
            hand = _hand_out(s, cards, dealt + 1, second, hand)
        if dealt + 2 < size:
            hand = _hand_out(s, cards, dealt + 2, third, hand)
    for kind in range(KINDS):
        s[DECK + kind] = t[counts + kind]
    _count_hands(s)
    _open(s, t)


@hot
def _hand_out(s: Row, cards: Ids, place: int, number: int, hand: int) -> int:
    """Deals one of the cards from `place` on to the hand at an offset; gives back the next hand's."""
    other = below(place + number, 1 << 16)
    kind = below(cards[other], KINDS)
    cards[other] = cards[place]
    s[hand + kind] += 1
    return hand + KINDS if hand < HANDS + KINDS * (SEATS - 1) else HANDS


@inner
def deal_given(s: Row, t: Tables, hands: Any) -> None:
    """Deals the given hands, 5 × 56 counts."""
    _clear(s)
    for seat in range(SEATS):
        for kind in range(KINDS):
            s[HANDS + seat * KINDS + kind] = hands[seat, kind]
            s[DECK + kind] += hands[seat, kind]
    _count_hands(s)
    _open(s, t)


@inner
def _count_hands(s: Row) -> None:
    """All that is kept beside the hands about their numbers of cards."""
    for seat in range(SEATS):
        hand, ranks, levels = HANDS + seat * KINDS, RANKS + seat * RANKS_STRIDE, LEVELS + seat * RANKS_STRIDE
        size = 0
        for rank in range(TWO + 1):
            kind = hand + 4 * rank
            held = int(s[kind] + s[kind + 1] + s[kind + 2] + s[kind + 3])
            s[ranks + rank] = held
            size += held
            put_stairs(s, levels, 1 << rank, held)
        small, big = s[hand + SUITED] + s[hand + SUITED + 1], s[hand + SUITED + 2] + s[hand + SUITED + 3]
        s[ranks + SMALL] = small
        s[ranks + BIG] = big
        s[SIZES + seat] = size + small + big


@inner
def _clear(s: Row) -> None:
    """What a refused deal left behind is gone."""
    for field in range(HANDS, CARRIED + KINDS):
        s[field] = 0
    for field in range(STEP, ROW):
        s[field] = 0
    s[EMPEROR] = s[GUARD] = s[CALLED] = s[FIRST_HOLDER] = s[HOLDER] = s[OWNER] = s[NEXT_FIRST] = NONE
    s[STRENGTH] = s[SHAPE] = NONE
    s[PLAYING] = EVERYBODY
    s[MULTIPLIER] = 1
    s[ROLES : ROLES + SEATS] = NONE


@inner
def _open(s: Row, t: Tables) -> None:
    """Debts and tribute, each the giver's highest card at that moment (R10.6), then the throne."""
    _find_holder(s, t)
    receivers = 0
    for due in range(s[DUE_COUNT]):
        giver, receiver = int(s[DUES + 3 * due + 1]), int(s[DUES + 3 * due + 2])
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
    holder = int(s[FIRST_DRAWER]) if t[T_THRONE] == THRONE_BOTTOM_CARDS else holder_of(s, EMPEROR_JOKER)
    s[STEP] = STEP_THRONE
    s[FIRST_HOLDER] = s[HOLDER] = holder
