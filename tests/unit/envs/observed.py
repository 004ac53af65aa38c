"""What the compiled code observes of a readable state."""

import numpy as np

from baohuang.arena.kernels import observe
from baohuang.arena.snapshot import row_of
from baohuang.arena.tables import compile_tables
from baohuang.rules.cards import RANK_OF
from baohuang.rules.state import State


def observe_state(state: State, seat: int) -> np.ndarray:
    played = np.zeros(observe.PLAYED, np.int8)
    for trick in (*state.public.tricks, state.public.trick):
        for move in trick:
            for card in move.cards:
                played[move.seat, RANK_OF[card]] += 1
    observation = np.empty(observe.SIZE, np.int8)
    observe.observe_game(row_of(state), compile_tables(state.public.rules), played, seat, observation)
    return observation
