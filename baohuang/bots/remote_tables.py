"""How a bot comes to games on a server: it registers, sits down at a table, or asks for a quick match."""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from baohuang.bots.remote_client import LobbyClient
from baohuang.rpc.codec import encode_rules
from baohuang.rpc.lobby.v1 import matches_pb2, players_pb2, tables_pb2
from baohuang.rules.ruleset import RuleSet

_LOOK_SECONDS: Final = 1.0
_CODE_LENGTH: Final = 8
"""Of a private table's code; ids are longer."""


async def register(server: str, name: str) -> str:
    """A new player who is a program; gives his token, which is told this once. Raises RemoteError."""
    async with LobbyClient(server) as client:
        request = players_pb2.RegisterPlayerRequest(name=name, is_bot=True)
        # Should the answer be lost, so is the name: it is not asked for twice.
        answer = await client.call(client.players.RegisterPlayer, request, tries=1)
        secret: str = answer.secret
        return secret


async def sit_down(client: LobbyClient, table: str) -> str:
    """Join a public table by its id, or a private one by its code, and be ready; gives the table's id.

    Raises RemoteError.
    """
    is_code = len(table) == _CODE_LENGTH
    request = tables_pb2.JoinTableRequest(
        command_id=secrets.token_hex(16),
        table_id=None if is_code else table,
        code=table if is_code else None,
    )
    joined: str = (await client.call(client.tables.JoinTable, request)).table.table_id
    await client.call(client.tables.SetReady, tables_pb2.SetReadyRequest(table_id=joined, ready=True))
    return joined


async def quick_match(
    client: LobbyClient, rules: RuleSet, *, hands: int = 1, bots_after_seconds: int | None = None
) -> str:
    """Wait in the queue of a rule set until there is a table; gives its id.

    After `bots_after_seconds` built-in bots take the seats that are missing (None: never). Raises
    RemoteError.
    """
    request = matches_pb2.RequestMatchRequest(
        command_id=secrets.token_hex(16),
        rules=encode_rules(rules),
        hands=hands,
        bots_after_seconds=bots_after_seconds,
    )
    ticket = (await client.call(client.matches.RequestMatch, request)).ticket
    while not ticket.table_id:
        await asyncio.sleep(_LOOK_SECONDS)
        look = matches_pb2.GetMatchRequest(ticket_id=ticket.ticket_id)
        ticket = (await client.call(client.matches.GetMatch, look)).ticket
        if ticket.status in (matches_pb2.TICKET_STATUS_EXPIRED, matches_pb2.TICKET_STATUS_CANCELLED):
            request.command_id = secrets.token_hex(16)
            ticket = (await client.call(client.matches.RequestMatch, request)).ticket
    table_id: str = ticket.table_id
    return table_id
