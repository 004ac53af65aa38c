"""What Python calls for many games at once, one action each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.jit import kernel
from baohuang.arena.kernels.chance import Stream, game_key
from baohuang.arena.kernels.deal import begin, deal_shuffled
from baohuang.arena.kernels.layout import DEALS_FROM_KEY, NONE, SEAT, STEP, STEP_DEAL, Ids, Tables
from baohuang.arena.kernels.legal import list_legal
from baohuang.arena.kernels.observe import note_action
from baohuang.arena.kernels.run import act

Rows = NDArray[np.int16]


@kernel
def start_games(  # noqa: PLR0913, PLR0917 - a kernel is handed all that it needs
    rows: Rows,
    t: Tables,
    played: Any,
    stream: Stream,
    out: Ids,
    seed: Any,
    chosen: NDArray[np.int64],
    numbers: NDArray[np.int64],
    first_drawers: NDArray[np.int64],
) -> None:
    """Makes the chosen rows anew and deals them as the games of these numbers.

    `played` (games × 5 × 15) is kept here and by `step_games`.
    """
    for index in range(len(chosen)):
        s = rows[chosen[index]]
        begin(s, game_key(seed, numbers[index]), DEALS_FROM_KEY, first_drawers[index])
        deal_shuffled(s, t, stream, out)
        played[chosen[index]] = 0


@kernel
def list_games(rows: Rows, t: Tables, out: Ids, ids: Ids, offsets: NDArray[np.int64], begin: int) -> int:
    """Lists the legal actions of the games from `begin` on as long as `ids` has room for them; the first game
    left out.

    Those of game g go to `ids[offsets[g] : offsets[g + 1]]`; `offsets[begin]` is set.
    """
    for game in range(begin, rows.shape[0]):
        count = 0
        if rows[game, SEAT] != NONE:
            count = list_legal(rows[game], t, int(rows[game, SEAT]), out)
        position = offsets[game]
        if position + count > len(ids):
            return game
        for number in range(count):
            ids[position + number] = out[number]
        offsets[game + 1] = position + count
    return int(rows.shape[0])


@kernel
def step_games(
    rows: Rows,
    t: Tables,
    played: Any,
    stream: Stream,
    out: Ids,
    ids: Ids,
    offsets: NDArray[np.int64],
    actions: NDArray[np.int64],
) -> int:
    """One action in each game that is not over, with the deals that follow; `NONE` if all are legal.

    `ids` and `offsets` are as `list_games` made them. Gives back the first game whose action is not among
    them: nothing has changed then.
    """
    for game in range(rows.shape[0]):
        is_legal = rows[game, SEAT] == NONE
        for position in range(offsets[game], offsets[game + 1]):
            is_legal |= ids[position] == actions[game]
        if not is_legal:
            return game
    for game in range(rows.shape[0]):
        s = rows[game]
        if s[SEAT] != NONE:
            note_action(t, played[game], int(s[SEAT]), actions[game])
            act(s, t, int(s[SEAT]), actions[game])
            if s[STEP] == STEP_DEAL:
                deal_shuffled(s, t, stream, out)
    return NONE
