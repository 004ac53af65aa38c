"""Values of the game as the JSON of the REST interface."""

from __future__ import annotations

from typing import Any

import msgspec

from baohuang import Outcome, View
from baohuang.codec_json import event_to_json
from baohuang.rules.cards import Card, Hand, format_cards
from baohuang.rules.state import Move, PublicState, SeatState
from services.lobby.messages import games as messages
from services.lobby.messages.common import Due
from services.lobby.messages.common import Outcome as OutcomeMessage


def show_view(view: View) -> messages.View:
    """A view."""
    return messages.View(
        viewer=view.viewer,
        public=_public(view.public),
        own=None if view.own is None else _own(view.own),
        hands=None if view.hands is None else [format_cards(hand) for hand in view.hands],
    )


def show_outcome(outcome: Outcome | None) -> OutcomeMessage | None:
    """What a hand ended with."""
    if outcome is None:
        return None
    return msgspec.convert(msgspec.to_builtins(outcome), OutcomeMessage)


def _public(public: PublicState) -> messages.PublicState:
    fields = {name: getattr(public, name) for name in messages.PublicState.__struct_fields__}
    return messages.PublicState(**fields | {name: show(fields[name]) for name, show in _SHOWN.items()})


def _own(own: SeatState) -> messages.SeatState:
    return messages.SeatState(
        seat=own.seat,
        hand=format_cards(own.hand),
        to_act=own.to_act,
        guard=own.guard,
        carried=format_cards(own.carried),
        laid=format_cards(own.laid),
        answers=[str(answer) for answer in own.answers],
        gifts=[event_to_json(gift) for gift in own.gifts],
    )


def _move(seat: int, cards: Hand) -> messages.Move:
    return messages.Move(seat, format_cards(cards))


def _moves(moves: tuple[Move, ...]) -> list[messages.Move]:
    return [_move(*move) for move in moves]


def _optional_card(card: Card | None) -> str | None:
    return None if card is None else str(card)


# The other fields are written as they are.
_SHOWN: dict[str, Any] = {
    "rules": lambda rules: messages.RuleSet(rules.name, dict(rules.options())),
    "dues": lambda dues: [Due(due.kind.value, due.giver, due.receiver) for due in dues],
    "step": lambda step: step.value,
    "deck": format_cards,
    "called": _optional_card,
    "table": lambda table: None if table is None else _move(table.seat, table.cards),
    "trick": _moves,
    "tricks": lambda tricks: [_moves(trick) for trick in tricks],
    "cleared": lambda cleared: [messages.ClearedDebt(*debt) for debt in cleared],
    "outcome": show_outcome,
}
