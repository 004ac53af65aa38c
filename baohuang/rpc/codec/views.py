"""Views: what a viewer may know, as messages."""

from __future__ import annotations

from baohuang.rpc.codec.errors import CodecError, inside
from baohuang.rpc.codec.events import decode_gift, encode_gift
from baohuang.rpc.codec.rules import (
    decode_dues,
    decode_outcome,
    decode_rules,
    encode_due,
    encode_outcome,
    encode_rules,
)
from baohuang.rpc.codec.values import (
    check_five,
    decode_action,
    decode_card,
    decode_cards,
    decode_hand,
    decode_seat,
    decode_seats,
    encode_action,
    encode_card,
    encode_cards,
    encode_hand,
    step,
)
from baohuang.rpc.game.v1 import view_pb2 as pb
from baohuang.rules.cards import Card
from baohuang.rules.errors import Reason
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.state import ClearedDebt, Move, PublicState, SeatState, TablePlay, View


def encode_view(view: View) -> pb.View:
    """The message of a view; what the viewer may not know is absent from it."""
    return pb.View(
        viewer=view.viewer,
        public=encode_public(view.public),
        own=None if view.own is None else _encode_own(view.own),
        hands=[encode_hand(hand) for hand in view.hands or ()],
    )


def decode_view(message: pb.View) -> View:
    """The view of a message; raises `CodecError`, or `RuleSetError` for a rule set that cannot be."""
    with inside("public"):
        public = decode_public(message.public)
    with inside("own"):
        own = _decode_own(message.own) if message.HasField("own") else None
    if message.hands:
        check_five(message.hands, "hands")
    hands = tuple([decode_hand(hand, f"hands[{seat}]") for seat, hand in enumerate(message.hands)])
    return View(
        viewer=decode_seat(message.viewer, "viewer") if message.HasField("viewer") else None,
        public=public,
        own=own,
        hands=hands or None,
    )


def encode_public(public: PublicState) -> pb.PublicState:
    """The message of a public state; the shape of the play on the table follows from its cards."""
    return pb.PublicState(
        rules=encode_rules(public.rules),
        first_drawer=public.first_drawer,
        dues=[encode_due(due) for due in public.dues],
        commitment=public.commitment,
        version=public.version,
        opened_version=public.opened_version,
        step=step.encode(public.step),
        to_act=public.to_act,
        answered=public.answered,
        nonces=[pb.PublicState.Nonce(nonce=nonce) for nonce in public.nonces],
        deck=encode_cards(public.deck),
        redeal=public.redeal,
        given_deal=public.given_deal,
        counts=[pb.PublicState.Count(count=count) for count in public.counts],
        first_holder=public.first_holder,
        holder=public.holder,
        yields=public.yields,
        carried_count=public.carried_count,
        emperor=public.emperor,
        called=None if public.called is None else encode_card(public.called),
        guard=public.guard,
        open_solo=public.open_solo,
        open_guard=public.open_guard,
        rebels=public.rebels,
        rebellion=public.rebellion,
        counters=public.counters,
        counter=public.counter,
        recounters=public.recounters,
        recounter=public.recounter,
        table=None if public.table is None else _encode_move(Move(public.table.seat, public.table.cards)),
        passes=public.passes,
        trick=_encode_trick(public.trick),
        tricks=[_encode_trick(trick) for trick in public.tricks],
        places=[pb.PublicState.Place(place=place) for place in public.places],
        cleared=[pb.ClearedDebt(giver=debt.giver, receiver=debt.receiver) for debt in public.cleared],
        auto_play=public.auto_play,
        auto_play_starts=public.auto_play_starts,
        forfeited=public.forfeited,
        outcome=None if public.outcome is None else encode_outcome(public.outcome),
    )


