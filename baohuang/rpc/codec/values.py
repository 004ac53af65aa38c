"""Cards, seats, actions and the enums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeVar

from baohuang.rpc.codec.errors import CodecError
from baohuang.rpc.game.v1 import action_pb2, card_pb2, event_pb2, rules_pb2
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import CARDS, Card, Hand
from baohuang.rules.errors import CardError, Reason
from baohuang.rules.events import AutoPlayReason, ForfeitReason, Step
from baohuang.rules.outcome import DueKind, Termination
from baohuang.rules.roles import Role, Seat, Solo

_Core = TypeVar("_Core", bound=StrEnum)
_Wire = TypeVar("_Wire", bound=int)
_Number_co = TypeVar("_Number_co", covariant=True)


class _MessageEnum(Protocol[_Number_co]):
    def Value(self, name: str) -> _Number_co: ...  # noqa: N802 (protobuf's name)


class EnumCodec(Generic[_Core, _Wire]):
    """Both ways between an enum of the game and its message enum, whose names begin with `prefix`."""

    def __init__(
        self,
        core: type[_Core],
        wire: _MessageEnum[_Wire],
        prefix: str,
        reason: Reason = Reason.BAD_RECORD,
    ) -> None:
        self._prefix, self._reason = prefix, reason
        self._to_wire: Final = {member: wire.Value(f"{prefix}_{member.name}") for member in core}
        self._to_core: Final = {int(number): member for member, number in self._to_wire.items()}

    def encode(self, member: _Core) -> _Wire:
        return self._to_wire[member]

    def decode(self, number: int, field: str) -> _Core:
        """Raises `CodecError` for the unspecified and for unknown numbers; `field` is where it stood."""
        try:
            return self._to_core[number]
        except KeyError:
            known = ", ".join(f"{self._prefix}_{member.name}" for member in self._to_wire)
            raise CodecError(self._reason, f"{number} is none of {known}", field=field) from None


action_kind: Final = EnumCodec(ActionKind, action_pb2.ActionKind, "ACTION_KIND", Reason.MALFORMED_ACTION)
step: Final = EnumCodec(Step, event_pb2.Step, "STEP")
auto_play_reason: Final = EnumCodec(AutoPlayReason, event_pb2.AutoPlayReason, "AUTO_PLAY_REASON")
forfeit_reason: Final = EnumCodec(ForfeitReason, event_pb2.ForfeitReason, "FORFEIT_REASON")
role: Final = EnumCodec(Role, rules_pb2.Role, "ROLE")
solo: Final = EnumCodec(Solo, rules_pb2.Solo, "SOLO")
termination: Final = EnumCodec(Termination, rules_pb2.Termination, "TERMINATION")
due_kind: Final = EnumCodec(DueKind, rules_pb2.DueKind, "DUE_KIND")

_CARD_TO_WIRE: Final = tuple([card_pb2.Card.Value(f"CARD_{str(card).upper()}") for card in CARDS])
_CARD_TO_CORE: Final = {int(number): card for number, card in zip(_CARD_TO_WIRE, CARDS, strict=True)}
_SEATS: Final = 5
_MOST_CARDS: Final = 216
"""Of the largest deck (R2.1); a longer list is refused before anything looks at it."""


def encode_card(card: Card) -> card_pb2.Card.ValueType:
    """The number of a card in messages."""
    return _CARD_TO_WIRE[card]


def decode_card(number: int, field: str = "card") -> Card:
    """The card of a message's number; raises `CodecError`."""
    try:
        return _CARD_TO_CORE[number]
    except KeyError:
        raise CodecError(Reason.MALFORMED_CARD, f"{number} is no card", field=field) from None


def encode_cards(cards: Iterable[Card]) -> list[card_pb2.Card.ValueType]:
    """The numbers of cards in messages, in the order given."""
    return [_CARD_TO_WIRE[card] for card in cards]


def decode_cards(numbers: Sequence[int], field: str = "cards") -> Hand:
    """The cards of a message in the order in which they stand there; raises `CodecError`."""
    if len(numbers) > _MOST_CARDS:
        raise CodecError(Reason.MALFORMED_CARD, f"{len(numbers)} cards are more than a deck has", field=field)
    try:
        return tuple([_CARD_TO_CORE[number] for number in numbers])
    except KeyError:
        return tuple([decode_card(number, f"{field}[{index}]") for index, number in enumerate(numbers)])


def encode_hand(cards: Hand) -> card_pb2.Hand:
    """The message of a hand, which may be empty."""
    return card_pb2.Hand(cards=encode_cards(cards))


def decode_hand(message: card_pb2.Hand, field: str = "hand") -> Hand:
    """The cards of a hand that stood in `field`; raises `CodecError`."""
    return decode_cards(message.cards, f"{field}.cards")


def decode_seat(number: int, field: str = "seat") -> Seat:
    """A seat 0 … 4; raises `CodecError`."""
    if not 0 <= number < _SEATS:
        raise CodecError(Reason.BAD_SEAT, f"there is no seat {number}; seats are 0 to 4", field=field)
    return number


def decode_seats(numbers: Sequence[int], field: str) -> tuple[Seat, ...]:
    """Seats 0 … 4, any number of them; raises `CodecError`."""
    return tuple([decode_seat(number, f"{field}[{index}]") for index, number in enumerate(numbers)])


def check_five(values: Sequence[object], field: str) -> None:
    """Raises `CodecError` unless there is one value for each seat."""
    if len(values) != _SEATS:
        raise CodecError(
            Reason.BAD_RECORD, f"there are five entries, by seat, not {len(values)}", field=field
        )


def encode_action(action: Action) -> action_pb2.Action:
    """The message of an action."""
    return action_pb2.Action(kind=action_kind.encode(action.kind), cards=encode_cards(action.cards))


def decode_action(message: action_pb2.Action) -> Action:
    """The action of a message, its cards brought into deck order; raises `CodecError`."""
    kind = action_kind.decode(message.kind, "kind")
    cards = decode_cards(message.cards)
    try:
        return Action.of(kind, cards)
    except CardError as error:
        raise CodecError(error.reason, error.message, field="cards") from error
