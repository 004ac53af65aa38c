"""Cards in hands, and seats in turn."""

from __future__ import annotations

from baohuang.arena.jit import hot, inner
from baohuang.arena.kernels.bits import count_bits, lowest_bit, put_stairs
from baohuang.arena.kernels.layout import (
    CARRIED,
    EVERYBODY,
    HANDS,
    KINDS,
    LEVELS,
    NONE,
    PLACES,
    PLAYING,
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
    add_to_rank(s, seat, int(t[t[S_RANK_OF] + kind]), number)


@hot
def add_to_rank(s: Row, seat: int, rank: int, number: int) -> None:
    """Counts `number` more (negative: fewer) cards of a rank."""
    held = s[RANKS + seat * RANKS_STRIDE + rank] + number
    s[RANKS + seat * RANKS_STRIDE + rank] = held
    if rank > TWO:
        return
    put_stairs(s, LEVELS + seat * RANKS_STRIDE, 1 << rank, held)


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
            add(s, t, seat, kind, int(s[CARRIED + kind]))


@hot
def next_in_play(s: Row, seat: int) -> int:
    """The next seat downstream that is neither out nor cleared."""
    playing = int(s[PLAYING])
    following = seat + 1 if seat < SEATS - 1 else 0
    while not playing >> following & 1:
        following = following + 1 if following < SEATS - 1 else 0
    return following


@inner
def take_place(s: Row, seat: int, place: int) -> None:
    """The seat is out, or cleared, and has that place."""
    s[PLACES + seat] = place
    s[PLAYING] &= ~(1 << seat)


@hot
def royal_side(emperor: int, guard: int) -> int:
    """The set of emperor and guard."""
    return 1 << emperor | 1 << guard


@inner
def others(seats: int) -> int:
    """The seats that are not in a set."""
    return EVERYBODY & ~seats


@hot
def lowest_seat(seats: int) -> int:
    """The lowest seat of a set that is not empty."""
    return int(lowest_bit(seats))


@hot
def size_of(seats: int) -> int:
    """How many seats are in a set."""
    return int(count_bits(seats))
