"""Steps: how the events of a game are shown, one decision at a time.

A step is a decision together with what followed from it. The opening up to the first decision is one step,
and so is what several answer at once (R5.0). Which events make a step depends on their kinds only, so every
viewer counts alike, and as a running game grows only its last step can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from baohuang.rules import events as ev
from baohuang.rules.events import Event

_DECISIONS = (ev.ThroneAnswered, ev.CallAnswered, ev.Played, ev.Passed)
_ASIDES = (ev.AutoPlayStarted, ev.AutoPlayEnded, ev.SeatForfeited)


class StepSpan(NamedTuple):
    """The events `first` … `last` of a game, counted from 1."""

    first: int
    last: int


def spans_of(events: Sequence[Event]) -> tuple[StepSpan, ...]:
    """The steps of a game."""
    starts = []
    is_dealt = is_open = False
    for number, event in enumerate(events, 1):
        if isinstance(event, ev.Answered):
            begins, is_open = not is_open, True
        elif isinstance(event, ev.Dealt):
            begins, is_dealt = is_dealt, True
        elif isinstance(event, _ASIDES):
            begins = not is_open
        else:
            begins = isinstance(event, _DECISIONS)
            is_open = is_open and not isinstance(event, ev.StepClosed)
        if begins or number == 1:
            starts.append(number)
    ends = [*[start - 1 for start in starts[1:]], len(events)]
    return tuple(map(StepSpan, starts, ends))


def trick_starts_of(events: Sequence[Event], steps: Sequence[StepSpan]) -> tuple[int, ...]:
    """The steps, counted from 1, with which tricks begin."""
    starts = []
    leads = True
    for step, span in enumerate(steps, 1):
        kinds = [type(event) for event in events[span.first - 1 : span.last]]
        if kinds[0] is ev.Played and leads:
            starts.append(step)
            leads = False
        leads = leads or ev.TrickEnded in kinds
    return tuple(starts)
