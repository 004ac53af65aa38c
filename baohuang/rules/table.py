"""What passes from one hand of a table to the next (R2.2, R9.4, R10.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baohuang.rules.outcome import Due, Outcome
from baohuang.rules.roles import Seat


@dataclass(frozen=True)
class Table:
    """A table between two hands. Tuples of five are by seat.

    `hands` counts the hands that ended, `counted` those that count (R9.4). `scores` and `penalties` are
    totals: scores of counted hands only, penalties of all. A `dissolved` table plays no more hands.
    """

    hands: int = 0
    counted: int = 0
    scores: tuple[int, ...] = (0,) * 5
    penalties: tuple[int, ...] = (0,) * 5
    first_drawer: Seat = 0
    dues: tuple[Due, ...] = ()
    dissolved: bool = False

    def after(self, outcome: Outcome) -> Table:
        """The table after a hand that ended with `outcome`; raises `ValueError` if it is dissolved."""
        if self.dissolved:
            raise ValueError("a dissolved table plays no more hands (R9.4)")
        counts = is_counted(outcome)
        scores = _sum(self.scores, outcome.scores) if counts else self.scores
        return replace(
            self,
            hands=self.hands + 1,
            counted=self.counted + counts,
            scores=scores,
            penalties=_sum(self.penalties, outcome.penalties),
            first_drawer=outcome.next_first_drawer,
            dues=outcome.dues,
            dissolved=any(outcome.auto_play),
        )


def is_counted(outcome: Outcome) -> bool:
    """Whether the table counts the hand: not if all five were on auto-play at its end (R9.4)."""
    return not all(outcome.auto_play)


def _sum(totals: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(total + new for total, new in zip(totals, more, strict=True))