def decode_public(message: pb.PublicState) -> PublicState:
    """The public state of a message; raises `CodecError`, or `RuleSetError`."""
    rules = decode_rules(message.rules)
    called = decode_card(message.called, "called") if message.HasField("called") else None
    for name in ("nonces", "counts", "places", "auto_play", "auto_play_starts", "forfeited"):
        check_five(getattr(message, name), name)
    with inside("outcome"):
        outcome = decode_outcome(message.outcome) if message.HasField("outcome") else None
    return PublicState(
        rules=rules,
        first_drawer=decode_seat(message.first_drawer, "first_drawer"),
        dues=decode_dues(message.dues),
        commitment=message.commitment if message.HasField("commitment") else None,
        version=message.version,
        opened_version=message.opened_version,
        step=step.decode(message.step, "step"),
        to_act=decode_seats(message.to_act, "to_act"),
        answered=decode_seats(message.answered, "answered"),
        nonces=tuple([each.nonce if each.HasField("nonce") else None for each in message.nonces]),
        deck=decode_cards(message.deck, "deck"),
        redeal=message.redeal,
        given_deal=message.given_deal,
        counts=tuple([each.count if each.HasField("count") else None for each in message.counts]),
        first_holder=decode_seat(message.first_holder, "first_holder")
        if message.HasField("first_holder")
        else None,
        holder=decode_seat(message.holder, "holder") if message.HasField("holder") else None,
        yields=message.yields,
        carried_count=message.carried_count,
        emperor=decode_seat(message.emperor, "emperor") if message.HasField("emperor") else None,
        called=called,
        guard=decode_seat(message.guard, "guard") if message.HasField("guard") else None,
        open_solo=message.open_solo,
        open_guard=message.open_guard,
        rebels=decode_seats(message.rebels, "rebels"),
        rebellion=message.rebellion,
        counters=decode_seats(message.counters, "counters"),
        counter=message.counter,
        recounters=decode_seats(message.recounters, "recounters"),
        recounter=message.recounter,
        table=_decode_table(message.table, rules, called) if message.HasField("table") else None,
        passes=message.passes,
        trick=_decode_trick(message.trick, "trick"),
        tricks=tuple(
            [_decode_trick(trick, f"tricks[{index}]") for index, trick in enumerate(message.tricks)]
        ),
        places=tuple([each.place if each.HasField("place") else None for each in message.places]),
        cleared=tuple(
            [
                ClearedDebt(
                    decode_seat(debt.giver, f"cleared[{index}].giver"),
                    decode_seat(debt.receiver, f"cleared[{index}].receiver"),
                )
                for index, debt in enumerate(message.cleared)
            ]
        ),
        auto_play=tuple(message.auto_play),
        auto_play_starts=tuple(message.auto_play_starts),
        forfeited=tuple(message.forfeited),
        outcome=outcome,
    )


def _encode_move(move: Move) -> pb.Move:
    return pb.Move(seat=move.seat, cards=encode_cards(move.cards))


def _decode_move(message: pb.Move, field: str) -> Move:
    return Move(decode_seat(message.seat, f"{field}.seat"), decode_cards(message.cards, f"{field}.cards"))


def _encode_trick(trick: tuple[Move, ...]) -> pb.Trick:
    return pb.Trick(moves=[_encode_move(move) for move in trick])


def _decode_trick(message: pb.Trick, field: str) -> tuple[Move, ...]:
    return tuple([_decode_move(move, f"{field}.moves[{index}]") for index, move in enumerate(message.moves)])


def _decode_table(message: pb.Move, rules: RuleSet, called: Card | None) -> TablePlay:
    # The shape follows from the cards, so it does not travel.
    move = _decode_move(message, "table")
    shape = rules.find_shape(tuple(sorted(move.cards)), called)
    if shape is None:
        raise CodecError(Reason.NOT_A_PLAY, "these cards are no play", field="table.cards")
    return TablePlay(move.seat, move.cards, shape)


def _encode_own(own: SeatState) -> pb.SeatState:
    return pb.SeatState(
        seat=own.seat,
        hand=encode_hand(own.hand),
        to_act=own.to_act,
        guard=own.guard,
        carried=encode_hand(own.carried),
        laid=encode_hand(own.laid),
        answers=[encode_action(action) for action in own.answers],
        gifts=[encode_gift(gift) for gift in own.gifts],
    )


def _decode_own(message: pb.SeatState) -> SeatState:
    answers, gifts = [], []
    for index, answer in enumerate(message.answers):
        with inside(f"answers[{index}]"):
            answers.append(decode_action(answer))
    for index, gift in enumerate(message.gifts):
        with inside(f"gifts[{index}]"):
            gifts.append(decode_gift(gift))
    return SeatState(
        seat=decode_seat(message.seat),
        hand=decode_hand(message.hand, "hand"),
        to_act=message.to_act,
        guard=decode_seat(message.guard, "guard") if message.HasField("guard") else None,
        carried=decode_hand(message.carried, "carried"),
        laid=decode_hand(message.laid, "laid"),
        answers=tuple(answers),
        gifts=tuple(gifts),
    )
