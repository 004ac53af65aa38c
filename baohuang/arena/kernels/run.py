"""What Python calls: whole hands by the thousand, or one action of one game."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.jit import hot, inner, kernel
from baohuang.arena.kernels.bits import below
from baohuang.arena.kernels.chance import LANE_PLAY, Stream, game_key, open_stream
from baohuang.arena.kernels.deal import begin, deal_given, deal_shuffled
from baohuang.arena.kernels.layout import (
    DEALS_FROM_CALLER,
    DEALS_FROM_KEY,
    DUE_COUNT,
    DUES,
    MOST_DUES,
    NONE,
    OWED,
    OWED_COUNT,
    PENDING,
    REDEAL,
    RESULT,
    ROW,
    SEAT,
    SEATS,
    STEP,
    STEP_DEAL,
    STEP_OVER,
    STEP_PLAY,
    Ids,
    Row,
    Tables,
)
from baohuang.arena.kernels.legal import list_legal
from baohuang.arena.kernels.opening import answer
from baohuang.arena.kernels.play import pass_turn, play_cards
from baohuang.arena.kernels.policies import choose

ILLEGAL: Final = -1
AWAITS_DEAL: Final = -2


@hot
def act(s: Row, t: Tables, seat: int, action: int) -> None:
    """Does a legal action of a seat that is awaited; may leave the row at `STEP_DEAL`."""
    if s[STEP] != STEP_PLAY:
        answer(s, t, seat, action)
    elif action == 0:
        pass_turn(s, seat)
    else:
        play_cards(s, t, seat, action)


@inner
def deal_next(s: Row, t: Tables, deals: Any, stream: Stream, out: Ids) -> None:
    """The deal that a row waits for: the next of `deals` (R × 5 × 56), after them from the game's stream."""
    if s[REDEAL] < deals.shape[0]:
        deal_given(s, t, deals[s[REDEAL]])
    else:
        deal_shuffled(s, t, stream, out)


@kernel
def play_games(  # noqa: PLR0913, PLR0917 - a kernel is handed all that it needs
    t: Tables,
    seed: Any,
    first_game: int,
    policies: NDArray[np.int64],
    first_drawers: NDArray[np.int64],
    dues: NDArray[np.int64],
    deals: NDArray[np.int8],
    results: NDArray[np.int16],
    actions: NDArray[np.int32],
    s: Row,
    streams: NDArray[np.uint64],
    out: Ids,
) -> None:
    """Plays as many games as `results` has rows, each from the deal to its end.

    By game, or one for all: `policies` five, `first_drawers`, `dues` 8 × 3 with −1 after the last; `deals`
    G × R × 5 × 56, none for R = 0. `actions` (five, counted here) and `results` (what the row has from
    `RESULT` on, −1 after the last due) are by game. Games are numbered from `first_game` on. `s`, `streams`
    (2 × 4) and `out` are scratch space.
    """
    stream, deal_stream = streams[0], streams[1]
    for game in range(results.shape[0]):
        key = game_key(seed, first_game + game)
        open_stream(stream, key, LANE_PLAY)
        begin(s, key, DEALS_FROM_KEY, first_drawers[game % len(first_drawers)])
        put_dues(s, dues[game % len(dues)])
        players = policies[game % len(policies)]
        given = deals[game % len(deals)]
        while s[STEP] != STEP_OVER:
            if s[STEP] == STEP_DEAL:
                deal_next(s, t, given, deal_stream, out)
                continue
            seat = below(s[SEAT], SEATS)
            act(s, t, seat, choose(players[seat], s, t, seat, stream, out))
            actions[game, seat] += 1
        s[OWED + 3 * s[OWED_COUNT] : ROW] = NONE
        for field in range(RESULT, ROW):
            results[game, field - RESULT] = s[field]


@inner
def put_dues(s: Row, dues: Any) -> None:
    """Writes what the hand starts with."""
    while s[DUE_COUNT] < MOST_DUES and dues[s[DUE_COUNT], 0] >= 0:
        for part in range(3):
            s[DUES + 3 * s[DUE_COUNT] + part] = dues[s[DUE_COUNT], part]
        s[DUE_COUNT] += 1


@kernel
def start_game(  # noqa: PLR0913, PLR0917 - a kernel is handed all that it needs
    s: Row,
    t: Tables,
    streams: NDArray[np.uint64],
    out: Ids,
    seed: Any,
    game: int,
    first_drawer: int,
    dues: NDArray[np.int64],
    deals: NDArray[np.int8],
) -> None:
    """Makes a row anew and deals: `deals` in turn, if there are any, else from the game's stream.

    `streams[0]` becomes the one that its players draw from; `streams[1]` is scratch space.
    """
    key = game_key(seed, game)
    open_stream(streams[0], key, LANE_PLAY)
    begin(s, key, DEALS_FROM_CALLER if deals.shape[0] else DEALS_FROM_KEY, first_drawer)
    put_dues(s, dues)
    deal_next(s, t, deals, streams[1], out)


@kernel
def list_actions(s: Row, t: Tables, out: Ids, seat: int) -> int:
    """Lists the legal actions of a seat; none if it is not awaited."""
    return list_legal(s, t, seat, out) if is_awaited(s, seat) else 0


@kernel
def choose_action(s: Row, t: Tables, stream: Stream, out: Ids, policy: int) -> int:
    """What a policy does in the place of the seat to act."""
    return choose(policy, s, t, int(s[SEAT]), stream, out)


@inner
def is_awaited(s: Row, seat: int) -> bool:
    """Whether an action of that seat is awaited."""
    if not 0 <= seat < SEATS:
        return False
    return bool(s[PENDING] >> seat & 1) if s[PENDING] else bool(seat == s[SEAT])


@kernel
def step(s: Row, t: Tables, out: Ids, seat: int, action: int, count: int) -> int:
    """One action of a seat that is awaited (`NONE`: of the seat to act).

    `out` holds its `count` legal ones, and afterwards those of the next seat. Gives back how many these
    are, 0 when the hand is over; `AWAITS_DEAL` if `deal_again` must follow; `ILLEGAL` if the action is
    not among the legal ones: nothing has changed then.
    """
    for position in range(count):
        if out[position] == action:
            act(s, t, int(s[SEAT]) if seat == NONE else seat, action)
            if s[STEP] == STEP_DEAL:
                return AWAITS_DEAL
            return list_legal(s, t, int(s[SEAT]), out) if s[STEP] != STEP_OVER else 0
    return ILLEGAL


@kernel
def deal_again(s: Row, t: Tables, stream: Stream, out: Ids, deals: NDArray[np.int8]) -> None:
    """The deal that a row waits for."""
    deal_next(s, t, deals, stream, out)
