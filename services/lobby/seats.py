"""What happens at a table between its hands: commands under the lock of its row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, LiteralString

from psycopg.rows import DictRow

from services.eventstore import Connection, Pool
from services.kit.errors import PlatformError
from services.kit.ids import is_id, new_id
from services.lobby import seating
from services.lobby.answers import once
from services.lobby.callers import Caller
from services.lobby.database import row_of, rows_of, transaction
from services.lobby.messages import tables as messages
from services.lobby.seating import SUBSTITUTE, Place, Seating
from services.lobby.tables import begin_if_ready, check_seats, read_table, table_not_found

LIVE: Final = ("gathering", "starting", "playing")


class Seats:
    """Seats are taken, left and made ready. Methods raise PlatformError, StoreUnavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def join(self, caller: Caller, request: messages.Join, key: str | None) -> messages.Table:
        """Sit down at a public table or, with its code, at a private one."""
        caller.require_player()
        if (request.table_id is None) is (request.code is None):
            raise PlatformError.malformed("table_id", "exactly one of table_id and code")

        async def join(connection: Connection) -> messages.Table:
            await check_seats(connection, caller)
            if request.code is not None:
                table_id = await _table_of_code(connection, request.code)
                before = await lock_seating(connection, table_id)
            else:
                before = await lock_seating(connection, request.table_id or "", caller, is_public=True)
            return await _change(connection, caller, before, seating.join(before, caller, request.seat))

        return await once(self._pool, caller.player_id, key, ("Join", request), messages.Table, join)

    async def leave(
        self, caller: Caller, table_id: str, request: messages.Leave, key: str | None
    ) -> messages.Table:
        """Leave a table; what that means in the middle of a hand is R8.5."""

        async def leave(connection: Connection) -> messages.Table:
            before = await lock_seating(connection, table_id, caller)
            seat = seating.seat_of(before, caller.player_id)
            if before.status == "gathering":
                await _vacate(connection, before, caller.player_id)
            else:
                seating.require_phase(before, "starting", "playing")
                kind = "forced_exit" if request.by_force else "exit"
                await depart(connection, before, seat, kind)
            return await read_table(connection, table_id, caller, is_leaving=True)

        return await once(
            self._pool, caller.player_id, key, ("Leave", table_id, request), messages.Table, leave
        )

    async def seat_bot(self, caller: Caller, table_id: str, seat: int, bot: str) -> messages.Table:
        """For the host: put a built-in bot in a seat."""
        return await self._decide(
            caller, table_id, lambda before: seating.seat_bot(before, caller, seat, bot)
        )

    async def unseat_bot(self, caller: Caller, table_id: str, seat: int) -> messages.Table:
        """For the host: free a built-in bot's seat."""
        return await self._decide(caller, table_id, lambda before: seating.unseat_bot(before, caller, seat))

    async def set_ready(self, caller: Caller, table_id: str, ready: bool) -> messages.Table:
        """Say whether one is ready for the next hand, which begins with the fifth."""
        return await self._decide(
            caller, table_id, lambda before: seating.set_ready(before, caller.player_id, ready)
        )

    async def start(self, caller: Caller, table_id: str, bot: str, key: str | None) -> messages.Table:
        """For the host: fill the free seats with built-in bots and begin."""

        async def start(connection: Connection) -> messages.Table:
            before = await lock_seating(connection, table_id, caller)
            return await _change(connection, caller, before, seating.start(before, caller, bot))

        return await once(self._pool, caller.player_id, key, ("Start", table_id, bot), messages.Table, start)

    async def dissolve(self, caller: Caller, table_id: str) -> messages.Table:
        """For the host of a gathering table, and for operators: no more hands are played.

        A hand that is being played is played to its end.
        """
        async with transaction(self._pool) as connection:
            before = await lock_seating(connection, table_id, caller)
            if not caller.is_operator:
                seating.require_host(before, caller)
                seating.require_phase(before, "gathering")
            if before.status in LIVE:
                by = "an operator" if caller.is_operator else "its host"
                await close_table(connection, table_id, f"given up by {by}")
            return await read_table(connection, table_id, caller)

    async def remove(self, caller: Caller, table_id: str, seat: int) -> messages.Table:
        """For operators: remove a player, in the middle of a hand with the penalty of R8.5."""
        caller.require("operator")
        async with transaction(self._pool) as connection:
            before = await lock_seating(connection, table_id, caller)
            player_id = before.places[seat].player_id
            if player_id is None:
                raise PlatformError("NOT_SEATED", f"no player sits in seat {seat}")
            if before.status == "gathering":
                await _vacate(connection, before, player_id)
            else:
                seating.require_phase(before, "starting", "playing")
                await depart(connection, before, seat, "removed")
            return await read_table(connection, table_id, caller)

    async def _decide(
        self, caller: Caller, table_id: str, decide: Callable[[Seating], Seating]
    ) -> messages.Table:
        async with transaction(self._pool) as connection:
            before = await lock_seating(connection, table_id, caller)
            return await _change(connection, caller, before, decide(before))


async def lock_seating(
    connection: Connection, table_id: str, caller: Caller | None = None, *, is_public: bool = False
) -> Seating:
    """The seats of a table, which nobody else changes until the transaction ends.

    With a caller: raises PlatformError (TABLE_NOT_FOUND) for a private table at which he has nothing to do;
    with `is_public` for every private one.
    """
    row = await row_of(connection, _LOCK_TABLE, [table_id]) if is_id(table_id) else None
    if row is None:
        raise table_not_found(table_id)
    places = tuple([Place(**seat) for seat in await rows_of(connection, _READ_PLACES, [table_id])])
    table = Seating(table_id, row["status"], row["host_id"], row["bots_allowed"], places)
    if caller is not None and row["is_private"]:
        is_insider = caller.is_operator or caller.player_id in (table.host_id, *table.players)
        if is_public or not is_insider:
            raise table_not_found(table_id)
    return table


