"""`TableService`: tables and their seats."""

from __future__ import annotations

from typing import Any

from baohuang.rpc.lobby.v1 import tables_pb2 as pb
from baohuang.rpc.lobby.v1.tables_pb2_grpc import TableServiceServicer
from services.kit.errors import PlatformError
from services.lobby.grpc.access import Access, Context, body, key_of, seat_of
from services.lobby.grpc.convert import rules_fields, summary_message, table_message, table_statuses
from services.lobby.messages import tables as messages
from services.lobby.tables import Filters

_MOST_LISTED = 100
_MOST_PRESET = 40


class TablesEdge(TableServiceServicer):
    """Tables: five seats, and hands that are played one after another."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._lobby = access.lobby

    async def CreateTable(self, request: pb.CreateTableRequest, context: Context) -> pb.CreateTableResponse:
        caller = await self._access.caller(context)
        fields: dict[str, Any] = {
            "rules": rules_fields(request.rules),
            "hands": request.hands or 1,
            "sit": request.sit,
            "seat": request.seat if request.HasField("seat") else None,
            "is_private": request.is_private,
            "bots_allowed": request.bots_allowed,
            "pace": {field.name: value for field, value in request.pace.ListFields()},
            "spectator_delay": request.spectator_delay,
        }
        if request.bots:
            fields["bots"] = [bot or None for bot in request.bots]
        table = await self._lobby.create_table(
            caller, body(messages.NewTable, fields), key_of(request.command_id)
        )
        return pb.CreateTableResponse(table=table_message(table))

    async def ListTables(self, request: pb.ListTablesRequest, context: Context) -> pb.ListTablesResponse:
        await self._access.guest(context)
        status = table_statuses.decode(request.status, "status")
        if request.limit > _MOST_LISTED:
            raise PlatformError.malformed("limit", f"at most {_MOST_LISTED}")
        if len(request.preset) > _MOST_PRESET:
            raise PlatformError.malformed("preset", f"at most {_MOST_PRESET} characters")
        if "\0" in request.preset:
            raise PlatformError.malformed("preset", "holds a NUL")
        filters = Filters(status, request.preset if request.HasField("preset") else None, request.open)
        page = await self._lobby.tables.page(filters, request.limit or 20, request.after or None)
        return pb.ListTablesResponse(
            tables=[summary_message(table) for table in page.tables], next=page.next or ""
        )

    async def GetTable(self, request: pb.GetTableRequest, context: Context) -> pb.GetTableResponse:
        guest = await self._access.guest(context)
        table = await self._lobby.tables.get(request.table_id, guest)
        return pb.GetTableResponse(table=table_message(table))

    async def JoinTable(self, request: pb.JoinTableRequest, context: Context) -> pb.JoinTableResponse:
        caller = await self._access.caller(context)
        fields = {
            name: getattr(request, name) if request.HasField(name) else None
            for name in ("table_id", "code", "seat")
        }
        table = await self._lobby.join(caller, body(messages.Join, fields), key_of(request.command_id))
        return pb.JoinTableResponse(table=table_message(table))

    async def LeaveTable(self, request: pb.LeaveTableRequest, context: Context) -> pb.LeaveTableResponse:
        caller = await self._access.caller(context)
        leave = messages.Leave(by_force=request.by_force)
        table = await self._lobby.leave(caller, request.table_id, leave, key_of(request.command_id))
        return pb.LeaveTableResponse(table=table_message(table))

    async def SeatBot(self, request: pb.SeatBotRequest, context: Context) -> pb.SeatBotResponse:
        caller = await self._access.caller(context)
        bot = body(messages.SeatBot, {"bot": request.bot}).bot
        table = await self._lobby.seat_bot(caller, request.table_id, seat_of(request.seat), bot)
        return pb.SeatBotResponse(table=table_message(table))

    async def UnseatBot(self, request: pb.UnseatBotRequest, context: Context) -> pb.UnseatBotResponse:
        caller = await self._access.caller(context)
        table = await self._lobby.unseat_bot(caller, request.table_id, seat_of(request.seat))
        return pb.UnseatBotResponse(table=table_message(table))

    async def SetReady(self, request: pb.SetReadyRequest, context: Context) -> pb.SetReadyResponse:
        caller = await self._access.caller(context)
        table = await self._lobby.set_ready(caller, request.table_id, request.ready)
        return pb.SetReadyResponse(table=table_message(table))

    async def StartTable(self, request: pb.StartTableRequest, context: Context) -> pb.StartTableResponse:
        caller = await self._access.caller(context)
        bot = body(messages.Start, {"bot": request.bot} if request.bot else {}).bot
        table = await self._lobby.start_table(caller, request.table_id, bot, key_of(request.command_id))
        return pb.StartTableResponse(table=table_message(table))

    async def DissolveTable(
        self, request: pb.DissolveTableRequest, context: Context
    ) -> pb.DissolveTableResponse:
        caller = await self._access.caller(context)
        table = await self._lobby.dissolve_table(caller, request.table_id)
        return pb.DissolveTableResponse(table=table_message(table))

    async def RemovePlayer(
        self, request: pb.RemovePlayerRequest, context: Context
    ) -> pb.RemovePlayerResponse:
        caller = await self._access.caller(context)
        table = await self._lobby.remove_player(caller, request.table_id, seat_of(request.seat))
        return pb.RemovePlayerResponse(table=table_message(table))
