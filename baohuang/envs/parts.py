"""Actions in parts: a few numbers one after another instead of one out of very many.

With twos that fill, `shandong-folk` has 442,243 action ids. Here an agent first says what he does: one of the
ids 0 … 117 that are no plays, or the rank that he plays, or jokers alone; then, as far as it is still open,
how many cards of that rank, how many fillers, small jokers, big jokers and revealing cards. That makes 149
numbers in all rule sets. What is not open is not asked.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.encoding import COLUMNS, ActionSpace
from baohuang.arena.kernels import layout
from baohuang.arena.kernels.layout import Ids
from baohuang.arena.kernels.observe import PLANES, Plane
from baohuang.rules.cards import RANK_NAMES
from baohuang.rules.errors import Reason, RuleError

RANK: Final = layout.PLAY
"""+ the rank of the plain cards, 0 … 12."""
JOKERS_ALONE: Final = RANK + layout.TWO + 1
NUMBER: Final = JOKERS_ALONE + 1
"""+ how many, 0 … 16."""
SIZE: Final = NUMBER + layout.MOST_OF_RANK + 1

ASKED: Final = ("plain", "fillers", "small", "big", "marked")
"""What is asked after the rank, in this order: columns of `ActionSpace.table`."""

PART_PLANES: Final = (
    *PLANES,
    Plane("asked", len(ASKED), 0, 1, f"1 for the part of a play that is asked: {', '.join(ASKED)}; else 0"),
    Plane("chosen_rank", layout.TWO + 2, 0, 1, "1 for the rank chosen before: 3 … 2, or jokers alone"),
    Plane(
        "chosen",
        len(ASKED) - 1,
        0,
        layout.MOST_OF_RANK,
        "what came out for the parts before that, as in `asked`",
    ),
)
"""The planes of an agent that acts in parts."""


class Parts:
    """One action of a seat, chosen part by part out of its legal ones.

    `ids` are those that the parts chosen so far leave; `choose` gives back the id once only one is left.
    """

    def __init__(self, space: ActionSpace, legal: Ids) -> None:
        self._space: Final = space
        self._table: Final = space.table
        self.ids: Ids = np.array(legal)
        self._asked = -1
        self._values = self._first_parts()

    def _first_parts(self) -> NDArray[np.int64]:
        ranks = self._table[self.ids, COLUMNS.index("rank")].astype(np.int64)
        plays = np.where(ranks < 0, JOKERS_ALONE, RANK + ranks)
        return np.where(self.ids < layout.PLAY, self.ids, plays)

    def options(self) -> NDArray[np.int64]:
        """The numbers that may be chosen now, rising; none if there is no legal action."""
        return np.unique(self._values)

    def choose(self, part: int) -> int | None:
        """Takes one of `options`; the id of the action if it is settled, else None: another part is asked.

        Raises `RuleError` for a number that is not among them; nothing has changed then.
        """
        left = self.ids[self._values == part]
        if not len(left):
            raise RuleError(
                Reason.NOT_OFFERED, f"{part} is not among {self.options().tolist()}", part=int(part)
            )
        self.ids = left
        while len(self.ids) > 1:
            self._asked += 1
            values = self._table[self.ids, COLUMNS.index(ASKED[self._asked])]
            if (values != values[0]).any():
                self._values = NUMBER + values.astype(np.int64)
                return None
        return int(self.ids[0])

    def name(self, part: int) -> str:
        """A text for people of any of the 149 numbers."""
        if part < RANK:
            return self._space.name(part)
        if part < JOKERS_ALONE:
            return f"play {RANK_NAMES[part - RANK]}"
        return "play jokers" if part == JOKERS_ALONE else f"{part - NUMBER}"

    def observe(self, out: NDArray[np.int8]) -> None:
        """Writes the planes that `PART_PLANES` has beyond `PLANES`."""
        out[:] = 0
        if self._asked < 0:
            return
        first = len(ASKED)
        out[self._asked] = 1
        rank, *settled = self._table[self.ids[0]].tolist()[COLUMNS.index("rank") : COLUMNS.index("marked")]
        out[first + (layout.TWO + 1 if rank < 0 else rank)] = 1
        first += layout.TWO + 2
        out[first : first + self._asked] = settled[: self._asked]
