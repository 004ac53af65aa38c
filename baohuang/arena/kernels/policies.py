"""Compiled players. A policy is a number; `choose` is the one place that knows them all.

A policy reads the row as a player would: its own hand, what is public, and of others' hands nothing but their
sizes where `show_counts` lets it. `out` is scratch space for as many ids as there are actions.
"""

from __future__ import annotations

from typing import Final

from baohuang.arena.jit import hot
from baohuang.arena.kernels.chance import Stream, draw_below
from baohuang.arena.kernels.layout import NONE, OWNER, STEP, STEP_PLAY, Ids, Row, Tables
from baohuang.arena.kernels.legal import list_legal
from baohuang.arena.kernels.plays import draw_lead

RANDOM: Final = 0
POLICIES: Final = {"random": RANDOM}
"""Policies by name, weakest first."""


@hot
def choose(policy: int, s: Row, t: Tables, seat: int, stream: Stream, out: Ids) -> int:
    """The action of `seat`, which is awaited."""
    if policy == RANDOM:
        return _choose_random(s, t, seat, stream, out)
    return NONE


@hot
def _choose_random(s: Row, t: Tables, seat: int, stream: Stream, out: Ids) -> int:
    """Each legal action is as likely as any other."""
    if s[STEP] == STEP_PLAY and s[OWNER] == NONE:
        return draw_lead(s, t, seat, stream, out)  # a leader may have a thousand plays
    count = list_legal(s, t, seat, out)
    return int(out[0 if count == 1 else draw_below(stream, count)])
