"""Players and tokens."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from litestar import Controller, Request, Response, delete, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from services.lobby.messages import players as messages
from services.lobby.rest.access import (
    NO_TOKEN,
    TOKEN,
    CallerDependency,
    GuestDependency,
    LobbyDependency,
    address_of,
    answers,
)


class PlayersApi(Controller):
    """Who plays."""

    path = "/v1"
    tags = ("players",)

    @post(
        "/players",
        summary="Register a player",
        responses=answers(HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, guest=True),
        security=[{}],
    )
    async def register(
        self,
        data: JSONBody[messages.NewPlayer],
        request: Request[Any, Any, Any],
        state: State,
        lobby: LobbyDependency,
    ) -> Response[messages.Registered]:
        """A new player with a first token. Its `secret` is told this once."""
        await lobby.limits.take("registrations", address_of(request, state.proxies))
        registered = await lobby.players.register(data)
        return created(registered, f"/v1/players/{registered.player.player_id}")

    @get("/me", summary="Show the caller", responses=answers(), security=TOKEN)
    async def get_me(self, caller: CallerDependency, lobby: LobbyDependency) -> messages.Player:
        """The player whose token this is."""
        return await lobby.players.get(caller.player_id)

    @get(
        "/players/{player_id:str}",
        summary="Show a player",
        responses=answers(HTTPStatus.NOT_FOUND, guest=True),
        security=NO_TOKEN,
    )
    async def get_player(
        self, player_id: FromPath[str], guest: GuestDependency, lobby: LobbyDependency
    ) -> messages.Player:
        """Somebody's name."""
        return await lobby.players.get(player_id)

    @get("/tokens", summary="List the caller's tokens", responses=answers(), security=TOKEN)
    async def list_tokens(self, caller: CallerDependency, lobby: LobbyDependency) -> messages.TokenList:
        """Those that can still be used, without their secrets."""
        return await lobby.players.tokens(caller)

    @post(
        "/tokens",
        summary="Make another token",
        responses=answers(HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        security=TOKEN,
    )
    async def add_token(
        self, data: JSONBody[messages.NewToken], caller: CallerDependency, lobby: LobbyDependency
    ) -> Response[messages.TokenWithSecret]:
        """Its `secret` is told this once, so a request that is sent again makes another token."""
        added = await lobby.players.add_token(caller, data)
        return created(added, "/v1/tokens")

    @delete(
        "/tokens/{token_id:str}",
        summary="Revoke a token",
        responses=answers(HTTPStatus.NOT_FOUND),
        security=TOKEN,
    )
    async def revoke_token(
        self, token_id: FromPath[str], caller: CallerDependency, lobby: LobbyDependency
    ) -> None:
        """Within five seconds it opens nothing any more, and its streams end."""
        await lobby.players.revoke_token(caller, token_id)


def created(body: Any, location: str) -> Response[Any]:
    """The answer to a request that has made something."""
    return Response(body, status_code=HTTPStatus.CREATED, headers={"Location": location})
