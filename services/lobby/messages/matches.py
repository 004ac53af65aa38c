"""Tickets for a quick match."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from services.lobby.messages.common import Body, Hands, Rules

TicketStatus = Literal["waiting", "matched", "cancelled", "expired"]


class NewTicket(Body, frozen=True, kw_only=True):
    """What somebody wants to play. Only those who want the same are put at one table."""

    rules: Rules
    hands: Hands = 1
    bots_after_seconds: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=600)] | None,
        msgspec.Meta(description="From then on bots take the seats that are missing; null: never."),
    ] = None


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a queue. `waiting` counts those who wait for the same; `table_id` is set once matched."""

    ticket_id: str
    status: TicketStatus
    rules: Rules
    hands: int
    created_at_ms: int
    waiting: int
    table_id: str | None
