"""Events, one by one and as the bytes of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from google.protobuf.message import DecodeError

from baohuang.rpc.codec.errors import CodecError, inside
from baohuang.rpc.codec.rules import (
    decode_dues,
    decode_opening,
    decode_outcome,
    decode_rules,
    encode_due,
    encode_opening,
    encode_outcome,
    encode_rules,
)
from baohuang.rpc.codec.values import (
    action_kind,
    auto_play_reason,
    check_five,
    decode_action,
    decode_card,
    decode_cards,
    decode_hand,
    decode_seat,
    due_kind,
    encode_action,
    encode_card,
    encode_cards,
    encode_hand,
    forfeit_reason,
    step,
)
from baohuang.rpc.game.v1 import event_pb2 as pb
from baohuang.rules import events as ev
from baohuang.rules.cards import Card, Hand
from baohuang.rules.errors import Reason
from baohuang.rules.events import Event
from baohuang.rules.roles import Seat
from baohuang.rules.shuffle import SEED_BYTES, seed_bytes


def encode_events(events: Iterable[Event]) -> bytes:
    """The bytes of an `EventBatch`, as they are stored; the same events always give the same bytes."""
    batch = pb.EventBatch(events=[encode_event(event) for event in events])
    return batch.SerializeToString(deterministic=True)


def decode_events(payload: bytes) -> tuple[Event, ...]:
    """The events of an `EventBatch`; raises `CodecError`, or `RuleSetError` for a rule set that cannot be."""
    try:
        batch = pb.EventBatch.FromString(payload)
    except DecodeError as error:
        raise CodecError(Reason.BAD_RECORD, "these bytes are no batch of events") from error
    try:
        return tuple([decode_event(message) for message in batch.events])
    except CodecError:
        return tuple([_decode_at(index, message) for index, message in enumerate(batch.events)])


def _decode_at(index: int, message: pb.Event) -> Event:
    with inside(f"events[{index}]"):
        return decode_event(message)


def encode_event(event: Event) -> pb.Event:
    """The message of an event; what a viewer may not see (None) is absent from it."""
    return _ENCODERS[type(event)](event)


def decode_event(message: pb.Event) -> Event:
    """The event of a message; raises `CodecError`, or `RuleSetError` for a rule set that cannot be."""
    kind = message.WhichOneof("event")
    if kind is None:
        raise CodecError(Reason.BAD_RECORD, "an event of no known kind")
    try:
        return _DECODERS[kind](getattr(message, kind))
    except CodecError as error:
        raise error.within(kind) from error


def _encode_seed(seed: int | None) -> bytes | None:
    return None if seed is None else seed_bytes(seed)


def decode_seed(seed: bytes, field: str = "seed") -> int:
    """The number of 32 big-endian bytes; raises `CodecError`."""
    if len(seed) != SEED_BYTES:
        raise CodecError(Reason.BAD_SEED, f"a seed has {SEED_BYTES} bytes, not {len(seed)}", field=field)
    return int.from_bytes(seed, "big")


def _encode_optional_hand(cards: Hand | None) -> Any:
    return None if cards is None else encode_hand(cards)


def _decode_asked(message: pb.ThroneAnswered) -> Seat | None:
    return decode_seat(message.asked, "asked") if message.HasField("asked") else None


def _decode_optional_card(message: pb.CardGiven | pb.CallAnswered) -> Card | None:
    return decode_card(message.card) if message.HasField("card") else None


def _encode_game_started(event: ev.GameStarted) -> pb.Event:
    return pb.Event(
        game_started=pb.GameStarted(
            rules=encode_rules(event.rules),
            first_drawer=event.first_drawer,
            dues=[encode_due(due) for due in event.dues],
            commitment=event.commitment,
            seed=_encode_seed(event.seed),
            salt=event.salt,
        )
    )


def _decode_game_started(message: pb.GameStarted) -> ev.GameStarted:
    return ev.GameStarted(
        rules=decode_rules(message.rules),
        first_drawer=decode_seat(message.first_drawer, "first_drawer"),
        dues=decode_dues(message.dues),
        commitment=message.commitment if message.HasField("commitment") else None,
        seed=decode_seed(message.seed) if message.HasField("seed") else None,
        salt=message.salt if message.HasField("salt") else None,
    )


def _encode_dealt(event: ev.Dealt) -> pb.Event:
    return pb.Event(
        dealt=pb.Dealt(
            redeal=event.redeal,
            hands=[pb.Dealt.SeatHand(hand=_encode_optional_hand(hand)) for hand in event.hands],
            deck=_encode_optional_hand(event.deck),
        )
    )


def _decode_dealt(message: pb.Dealt) -> ev.Dealt:
    check_five(message.hands, "hands")
    return ev.Dealt(
        redeal=message.redeal,
        hands=tuple(
            [
                decode_hand(dealt.hand, f"hands[{seat}].hand") if dealt.HasField("hand") else None
                for seat, dealt in enumerate(message.hands)
            ]
        ),
        deck=decode_hand(message.deck, "deck") if message.HasField("deck") else None,
    )


def _decode_opening_given(message: pb.OpeningGiven) -> ev.OpeningGiven:
    with inside("opening"):
        return ev.OpeningGiven(decode_opening(message.opening))


def _encode_card_given(event: ev.CardGiven) -> pb.Event:
    return pb.Event(card_given=encode_gift(event))


def encode_gift(event: ev.CardGiven) -> pb.CardGiven:
    """The message of a debt or tribute, in an event or in a view."""
    return pb.CardGiven(
        giver=event.giver,
        receiver=event.receiver,
        kind=due_kind.encode(event.kind),
        returned=event.returned,
        card=None if event.card is None else encode_card(event.card),
    )


def decode_gift(message: pb.CardGiven) -> ev.CardGiven:
    """Raises `CodecError`."""
    return ev.CardGiven(
        giver=decode_seat(message.giver, "giver"),
        receiver=decode_seat(message.receiver, "receiver"),
        kind=due_kind.decode(message.kind, "kind"),
        returned=message.returned,
        card=_decode_optional_card(message),
    )


def _encode_throne_answered(event: ev.ThroneAnswered) -> pb.Event:
    return pb.Event(
        throne_answered=pb.ThroneAnswered(
            seat=event.seat,
            answer=action_kind.encode(event.answer),
            asked=event.asked,
            laid=_encode_optional_hand(event.laid),
            laid_count=event.laid_count,
            carried=_encode_optional_hand(event.carried),
            carried_count=event.carried_count,
        )
    )


def _decode_throne_answered(message: pb.ThroneAnswered) -> ev.ThroneAnswered:
    return ev.ThroneAnswered(
        seat=decode_seat(message.seat),
        answer=action_kind.decode(message.answer, "answer"),
        asked=_decode_asked(message),
        laid=decode_hand(message.laid, "laid") if message.HasField("laid") else None,
        laid_count=message.laid_count,
        carried=decode_hand(message.carried, "carried") if message.HasField("carried") else None,
        carried_count=message.carried_count,
    )


def _encode_call_answered(event: ev.CallAnswered) -> pb.Event:
    card = None if event.card is None else encode_card(event.card)
    return pb.Event(call_answered=pb.CallAnswered(seat=event.seat, card=card))


def _encode_answered(event: ev.Answered) -> pb.Event:
    action = None if event.action is None else encode_action(event.action)
    return pb.Event(answered=pb.Answered(seat=event.seat, step=step.encode(event.step), action=action))


def _decode_answered(message: pb.Answered) -> ev.Answered:
    with inside("action"):
        action = decode_action(message.action) if message.HasField("action") else None
    return ev.Answered(decode_seat(message.seat), step.decode(message.step, "step"), action)


def _encode_step_closed(event: ev.StepClosed) -> pb.Event:
    declared = [
        pb.StepClosed.Declared(seat=seat, kind=action_kind.encode(kind)) for seat, kind in event.declared
    ]
    return pb.Event(
        step_closed=pb.StepClosed(step=step.encode(event.step), declared=declared, stands=event.stands)
    )


def _decode_step_closed(message: pb.StepClosed) -> ev.StepClosed:
    return ev.StepClosed(
        step=step.decode(message.step, "step"),
        declared=tuple(
            [
                (
                    decode_seat(declared.seat, f"declared[{index}].seat"),
                    action_kind.decode(declared.kind, f"declared[{index}].kind"),
                )
                for index, declared in enumerate(message.declared)
            ]
        ),
        stands=message.stands,
    )


def _encode_hand_ended(event: ev.HandEnded) -> pb.Event:
    return pb.Event(
        hand_ended=pb.HandEnded(
            outcome=encode_outcome(event.outcome), seed=_encode_seed(event.seed), salt=event.salt
        )
    )


def _decode_hand_ended(message: pb.HandEnded) -> ev.HandEnded:
    with inside("outcome"):
        outcome = decode_outcome(message.outcome)
    return ev.HandEnded(
        outcome=outcome,
        seed=decode_seed(message.seed) if message.HasField("seed") else None,
        salt=message.salt if message.HasField("salt") else None,
    )


_ENCODERS: Final[dict[type[Event], Callable[[Any], pb.Event]]] = {
    ev.GameStarted: _encode_game_started,
    ev.NonceAdded: lambda e: pb.Event(nonce_added=pb.NonceAdded(seat=e.seat, nonce=e.nonce)),
    ev.Dealt: _encode_dealt,
    ev.OpeningGiven: lambda e: pb.Event(opening_given=pb.OpeningGiven(opening=encode_opening(e.opening))),
    ev.CardGiven: _encode_card_given,
    ev.ThroneAnswered: _encode_throne_answered,
    ev.Enthroned: lambda e: pb.Event(enthroned=pb.Enthroned(emperor=e.emperor)),
    ev.CallAnswered: _encode_call_answered,
    ev.Answered: _encode_answered,
    ev.StepClosed: _encode_step_closed,
    ev.GuardRevealed: lambda e: pb.Event(guard_revealed=pb.GuardRevealed(emperor=e.emperor, guard=e.guard)),
    ev.Played: lambda e: pb.Event(played=pb.Played(seat=e.seat, cards=encode_cards(e.cards))),
    ev.Passed: lambda e: pb.Event(passed=pb.Passed(seat=e.seat)),
    ev.WentOut: lambda e: pb.Event(went_out=pb.WentOut(seat=e.seat, place=e.place)),
    ev.Cleared: lambda e: pb.Event(cleared=pb.Cleared(seat=e.seat, place=e.place, by=e.by)),
    ev.TrickEnded: lambda e: pb.Event(trick_ended=pb.TrickEnded(winner=e.winner, leader=e.leader)),
    ev.AutoPlayStarted: lambda e: pb.Event(
        auto_play_started=pb.AutoPlayStarted(seat=e.seat, why=auto_play_reason.encode(e.why))
    ),
    ev.AutoPlayEnded: lambda e: pb.Event(auto_play_ended=pb.AutoPlayEnded(seat=e.seat)),
    ev.SeatForfeited: lambda e: pb.Event(
        seat_forfeited=pb.SeatForfeited(seat=e.seat, why=forfeit_reason.encode(e.why))
    ),
    ev.HandEnded: _encode_hand_ended,
}

_DECODERS: Final[dict[str, Callable[[Any], Event]]] = {
    "game_started": _decode_game_started,
    "nonce_added": lambda m: ev.NonceAdded(decode_seat(m.seat), m.nonce),
    "dealt": _decode_dealt,
    "opening_given": _decode_opening_given,
    "card_given": decode_gift,
    "throne_answered": _decode_throne_answered,
    "enthroned": lambda m: ev.Enthroned(decode_seat(m.emperor, "emperor")),
    "call_answered": lambda m: ev.CallAnswered(decode_seat(m.seat), _decode_optional_card(m)),
    "answered": _decode_answered,
    "step_closed": _decode_step_closed,
    "guard_revealed": lambda m: ev.GuardRevealed(
        decode_seat(m.emperor, "emperor"), decode_seat(m.guard, "guard")
    ),
    "played": lambda m: ev.Played(decode_seat(m.seat), decode_cards(m.cards)),
    "passed": lambda m: ev.Passed(decode_seat(m.seat)),
    "went_out": lambda m: ev.WentOut(decode_seat(m.seat), m.place),
    "cleared": lambda m: ev.Cleared(decode_seat(m.seat), m.place, decode_seat(m.by, "by")),
    "trick_ended": lambda m: ev.TrickEnded(decode_seat(m.winner, "winner"), decode_seat(m.leader, "leader")),
    "auto_play_started": lambda m: ev.AutoPlayStarted(
        decode_seat(m.seat), auto_play_reason.decode(m.why, "why")
    ),
    "auto_play_ended": lambda m: ev.AutoPlayEnded(decode_seat(m.seat)),
    "seat_forfeited": lambda m: ev.SeatForfeited(decode_seat(m.seat), forfeit_reason.decode(m.why, "why")),
    "hand_ended": _decode_hand_ended,
}
