"""`PlayerService`: players and tokens."""

from __future__ import annotations

from baohuang.rpc.lobby.v1 import players_pb2 as pb
from baohuang.rpc.lobby.v1.players_pb2_grpc import PlayerServiceServicer
from services.kit.errors import PlatformError
from services.lobby.grpc.access import Access, Context, body
from services.lobby.grpc.convert import player_message, scopes, token_message
from services.lobby.messages import players as messages


class PlayersEdge(PlayerServiceServicer):
    """Who plays."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._lobby = access.lobby

    async def RegisterPlayer(
        self, request: pb.RegisterPlayerRequest, context: Context
    ) -> pb.RegisterPlayerResponse:
        address = self._access.address(context, await self._access.begin(context))
        await self._lobby.limits.take("registrations", address)
        fields = {"name": request.name, "is_bot": request.is_bot}
        registered = await self._lobby.players.register(body(messages.NewPlayer, fields))
        return pb.RegisterPlayerResponse(
            player=player_message(registered.player),
            token=token_message(registered.token),
            secret=registered.secret,
        )

    async def GetPlayer(self, request: pb.GetPlayerRequest, context: Context) -> pb.GetPlayerResponse:
        if request.HasField("player_id"):
            await self._access.guest(context)
            player_id = request.player_id
        else:
            player_id = (await self._access.caller(context)).player_id
        return pb.GetPlayerResponse(player=player_message(await self._lobby.players.get(player_id)))

    async def CreateToken(self, request: pb.CreateTokenRequest, context: Context) -> pb.CreateTokenResponse:
        caller = await self._access.caller(context)
        fields = {
            "label": request.label,
            "scopes": [_scope(number, index) for index, number in enumerate(request.scopes)] or None,
            "expires_in_seconds": request.expires_in_seconds
            if request.HasField("expires_in_seconds")
            else None,
        }
        added = await self._lobby.players.add_token(caller, body(messages.NewToken, fields))
        return pb.CreateTokenResponse(token=token_message(added.token), secret=added.secret)

    async def ListTokens(self, request: pb.ListTokensRequest, context: Context) -> pb.ListTokensResponse:
        caller = await self._access.caller(context)
        listed = await self._lobby.players.tokens(caller)
        return pb.ListTokensResponse(tokens=[token_message(token) for token in listed.tokens])

    async def RevokeToken(self, request: pb.RevokeTokenRequest, context: Context) -> pb.RevokeTokenResponse:
        caller = await self._access.caller(context)
        await self._lobby.players.revoke_token(caller, request.token_id)
        return pb.RevokeTokenResponse()


def _scope(number: int, index: int) -> str:
    field = f"scopes[{index}]"
    scope = scopes.decode(number, field)
    if scope is None:
        raise PlatformError.malformed(field, "is not specified")
    return scope
