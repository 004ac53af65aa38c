"""What beats what: the cover relation of R4.1, defined once and compiled into tables.

A play is described by its `Shape`. A group of cards beats one card; play A beats play T when A can be cut
into exactly one such group for each card of T. That one card beats a lower one holds everywhere; each
`Group` adds one more that an option or preset allows, as data.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from baohuang.rules.cards import BIG, SMALL, TWO, Rank

TOP: Final = 15
"""Strength of copies of the called card alone under `called_card_is_top`: above big jokers (R5.5)."""
NO_PLAIN: Final = -1
"""Strength of a play of jokers alone: it has no plain cards."""
MOST_JOKERS: Final = 4
"""A deck holds four jokers of each kind (R2.1)."""


class Shape(NamedTuple):
    """What matters of a play: `plain` cards of one `strength`, and numbers of small and of big jokers.

    `strength` is the rank of the plain cards (0 … 12; fillers count as the rank that they fill), `TOP`, or
    `NO_PLAIN`.
    """

    strength: int
    plain: int
    small: int
    big: int

    @property
    def size(self) -> int:
        """Number of cards."""
        return self.plain + self.small + self.big


class Group(NamedTuple):
    """`number` cards of rank `of` beat one joker of rank `beats`."""

    number: int
    of: Rank
    beats: Rank


BIG_PAIR: Final = Group(2, BIG, BIG)
SMALL_PAIR: Final = Group(2, SMALL, SMALL)
THREE_SMALL: Final = Group(3, SMALL, BIG)
THREE_TWOS: Final = Group(3, TWO, BIG)

Counts = tuple[int, int, int]
"""Numbers of plain cards, small jokers and big jokers."""


class CoverTable:
    """The cover relation for one choice of groups; `compile` gives the same table for the same choice."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.groups: Final = tuple(groups)
        self._covers: dict[tuple[Counts, bool, bool, int], tuple[Counts, ...]] = {}
        self._answers: dict[tuple[Shape, int], tuple[Counts, ...]] = {}

    @staticmethod
    def compile(*, big_pair: bool, kaopai: bool, three_twos: bool) -> CoverTable:
        """The table with the groups that these options add to one card on a lower one."""
        groups = [
            *([BIG_PAIR] if big_pair else []),
            *([SMALL_PAIR, THREE_SMALL] if kaopai else []),
            *([THREE_TWOS] if three_twos else []),
        ]
        return _shared_table(tuple(groups))

    def beats(self, attack: Shape, table: Shape) -> bool:
        """Whether a play of shape `attack` beats one of shape `table` (R4.1)."""
        if table.strength == TOP:
            return False
        if attack.strength == TOP:
            return attack.plain == table.size
        most = max(MOST_JOKERS, attack.small, attack.big)
        return attack[1:] in self._covering(table, attack.strength, most)

    def answers(self, table: Shape, strength: int) -> tuple[Counts, ...]:
        """The counts with which plain cards of `strength` (if any) and jokers beat `table`, sorted.

        `strength` is a rank 0 … 12; counts go up to four jokers of each kind. Counts without plain cards
        hold whatever the strength. Copies of the called card alone under `called_card_is_top` are not among
        them: those beat any play of lower cards of their number.
        """
        found = self._answers.get((table, strength))
        if found is None:
            found = () if table.strength == TOP else self._covering(table, strength, MOST_JOKERS)
            self._answers[table, strength] = found
        return found

    def _covering(self, table: Shape, strength: int, most_jokers: int) -> tuple[Counts, ...]:
        higher = table.plain > 0 and strength > table.strength
        twos = strength == TWO and THREE_TWOS in self.groups
        key = (table[1:], higher, twos, most_jokers)
        found = self._covers.get(key)
        if found is None:
            found = self._covers[key] = self._cut(*key)
        return found

    def _cut(self, table: Counts, higher: bool, twos: bool, most_jokers: int) -> tuple[Counts, ...]:
        """All counts that can be cut into one group for each card of `table`.

        `higher`: whether the attack's plain cards are of higher rank than the table's; `twos`: whether they
        are twos.
        """
        on_plain: list[Counts] = [(0, 1, 0), (0, 0, 1), *([(1, 0, 0)] if higher else [])]
        on_small: list[Counts] = [(0, 0, 1)]
        on_big: list[Counts] = []
        for group in self.groups:
            if group.of == TWO and not twos:
                continue
            counts = tuple(group.number if group.of == rank else 0 for rank in (TWO, SMALL, BIG))
            (on_big if group.beats == BIG else on_small).append(counts)  # type: ignore[arg-type]

        reached: set[Counts] = {(0, 0, 0)}
        for number, groups in zip(table, (on_plain, on_small, on_big), strict=True):
            for _ in range(number):
                reached = {
                    (plain + p, small + s, big + b)
                    for plain, small, big in reached
                    for p, s, b in groups
                    if small + s <= most_jokers and big + b <= most_jokers
                }
        return tuple(sorted(reached))


@lru_cache
def _shared_table(groups: tuple[Group, ...]) -> CoverTable:
    return CoverTable(groups)
