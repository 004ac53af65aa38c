"""A measured figure, and how a table of them looks."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Figure(NamedTuple):
    """The median of several runs with their extremes; `goal` is what the project aims at in that unit.

    A goal is the least that is aimed at, or the most where `is_ceiling`. Figures of one `series` differ in
    the number that they were measured `at`.
    """

    name: str
    unit: str
    median: float
    least: float
    most: float
    goal: float | None = None
    is_ceiling: bool = False
    series: str | None = None
    at: int | None = None


def figure(
    name: str, unit: str, runs: Sequence[float], goal: float | None = None, *, is_ceiling: bool = False
) -> Figure:
    """The figure of several runs of the same measurement."""
    return Figure(name, unit, statistics.median(runs), min(runs), max(runs), goal, is_ceiling)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def show(figures: Sequence[Figure]) -> str:
    """A table for a terminal."""
    rows: list[tuple[str, ...]] = [("figure", "unit", "median", "min", "max", "goal")]
    for each in figures:
        goal = "" if each.goal is None else f"{'≤' if each.is_ceiling else '≥'} {_number(each.goal)}"
        rows.append((each.name, each.unit, *(_number(value) for value in each[2:5]), goal))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = []
    for row in rows:
        words = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        words += [word.rjust(width) for word, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(words).rstrip())
    return "\n".join(lines)


def _number(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
