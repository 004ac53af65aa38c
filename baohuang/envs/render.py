"""A hand as text or as an image, with everybody's cards, for people who watch an agent learn."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.kernels import layout
from baohuang.arena.snapshot import STEPS
from baohuang.arena.state import ArenaState
from baohuang.rules.cards import RANK_NAMES, format_cards
from baohuang.rules.roles import SEATS

CELL: Final = 16
"""Pixels of a cell of the image: one for each rank of a hand."""
_MOST: Final = 16
_TABLE, _TURN, _CARDS, _ROYAL = (40, 90, 60), (230, 200, 70), (235, 235, 235), (220, 90, 80)


def write_game(game: ArenaState) -> str:
    """One line for the step, one a seat: place or cards left, role, hand."""
    row = game.row
    steps = {number: step.value for step, number in STEPS.items()}
    lines = [f"{game.rules.name}, {steps[int(row[layout.STEP])]}"]
    if row[layout.OWNER] != layout.NONE:
        plain, small, big = (int(row[field]) for field in (layout.PLAIN, layout.SMALLS, layout.BIGS))
        parts = [
            f"{number} {name}"
            for number, name in ((plain, f"of {_rank_name(row)}"), (small, "small"), (big, "big"))
            if number
        ]
        lines[0] += f"; to beat: {', '.join(parts)}, by player_{row[layout.OWNER]}"
    for seat in SEATS:
        place, turn = int(row[layout.PLACES + seat]), ">" if seat in game.awaited else " "
        state = f"place {place}" if place else f"{row[layout.SIZES + seat]} cards"
        score = f" {row[layout.SCORES + seat]:+d}" if game.is_over else ""
        hand = format_cards(game.hand(seat))
        lines.append(f"{turn} player_{seat} {_role(game, seat):8}{state:>9}{score} {hand}".rstrip())
    return "\n".join(lines)


def draw_game(game: ArenaState) -> NDArray[np.uint8]:
    """An image, height × width × 3: a row a seat, a bar for each rank as high as cards are held.

    The seats to act have a yellow edge, emperor and guard a red one beside it.
    """
    heights = game.row[layout.RANKS :][: 5 * layout.RANKS_STRIDE].reshape(5, layout.RANKS_STRIDE)[:, :15]
    image = np.empty((5 * (CELL + 2), 17 * CELL, 3), np.uint8)
    image[:] = _TABLE
    for seat in SEATS:
        top = seat * (CELL + 2) + 1
        if seat in game.awaited:
            image[top : top + CELL, : CELL // 2] = _TURN
        if _role(game, seat) in ("emperor", "guard"):
            image[top : top + CELL, CELL // 2 : CELL] = _ROYAL
        for rank, height in enumerate(heights[seat].tolist()):
            left = (rank + 1) * CELL + 2
            image[top + CELL - CELL * height // _MOST : top + CELL, left : left + CELL - 4] = _CARDS
    return image


def _role(game: ArenaState, seat: int) -> str:
    if seat == game.row[layout.EMPEROR]:
        return "emperor"
    return "guard" if seat == game.row[layout.GUARD] else ""


def _rank_name(row: NDArray[np.int16]) -> str:
    strength = int(row[layout.STRENGTH])
    return "the called card" if strength == layout.TOP else RANK_NAMES[strength]
