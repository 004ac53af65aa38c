"""What REST answers as messages of the contracts."""

from __future__ import annotations

from typing import Any, Final, Protocol

import msgspec

from baohuang import Outcome, RuleSet
from baohuang.rpc.codec import encode_due, encode_outcome, encode_rules
from baohuang.rpc.game.v1 import rules_pb2
from baohuang.rpc.lobby.v1 import matches_pb2, players_pb2, tables_pb2
from baohuang.rules.outcome import Due
from services.kit.errors import PlatformError
from services.lobby.messages import common, matches, players, tables


class _MessageEnum(Protocol):
    def Name(self, number: Any) -> str: ...
    def Value(self, name: str) -> Any: ...


class Words:
    """An enum of the contracts, and the words of REST for its names."""

    def __init__(self, enum: _MessageEnum, prefix: str) -> None:
        self._enum, self._prefix = enum, prefix

    def encode(self, word: str) -> Any:
        """The number of a word."""
        return self._enum.Value(f"{self._prefix}_{word.upper()}")

    def decode(self, number: int, field: str) -> str | None:
        """The word of a number, None for the unspecified. Raises PlatformError for one that is none."""
        try:
            name = self._enum.Name(number)
        except ValueError:
            raise PlatformError.malformed(field, f"{number} is no {self._prefix.lower()}") from None
        word = name.removeprefix(f"{self._prefix}_").lower()
        return None if word == "unspecified" else word


scopes: Final = Words(players_pb2.Scope, "SCOPE")
table_statuses: Final = Words(tables_pb2.TableStatus, "TABLE_STATUS")
hand_statuses: Final = Words(tables_pb2.HandStatus, "HAND_STATUS")
ticket_statuses: Final = Words(matches_pb2.TicketStatus, "TICKET_STATUS")


def rules_fields(message: rules_pb2.RuleSet) -> dict[str, Any]:
    """A rule set as the fields of REST."""
    return {"preset": message.preset, "options": dict(message.options)}


def rules_message(rules: common.Rules) -> rules_pb2.RuleSet:
    """A rule set."""
    return encode_rules(RuleSet.preset(rules.preset, **rules.options))


def due_message(due: common.Due) -> rules_pb2.Due:
    """One card that is owed."""
    return encode_due(msgspec.convert(msgspec.to_builtins(due), Due))


def outcome_message(outcome: common.Outcome | None) -> rules_pb2.Outcome | None:
    """What a hand ended with; None for one that has not."""
    if outcome is None:
        return None
    return encode_outcome(msgspec.convert(msgspec.to_builtins(outcome), Outcome))


def player_message(player: players.Player | None) -> players_pb2.Player | None:
    """A player; None for nobody."""
    return None if player is None else players_pb2.Player(**msgspec.structs.asdict(player))


def token_message(token: players.Token) -> players_pb2.Token:
    """A token without its secret."""
    return players_pb2.Token(
        token_id=token.token_id,
        label=token.label,
        scopes=[scopes.encode(scope) for scope in token.scopes],
        created_at_ms=token.created_at_ms,
        expires_at_ms=token.expires_at_ms,
    )


def ticket_message(ticket: matches.Ticket) -> matches_pb2.Ticket:
    """A place in a queue."""
    return matches_pb2.Ticket(
        ticket_id=ticket.ticket_id,
        status=ticket_statuses.encode(ticket.status),
        rules=rules_message(ticket.rules),
        hands=ticket.hands,
        created_at_ms=ticket.created_at_ms,
        waiting=ticket.waiting,
        table_id=ticket.table_id,
    )


def table_message(table: tables.Table) -> tables_pb2.Table:
    """A table."""
    return tables_pb2.Table(
        table_id=table.table_id,
        status=table_statuses.encode(table.status),
        created_at_ms=table.created_at_ms,
        rules=rules_message(table.rules),
        host=player_message(table.host),
        is_private=table.is_private,
        code=table.code,
        bots_allowed=table.bots_allowed,
        pace=tables_pb2.Pace(**msgspec.structs.asdict(table.pace)),
        spectator_delay=table.spectator_delay,
        seats=[_seat(seat) for seat in table.seats],
        hands_to_play=table.hands_to_play,
        hands=[_hand(hand) for hand in table.hands],
        totals=tables_pb2.Totals(**msgspec.structs.asdict(table.totals)),
        next_first_drawer=table.next_hand.first_drawer,
        next_dues=[due_message(due) for due in table.next_hand.dues],
        reason=table.reason,
    )


def summary_message(table: tables.TableSummary) -> tables_pb2.TableSummary:
    """A table in a list."""
    return tables_pb2.TableSummary(
        table_id=table.table_id,
        status=table_statuses.encode(table.status),
        created_at_ms=table.created_at_ms,
        rules=rules_message(table.rules),
        hands_to_play=table.hands_to_play,
        hands_played=table.hands_played,
        free_seats=table.free_seats,
        bots_allowed=table.bots_allowed,
        latest_game_id=table.latest_game_id,
    )


def _seat(seat: tables.TableSeat) -> tables_pb2.TableSeat:
    return tables_pb2.TableSeat(
        seat=seat.seat, player=player_message(seat.player), bot=seat.bot, ready=seat.ready, away=seat.away
    )


def _hand(hand: tables.Hand) -> tables_pb2.TableHand:
    return tables_pb2.TableHand(
        number=hand.number,
        game_id=hand.game_id,
        status=hand_statuses.encode(hand.status),
        first_drawer=hand.first_drawer,
        dues=[due_message(due) for due in hand.dues],
        outcome=outcome_message(hand.outcome),
        created_at_ms=hand.created_at_ms,
        ended_at_ms=hand.ended_at_ms,
    )
