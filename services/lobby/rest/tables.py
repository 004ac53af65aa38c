"""Tables, seats, and what a table can be opened with."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from litestar import Controller, Response, delete, get, post, put
from litestar.params import FromPath, JSONBody, PathParameter, QueryParameter

from services.kit.paging import PLACE
from services.lobby.catalogue import rules_catalogue
from services.lobby.messages import tables as messages
from services.lobby.rest.access import (
    NO_TOKEN,
    TOKEN,
    CallerDependency,
    GuestDependency,
    Key,
    LobbyDependency,
    answers,
)
from services.lobby.rest.players import created
from services.lobby.tables import Filters

SeatNumber = Annotated[int, PathParameter(ge=0, le=4)]
_CHANGES = answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
_CHANGES_WITHOUT_BODY = answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


class TablesApi(Controller):
    """Tables: five seats, and hands that are played one after another."""

    path = "/v1"
    tags = ("tables",)

    @get("/rules", summary="What a table can be opened with", security=[{}])
    async def get_rules(self) -> messages.RulesCatalogue:
        """The presets with the values of all options, the options with their choices, the built-in bots."""
        return rules_catalogue()

    @post("/tables", summary="Open a table", responses=_CHANGES, security=TOKEN)
    async def create_table(
        self,
        data: JSONBody[messages.NewTable],
        caller: CallerDependency,
        lobby: LobbyDependency,
        key: Key = None,
    ) -> Response[messages.Table]:
        """A table with the caller as host. With five built-in bots its first hand begins at once."""
        table = await lobby.create_table(caller, data, key)
        return created(table, f"/v1/tables/{table.table_id}")

    @get(
        "/tables",
        summary="List public tables, the newest first",
        responses=answers(guest=True),
        security=NO_TOKEN,
    )
    async def list_tables(
        self,
        guest: GuestDependency,
        lobby: LobbyDependency,
        status: Annotated[messages.TableStatus | None, QueryParameter(description="Only these.")] = None,
        preset: Annotated[
            str | None, QueryParameter(max_length=40, description="Only of this preset.")
        ] = None,
        is_open: Annotated[
            bool, QueryParameter(name="open", description="Only those that can be joined.")
        ] = False,
        limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")] = 20,
        after: Annotated[
            str | None,
            QueryParameter(pattern=PLACE, max_length=80, description="`next` of the page before."),
        ] = None,
    ) -> messages.TablePage:
        """A page of tables."""
        return await lobby.tables.page(Filters(status, preset, is_open), limit, after)

    @get(
        "/tables/{table_id:str}",
        summary="Show a table",
        responses=answers(HTTPStatus.NOT_FOUND, guest=True),
        security=NO_TOKEN,
    )
    async def get_table(
        self, table_id: FromPath[str], guest: GuestDependency, lobby: LobbyDependency
    ) -> messages.Table:
        """Its seats, its hands with their games and outcomes, its totals, and how its next hand starts."""
        return await lobby.tables.get(table_id, guest)

    @post("/join", summary="Sit down at a table", responses=_CHANGES, security=TOKEN, status_code=200)
    async def join(
        self,
        data: JSONBody[messages.Join],
        caller: CallerDependency,
        lobby: LobbyDependency,
        key: Key = None,
    ) -> messages.Table:
        """At a public table by its id, at a private one by its code."""
        return await lobby.join(caller, data, key)

    @post(
        "/tables/{table_id:str}/leave",
        summary="Leave a table",
        responses=_CHANGES,
        security=TOKEN,
        status_code=200,
    )
    async def leave(
        self,
        table_id: FromPath[str],
        data: JSONBody[messages.Leave],
        caller: CallerDependency,
        lobby: LobbyDependency,
        key: Key = None,
    ) -> messages.Table:
        """Before a hand the seat is free again; in the middle of one R8.5 says what leaving costs."""
        return await lobby.leave(caller, table_id, data, key)

    @put(
        "/tables/{table_id:str}/ready",
        summary="Say whether you are ready",
        responses=_CHANGES,
        security=TOKEN,
    )
    async def set_ready(
        self,
        table_id: FromPath[str],
        data: JSONBody[messages.Ready],
        caller: CallerDependency,
        lobby: LobbyDependency,
    ) -> messages.Table:
        """A hand begins when five are ready; built-in bots always are."""
        return await lobby.set_ready(caller, table_id, data.ready)

    @post(
        "/tables/{table_id:str}/start",
        summary="Begin with bots in the free seats",
        responses=_CHANGES,
        security=TOKEN,
        status_code=200,
    )
    async def start(
        self,
        table_id: FromPath[str],
        data: JSONBody[messages.Start],
        caller: CallerDependency,
        lobby: LobbyDependency,
        key: Key = None,
    ) -> messages.Table:
        """For the host, whose asking makes him ready; everybody else at the table must be."""
        return await lobby.start_table(caller, table_id, data.bot, key)

    @put(
        "/tables/{table_id:str}/seats/{seat:int}/bot",
        summary="Put a built-in bot in a seat",
        responses=_CHANGES,
        security=TOKEN,
    )
    async def seat_bot(
        self,
        table_id: FromPath[str],
        seat: SeatNumber,
        data: JSONBody[messages.SeatBot],
        caller: CallerDependency,
        lobby: LobbyDependency,
    ) -> messages.Table:
        """For the host, while the table gathers."""
        return await lobby.seat_bot(caller, table_id, seat, data.bot)

    @delete(
        "/tables/{table_id:str}/seats/{seat:int}/bot",
        summary="Free a bot's seat",
        responses=_CHANGES_WITHOUT_BODY,
        security=TOKEN,
        status_code=200,
    )
    async def unseat_bot(
        self,
        table_id: FromPath[str],
        seat: SeatNumber,
        caller: CallerDependency,
        lobby: LobbyDependency,
    ) -> messages.Table:
        """For the host, while the table gathers."""
        return await lobby.unseat_bot(caller, table_id, seat)

    @delete(
        "/tables/{table_id:str}",
        summary="Dissolve a table",
        responses=_CHANGES_WITHOUT_BODY,
        security=TOKEN,
        status_code=200,
    )
    async def dissolve(
        self, table_id: FromPath[str], caller: CallerDependency, lobby: LobbyDependency
    ) -> messages.Table:
        """For the host while it gathers, for operators always. A hand that is played is played to its end."""
        return await lobby.dissolve_table(caller, table_id)

    @delete(
        "/tables/{table_id:str}/seats/{seat:int}/player",
        summary="Remove a player",
        responses=_CHANGES_WITHOUT_BODY,
        security=TOKEN,
        status_code=200,
    )
    async def remove_player(
        self,
        table_id: FromPath[str],
        seat: SeatNumber,
        caller: CallerDependency,
        lobby: LobbyDependency,
    ) -> messages.Table:
        """For operators. In the middle of a hand the player has the penalty of R8.5, and a bot plays on."""
        return await lobby.remove_player(caller, table_id, seat)
