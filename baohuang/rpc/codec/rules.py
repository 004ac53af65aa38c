"""Rule sets, openings, dues and outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from baohuang.rpc.codec.errors import CodecError, inside
from baohuang.rpc.codec.values import (
    check_five,
    decode_card,
    decode_seat,
    decode_seats,
    due_kind,
    encode_card,
    role,
    solo,
    termination,
)
from baohuang.rpc.game.v1 import rules_pb2
from baohuang.rules.errors import Reason
from baohuang.rules.outcome import Due, Outcome
from baohuang.rules.roles import Opening
from baohuang.rules.ruleset import RuleSet


def encode_rules(rules: RuleSet) -> rules_pb2.RuleSet:
    """The message of a rule set: its preset, and as text what differs from it."""
    options = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in rules.options().items()
    }
    return rules_pb2.RuleSet(preset=rules.name, options=options)


def decode_rules(message: rules_pb2.RuleSet) -> RuleSet:
    """The rule set of a message, one value for equal messages; raises `RuleSetError`."""
    return _preset(message.preset, tuple(sorted(message.options.items())))


@lru_cache(maxsize=256)
def _preset(preset: str, options: tuple[tuple[str, str], ...]) -> RuleSet:
    return RuleSet.preset(preset, **dict(options))


def encode_due(due: Due) -> rules_pb2.Due:
    """The message of a due."""
    return rules_pb2.Due(kind=due_kind.encode(due.kind), giver=due.giver, receiver=due.receiver)


def decode_due(message: rules_pb2.Due) -> Due:
    """Raises `CodecError`."""
    return Due(
        kind=due_kind.decode(message.kind, "kind"),
        giver=decode_seat(message.giver, "giver"),
        receiver=decode_seat(message.receiver, "receiver"),
    )


def decode_dues(messages: Iterable[rules_pb2.Due], field: str = "dues") -> tuple[Due, ...]:
    """Raises `CodecError`."""
    dues = []
    for index, message in enumerate(messages):
        with inside(f"{field}[{index}]"):
            dues.append(decode_due(message))
    return tuple(dues)


def encode_opening(opening: Opening) -> rules_pb2.Opening:
    """The message of an opening, without the guard where that is None."""
    return rules_pb2.Opening(
        emperor=opening.emperor,
        guard=opening.guard,
        open_solo=opening.open_solo,
        called=None if opening.called is None else encode_card(opening.called),
        open_guard=opening.open_guard,
        rebels=opening.rebels,
        counters=opening.counters,
        recounters=opening.recounters,
    )


def decode_opening(message: rules_pb2.Opening) -> Opening:
    """Raises `CodecError`."""
    return Opening(
        emperor=decode_seat(message.emperor, "emperor"),
        guard=decode_seat(message.guard, "guard") if message.HasField("guard") else None,
        open_solo=message.open_solo,
        called=decode_card(message.called, "called") if message.HasField("called") else None,
        open_guard=message.open_guard,
        rebels=decode_seats(message.rebels, "rebels"),
        counters=decode_seats(message.counters, "counters"),
        recounters=decode_seats(message.recounters, "recounters"),
    )


def encode_outcome(outcome: Outcome) -> rules_pb2.Outcome:
    """The message of an outcome; `places` and `roles` are empty where they are None."""
    return rules_pb2.Outcome(
        termination=termination.encode(outcome.termination),
        places=outcome.places or (),
        roles=[role.encode(each) for each in outcome.roles or ()],
        solo=solo.encode(outcome.solo),
        multiplier=outcome.multiplier,
        scores=outcome.scores,
        penalties=outcome.penalties,
        auto_play=outcome.auto_play,
        next_first_drawer=outcome.next_first_drawer,
        dues=[encode_due(due) for due in outcome.dues],
    )


def decode_outcome(message: rules_pb2.Outcome) -> Outcome:
    """Raises `CodecError`."""
    places, roles = tuple(message.places), message.roles
    if places:
        check_five(places, "places")
        for index, place in enumerate(places):
            if not 1 <= place <= 5:
                raise CodecError(Reason.BAD_RECORD, f"{place} is no place 1 to 5", field=f"places[{index}]")
    if roles:
        check_five(roles, "roles")
    check_five(message.scores, "scores")
    check_five(message.penalties, "penalties")
    check_five(message.auto_play, "auto_play")
    return Outcome(
        termination=termination.decode(message.termination, "termination"),
        places=places or None,
        roles=tuple([role.decode(each, f"roles[{seat}]") for seat, each in enumerate(roles)]) or None,
        solo=solo.decode(message.solo, "solo"),
        multiplier=message.multiplier,
        scores=tuple(message.scores),
        penalties=tuple(message.penalties),
        auto_play=tuple(message.auto_play),
        next_first_drawer=decode_seat(message.next_first_drawer, "next_first_drawer"),
        dues=decode_dues(message.dues),
    )
