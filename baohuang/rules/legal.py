"""What a seat may do now."""

from __future__ import annotations

from typing import Final

from baohuang.rules.actions import PASS, Action
from baohuang.rules.cards import GUARD_JOKER, Card
from baohuang.rules.events import Step
from baohuang.rules.opening import legal_answers
from baohuang.rules.plays import legal_plays
from baohuang.rules.roles import Seat
from baohuang.rules.state import State

_PLAY_STEP: Final = Step.PLAY


def legal_actions(state: State, seat: Seat) -> list[Action]:
    """The actions of `seat`; empty when none is awaited from it.

    Equal plays are listed once (R11.4); `decide` accepts any cards held that form a legal play. A seat on
    auto-play has its actions listed too, but must take back control before it may use one (R9.3).
    """
    if seat not in state.to_act:
        return []
    public = state.public
    if public.step is not _PLAY_STEP:
        return legal_answers(state, seat)
    table = public.table
    plays = legal_plays(
        public.rules,
        state.hidden.hands[seat],
        None if table is None else table.shape,
        called=public.called,
        revealing=revealing_card(state),
    )
    if table is not None:
        plays.append(PASS)
    return plays


def revealing_card(state: State) -> Card | None:
    """The kind of card whose play can reveal the guard or a hidden solo, None once that is public (R11.2)."""
    public = state.public
    if public.guard is not None:
        return None
    return public.called if public.rules.calls else GUARD_JOKER