async def write_seating(connection: Connection, before: Seating, after: Seating) -> None:
    """Write what has changed at a table that is locked."""
    changed = [seat for seat in range(5) if before.places[seat] != after.places[seat]]
    if changed:
        await connection.execute(
            _WRITE_PLACES,
            {
                "table_id": after.table_id,
                "seats": changed,
                "player_ids": [after.places[seat].player_id for seat in changed],
                "bots": [after.places[seat].bot for seat in changed],
                "ready": [after.places[seat].ready for seat in changed],
            },
        )
    if changed or before.host_id != after.host_id:
        await connection.execute(_TOUCH, [after.host_id, after.table_id])


async def close_table(connection: Connection, table_id: str, reason: str) -> None:
    """Dissolve a live table; a hand that has not begun never will."""
    await connection.execute(_CLOSE, {"table_id": table_id, "reason": reason})


async def depart(connection: Connection, before: Seating, seat: int, kind: str) -> None:
    """A player leaves a table that is locked, in or between its hands."""
    if before.places[seat].player_id is None:
        raise RuntimeError(f"nobody to depart sits in seat {seat} of {before.table_id}")
    hand = await row_of(connection, _CANCEL_UNCLAIMED, [before.table_id])
    if hand is not None:
        # Nothing is dealt yet: nobody loses anything.
        await close_table(connection, before.table_id, "a player left between two hands")
        await write_seating(connection, before, seating.free(before, before.places[seat].player_id or ""))
        return
    await connection.execute(
        _ADD_DEPARTURE,
        {"command_id": f"{kind}.{new_id()}", "table_id": before.table_id, "seat": seat, "kind": kind},
    )
    if kind != "exit":
        places = (*before.places[:seat], Place(bot=SUBSTITUTE), *before.places[seat + 1 :])
        after = Seating(before.table_id, before.status, before.host_id, before.bots_allowed, places)
        await write_seating(connection, before, after)


async def _vacate(connection: Connection, before: Seating, player_id: str) -> None:
    """Free a player's seat at a gathering table; without a host the table goes too."""
    after = seating.free(before, player_id)
    await write_seating(connection, before, after)
    if after.host_id is None:
        await close_table(connection, before.table_id, "everybody left")


async def _change(connection: Connection, caller: Caller, before: Seating, after: Seating) -> messages.Table:
    await write_seating(connection, before, after)
    await begin_if_ready(connection, after)
    if after.status == "playing" and after.is_ready:
        await connection.execute(_END_PAUSE, [after.table_id])
    return await read_table(connection, after.table_id, caller)


async def _table_of_code(connection: Connection, code: str) -> str:
    row: DictRow | None = None
    if "\0" not in code:
        row = await row_of(connection, _FIND_CODE, [code.strip().upper()])
    if row is None:
        raise PlatformError("TABLE_NOT_FOUND", "there is no table with this code").at("code")
    table_id: Any = row["table_id"]
    return str(table_id)


_LOCK_TABLE: Final[LiteralString] = """
select status, host_id, bots_allowed, is_private from lobby.tables where table_id = %s for update"""

_READ_PLACES: Final[LiteralString] = """
select player_id, bot, ready from lobby.seats where table_id = %s order by seat"""

_WRITE_PLACES: Final[LiteralString] = """
update lobby.seats set player_id = changed.player_id, bot = changed.bot, ready = changed.ready
from unnest(%(seats)s::smallint[], %(player_ids)s::text[], %(bots)s::text[], %(ready)s::boolean[])
    as changed (seat, player_id, bot, ready)
where seats.table_id = %(table_id)s and seats.seat = changed.seat"""

_TOUCH: Final[LiteralString] = """
update lobby.tables set host_id = %s, changed_at = clock_timestamp() where table_id = %s"""

_CLOSE: Final[LiteralString] = """
with cancelled as (
    update lobby.hands set status = 'cancelled'
    where table_id = %(table_id)s and status = 'opening' and attempts = 0
)
update lobby.tables set status = 'dissolved', reason = %(reason)s, changed_at = clock_timestamp()
where table_id = %(table_id)s and status in ('gathering', 'starting', 'playing')"""

_CANCEL_UNCLAIMED: Final[LiteralString] = """
update lobby.hands set status = 'cancelled'
where table_id = %s and status = 'opening' and attempts = 0
returning game_id"""

_ADD_DEPARTURE: Final[LiteralString] = """
insert into lobby.departures (command_id, game_id, seat, kind)
select %(command_id)s, game_id, %(seat)s, %(kind)s from lobby.hands
where table_id = %(table_id)s and status in ('opening', 'playing')
    and not exists (
        select from lobby.departures as earlier
        where earlier.game_id = hands.game_id and seat = %(seat)s and kind = %(kind)s and not done
    )"""

_END_PAUSE: Final[LiteralString] = """
update lobby.hands set due_at = clock_timestamp()
where table_id = %s and status = 'opening' and attempts = 0"""

_FIND_CODE: Final[LiteralString] = """
select table_id from lobby.tables where code = %s and status = 'gathering'"""
