"""What a seat may know (R11), as one array of small numbers: the planes below, one after another.

Of the row only what is public is read, and the viewer's own cards. Planes by seat begin with the viewer and
go on downstream; planes by rank have the ranks 3 … A, 2, the small and the big jokers.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.jit import hot, kernel
from baohuang.arena.kernels.bits import below
from baohuang.arena.kernels.layout import (
    BIG,
    BIGS,
    CALLED,
    CODE_BIG,
    CODE_FILLERS,
    CODE_KEPT,
    CODE_SMALL,
    COUNTER,
    COUNTERS,
    DECK,
    EMPEROR,
    FIRST_DRAWER,
    GUARD,
    HANDS,
    HOLDER,
    KINDS,
    NO_RANK,
    NONE,
    OPEN_GUARD,
    OPEN_SOLO,
    OWNER,
    PASSES,
    PLACES,
    PLAIN,
    PLAY,
    RANKS,
    RANKS_STRIDE,
    REBELLION,
    REBELS,
    RECOUNTER,
    RECOUNTERS,
    REDEAL,
    S_CODES,
    S_RANK_OF,
    SEAT,
    SEATS,
    SHOWN,
    SIZES,
    SMALL,
    SMALLS,
    STEP,
    STEP_OVER,
    STEP_TRIBUTE,
    STRENGTH,
    T_COUNTS_SHOWN,
    TOP,
    TWO,
    YIELDS,
    Row,
    Tables,
)

Observation = NDArray[np.int8]
Played = NDArray[np.int8]
"""How many cards of each rank each seat has played."""

BY_RANK: Final = 15
PLAYED: Final = (SEATS, BY_RANK)
"""Its shape for one game."""
STEPS: Final = STEP_OVER + 1 - STEP_TRIBUTE


class Plane(NamedTuple):
    """A part of an observation: `width` numbers from `least` to `most`, and what they say."""

    name: str
    width: int
    least: int
    most: int
    meaning: str


PLANES: Final = (
    Plane("cards", KINDS, 0, 4, "own cards, by kind in deck order: 3c 3d 3h 3s … 2s SJ GJ BJ EJ"),
    Plane("hand", BY_RANK, 0, 16, "own cards, by rank"),
    Plane(
        "unseen", BY_RANK, 0, 16, "cards neither held nor played: in other hands or lying face down, by rank"
    ),
    Plane("played", SEATS * BY_RANK, 0, 16, "cards played so far, by seat and rank"),
    Plane("table", BY_RANK, 0, 32, "the play to beat, by rank; twos that fill count as the rank they fill"),
    Plane("table_is_top", 1, 0, 1, "1 if it is of copies of the called card that rank above all (R5.5)"),
    Plane("owner", SEATS, 0, 1, "1 for who made that play; all 0 for a lead"),
    Plane("passes", 1, 0, 4, "passes in a row since then"),
    Plane("counts", SEATS, -1, 120, "cards held, by seat; -1 where `show_counts` hides it"),
    Plane("places", SEATS, 0, 5, "finishing places, by seat; 0 for none yet"),
    Plane("emperor", SEATS, 0, 1, "1 for the emperor"),
    Plane("guard", SEATS, 0, 1, "1 for the guard, if the viewer knows him; the emperor in a solo"),
    Plane("called_rank", BY_RANK, 0, 1, "1 for the rank of the called card"),
    Plane("called_suit", 4, 0, 1, "1 for its suit: c d h s"),
    Plane("open_solo", 1, 0, 1, "1 in an open solo"),
    Plane("open_guard", 1, 0, 1, "1 if the guard has declared himself"),
    Plane("rebels", SEATS, 0, 1, "1 for who declared rebellion, standing or not"),
    Plane("rebellion", 1, 0, 1, "1 if a rebellion stands"),
    Plane("counters", SEATS, 0, 1, "1 for who declared a counter"),
    Plane("counter", 1, 0, 1, "1 if it stands"),
    Plane("recounters", SEATS, 0, 1, "1 for who declared a recounter"),
    Plane("recounter", 1, 0, 1, "1 if it stands"),
    Plane(
        "step",
        STEPS,
        0,
        1,
        "1 for the step: tribute, throne, call, claim, declare, counter, recounter, play, over",
    ),
    Plane("holder", SEATS, 0, 1, "1 for who is asked for the throne, or was last"),
    Plane("first_drawer", SEATS, 0, 1, "1 for who drew the first card"),
    Plane("yields", 1, 0, 10, "how often the throne was yielded, offered or declined in this deal"),
    Plane("redeals", 1, 0, 3, "how often the cards were dealt again"),
)
"""All planes in the order in which they stand."""

_ENDS: Final = tuple(sum(plane.width for plane in PLANES[: number + 1]) for number in range(len(PLANES)))
STARTS: Final = {plane.name: end - plane.width for plane, end in zip(PLANES, _ENDS, strict=True)}
"""Where each plane begins."""
SIZE: Final = _ENDS[-1]
"""Length of an observation."""

# Numba freezes whole numbers, but no dictionaries.
O_CARDS: Final = STARTS["cards"]
O_HAND: Final = STARTS["hand"]
O_UNSEEN: Final = STARTS["unseen"]
O_PLAYED: Final = STARTS["played"]
O_TABLE: Final = STARTS["table"]
O_TABLE_IS_TOP: Final = STARTS["table_is_top"]
O_OWNER: Final = STARTS["owner"]
O_PASSES: Final = STARTS["passes"]
O_COUNTS: Final = STARTS["counts"]
O_PLACES: Final = STARTS["places"]
O_EMPEROR: Final = STARTS["emperor"]
O_GUARD: Final = STARTS["guard"]
O_CALLED_RANK: Final = STARTS["called_rank"]
O_CALLED_SUIT: Final = STARTS["called_suit"]
O_OPEN_SOLO: Final = STARTS["open_solo"]
O_OPEN_GUARD: Final = STARTS["open_guard"]
O_REBELS: Final = STARTS["rebels"]
O_REBELLION: Final = STARTS["rebellion"]
O_COUNTERS: Final = STARTS["counters"]
O_COUNTER: Final = STARTS["counter"]
O_RECOUNTERS: Final = STARTS["recounters"]
O_RECOUNTER: Final = STARTS["recounter"]
O_STEP: Final = STARTS["step"]
O_HOLDER: Final = STARTS["holder"]
O_FIRST_DRAWER: Final = STARTS["first_drawer"]
O_YIELDS: Final = STARTS["yields"]
O_REDEALS: Final = STARTS["redeals"]


@hot
def _mark_seat(out: Observation, start: int, viewer: int, seat: int) -> None:
    """Writes 1 for a seat, if there is one."""
    if seat != NONE:
        out[start + (seat - viewer + SEATS) % SEATS] = 1


@hot
def observe(s: Row, t: Tables, played: Played, viewer: int, out: Observation) -> None:
    """Writes what a seat may know; `played` as `note_action` keeps it."""
    viewer = below(viewer, SEATS)
    for place in range(SIZE):
        out[place] = 0
    _observe_cards(s, t, played, viewer, out)
    _observe_seats(s, t, viewer, out)
    if s[OWNER] != NONE:
        rank = int(s[STRENGTH])
        if rank == TOP:
            rank = int(s[CALLED]) >> 2
            out[O_TABLE_IS_TOP] = 1
        if s[PLAIN] > 0:
            out[O_TABLE + rank] = s[PLAIN]
        out[O_TABLE + SMALL] = s[SMALLS]
        out[O_TABLE + BIG] = s[BIGS]
    out[O_PASSES] = s[PASSES]
    if s[CALLED] != NONE:
        out[O_CALLED_RANK + (int(s[CALLED]) >> 2)] = 1
        out[O_CALLED_SUIT + (int(s[CALLED]) & 3)] = 1
    out[O_OPEN_SOLO] = s[OPEN_SOLO]
    out[O_OPEN_GUARD] = s[OPEN_GUARD]
    out[O_REBELLION] = s[REBELLION]
    out[O_COUNTER] = s[COUNTER]
    out[O_RECOUNTER] = s[RECOUNTER]
    out[O_STEP + int(s[STEP]) - STEP_TRIBUTE] = 1
    out[O_YIELDS] = s[YIELDS]
    out[O_REDEALS] = s[REDEAL]


@hot
def _observe_cards(s: Row, t: Tables, played: Played, viewer: int, out: Observation) -> None:
    hand, ranks = HANDS + viewer * KINDS, RANKS + viewer * RANKS_STRIDE
    for kind in range(KINDS):
        out[O_CARDS + kind] = s[hand + kind]
    for kind in range(KINDS):
        out[O_UNSEEN + below(t[t[S_RANK_OF] + kind], BY_RANK)] += s[DECK + kind]
    for rank in range(BY_RANK):
        out[O_HAND + rank] = s[ranks + rank]
        out[O_UNSEEN + rank] -= s[ranks + rank]
        for steps in range(SEATS):
            seat = viewer + steps if viewer + steps < SEATS else viewer + steps - SEATS
            out[O_PLAYED + steps * BY_RANK + rank] = played[seat, rank]
            out[O_UNSEEN + rank] -= played[seat, rank]


@hot
def _observe_seats(s: Row, t: Tables, viewer: int, out: Observation) -> None:
    for steps in range(SEATS):
        seat = viewer + steps if viewer + steps < SEATS else viewer + steps - SEATS
        size = int(s[SIZES + seat])
        is_seen = steps == 0 or size <= t[T_COUNTS_SHOWN] or s[STEP] == STEP_OVER
        out[O_COUNTS + steps] = size if is_seen else NONE
        out[O_PLACES + steps] = s[PLACES + seat]
        out[O_REBELS + steps] = s[REBELS] >> seat & 1
        out[O_COUNTERS + steps] = s[COUNTERS] >> seat & 1
        out[O_RECOUNTERS + steps] = s[RECOUNTERS] >> seat & 1
    _mark_seat(out, O_OWNER, viewer, int(s[OWNER]))
    _mark_seat(out, O_EMPEROR, viewer, int(s[EMPEROR]))
    if s[SHOWN] or viewer == s[GUARD]:
        _mark_seat(out, O_GUARD, viewer, int(s[GUARD]))
    _mark_seat(out, O_HOLDER, viewer, int(s[HOLDER]))
    _mark_seat(out, O_FIRST_DRAWER, viewer, int(s[FIRST_DRAWER]))


@hot
def note_action(t: Tables, played: Any, seat: int, action: int) -> None:
    """Counts the cards of a legal action; others than plays have none."""
    if action < PLAY:
        return
    code = int(t[t[S_CODES] + action - PLAY])
    rank = code & 15
    if rank != NO_RANK:
        played[seat, rank] += code >> CODE_KEPT & 31
    played[seat, TWO] += code >> CODE_FILLERS & 31
    played[seat, SMALL] += code >> CODE_SMALL & 7
    played[seat, BIG] += code >> CODE_BIG & 7


@kernel
def observe_game(s: Row, t: Tables, played: Played, viewer: int, out: Observation) -> None:
    """What a seat may know of one game."""
    observe(s, t, played, viewer, out)


@kernel
def note_in_game(t: Tables, played: Played, seat: int, action: int) -> None:
    """`note_action` for one game."""
    note_action(t, played, seat, action)


@kernel
def observe_games(rows: NDArray[np.int16], t: Tables, played: Any, out: Any) -> None:
    """What the seat to act may know of each game, games × `SIZE`; what seat 0 may of those that are over."""
    for game in range(rows.shape[0]):
        observe(rows[game], t, played[game], max(0, int(rows[game, SEAT])), out[game])
