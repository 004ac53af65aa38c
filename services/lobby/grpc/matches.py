"""`MatchService`: quick match."""

from __future__ import annotations

from baohuang.rpc.lobby.v1 import matches_pb2 as pb
from baohuang.rpc.lobby.v1.matches_pb2_grpc import MatchServiceServicer
from services.lobby.grpc.access import Access, Context, body, key_of
from services.lobby.grpc.convert import rules_fields, ticket_message
from services.lobby.messages import matches as messages


class MatchesEdge(MatchServiceServicer):
    """Who wants to play the same is put at one table."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._lobby = access.lobby

    async def RequestMatch(
        self, request: pb.RequestMatchRequest, context: Context
    ) -> pb.RequestMatchResponse:
        caller = await self._access.caller(context)
        fields = {
            "rules": rules_fields(request.rules),
            "hands": request.hands or 1,
            "bots_after_seconds": request.bots_after_seconds
            if request.HasField("bots_after_seconds")
            else None,
        }
        ticket = await self._lobby.request_match(
            caller, body(messages.NewTicket, fields), key_of(request.command_id)
        )
        return pb.RequestMatchResponse(ticket=ticket_message(ticket))

    async def GetMatch(self, request: pb.GetMatchRequest, context: Context) -> pb.GetMatchResponse:
        caller = await self._access.caller(context)
        ticket = await self._lobby.get_match(caller, request.ticket_id)
        return pb.GetMatchResponse(ticket=ticket_message(ticket))

    async def CancelMatch(self, request: pb.CancelMatchRequest, context: Context) -> pb.CancelMatchResponse:
        caller = await self._access.caller(context)
        ticket = await self._lobby.cancel_match(caller, request.ticket_id)
        return pb.CancelMatchResponse(ticket=ticket_message(ticket))
