"""Quick match."""

from __future__ import annotations

from http import HTTPStatus

from litestar import Controller, Response, delete, get, post
from litestar.params import FromPath, JSONBody

from services.lobby.messages import matches as messages
from services.lobby.rest.access import TOKEN, CallerDependency, Key, LobbyDependency, answers
from services.lobby.rest.players import created


class MatchesApi(Controller):
    """Who wants to play the same is put at one table, which starts at once."""

    path = "/v1/matches"
    tags = ("matches",)

    @post(
        summary="Ask for a quick match",
        responses=answers(HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        security=TOKEN,
    )
    async def request_match(
        self,
        data: JSONBody[messages.NewTicket],
        caller: CallerDependency,
        lobby: LobbyDependency,
        key: Key = None,
    ) -> Response[messages.Ticket]:
        """A place in the queue; a place in another queue is given up. People and programs wait apart."""
        ticket = await lobby.request_match(caller, data, key)
        return created(ticket, f"/v1/matches/{ticket.ticket_id}")

    @get(
        "/{ticket_id:str}",
        summary="Look at a ticket",
        responses=answers(HTTPStatus.NOT_FOUND),
        security=TOKEN,
    )
    async def get_match(
        self, ticket_id: FromPath[str], caller: CallerDependency, lobby: LobbyDependency
    ) -> messages.Ticket:
        """Looking keeps it: a minute after the player was last heard of it expires."""
        return await lobby.get_match(caller, ticket_id)

    @delete(
        "/{ticket_id:str}",
        summary="Leave the queue",
        responses=answers(HTTPStatus.NOT_FOUND),
        security=TOKEN,
        status_code=200,
    )
    async def cancel_match(
        self, ticket_id: FromPath[str], caller: CallerDependency, lobby: LobbyDependency
    ) -> messages.Ticket:
        """Does nothing to a ticket that is matched already."""
        return await lobby.cancel_match(caller, ticket_id)
