"""Cards in hands, and seats in turn."""

from __future__ import annotations

from baohuang.arena.jit import hot, inner
from baohuang.arena.kernels.layout import (
    CARRIED,
    EVERYBODY,
    HANDS,
    KINDS,
    LEVELS,
    NONE,
    PLACES,
    RANKS,
    RANKS_STRIDE,
    S_RANK_OF,
    SEATS,
    SIZES,
    TWO,
    Row,
    Tables,
)


@inner
def add(s: Row, t: Tables, seat: int, kind: int, number: int) -> None:
    """Puts `number` cards (negative: takes) of a kind into a hand."""
    s[HANDS + seat * KINDS + kind] += number
    s[SIZES + seat] += number
    add_to_rank(s, seat, t[t[S_RANK_OF] + kind], number)


@hot
def add_to_rank(s: Row, seat: int, rank: int, number: int) -> None:
    """Counts `number` more (negative: fewer) cards of a rank."""
    field = RANKS + seat * RANKS_STRIDE + rank
    before = s[field]
    after = before + number
    s[field] = after
    if rank > TWO:
        return
    levels = LEVELS + seat * RANKS_STRIDE
    for level in range(before, after):
        s[levels + level] |= 1 << rank
    for level in range(after, before):
        s[levels + level] &= ~(1 << rank)


@inner
def move(s: Row, t: Tables, giver: int, receiver: int, kind: int) -> None:
    """One card from hand to hand."""
    add(s, t, giver, kind, -1)
    add(s, t, receiver, kind, 1)


@hot
def holds(s: Row, seat: int, kind: int) -> bool:
    """Whether a seat holds a card of that kind."""
    return bool(s[HANDS + seat * KINDS + kind] > 0)


@inner
def holder_of(s: Row, kind: int) -> int:
    """The first seat that holds a card of that kind, or `NONE`."""
    for seat in range(SEATS):
        if s[HANDS + seat * KINDS + kind] > 0:
            return seat
    return NONE


@inner
def first_in_order(s: Row, t: Tables, seat: int, order: int) -> int:
    """The first kind of the order at `t[order]` that a seat holds, or `NONE`."""
    position = t[order]
    while t[position] != NONE:
        if s[HANDS + seat * KINDS + t[position]] > 0:
            return int(t[position])
        position += 1
    return NONE


@inner
def lay_down(s: Row, t: Tables, seat: int, kind: int) -> None:
    """Moves a card of a seat, if any, to those that travel with the throne."""
    if kind != NONE:
        add(s, t, seat, kind, -1)
        s[CARRIED + kind] += 1


@inner
def pick_up(s: Row, t: Tables, seat: int) -> None:
    """Gives a seat a copy of everything that travels with the throne."""
    for kind in range(KINDS):
        if s[CARRIED + kind] > 0:
            add(s, t, seat, kind, s[CARRIED + kind])


@hot
def next_in_play(s: Row, seat: int) -> int:
    """The next seat downstream that is neither out nor cleared."""
    following = seat + 1 if seat < SEATS - 1 else 0
    while s[PLACES + following] != 0:
        following = following + 1 if following < SEATS - 1 else 0
    return following


@inner
def lowest_seat(seats: int) -> int:
    """The lowest seat of a set that is not empty."""
    seat = 0
    while not seats >> seat & 1:
        seat += 1
    return seat


@inner
def size_of(seats: int) -> int:
    """How many seats are in a set."""
    count = 0
    for seat in range(SEATS):
        count += seats >> seat & 1
    return count


@hot
def royal_side(emperor: int, guard: int) -> int:
    """The set of emperor and guard."""
    return 1 << emperor | 1 << guard


@inner
def others(seats: int) -> int:
    """The seats that are not in a set."""
    return EVERYBODY & ~seats
