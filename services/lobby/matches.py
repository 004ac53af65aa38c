"""Quick match: who wants to play the same is put at one table."""

from __future__ import annotations

import secrets
from typing import Any, Final, LiteralString

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from baohuang import RuleSet
from services.eventstore import Connection, Pool
from services.kit.errors import PlatformError
from services.kit.ids import is_id, new_id
from services.lobby.answers import once
from services.lobby.callers import Caller
from services.lobby.database import lock, row_of, rows_of, transaction
from services.lobby.messages import matches as messages
from services.lobby.messages import tables as table_messages
from services.lobby.messages.common import Rules
from services.lobby.seating import SUBSTITUTE, Place, Seating
from services.lobby.tables import AWAY_SECONDS, begin_if_ready, check_seats, insert_table, rule_set


class Matches:
    """The queues. Methods raise PlatformError, StoreUnavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def request(self, caller: Caller, request: messages.NewTicket, key: str | None) -> messages.Ticket:
        """Join the queue of a rule set; a place in another queue is given up."""
        caller.require_player()
        rules = rule_set(request.rules)

        async def request_match(connection: Connection) -> messages.Ticket:
            await check_seats(connection, caller)
            queue = _queue(rules.name, rules.options(), request.hands, caller.is_bot)
            await _lock_queue(connection, queue)
            await connection.execute(_LEAVE_OTHERS, queue | {"player_id": caller.player_id})
            row = await row_of(
                connection,
                _JOIN,
                queue
                | {
                    "ticket_id": new_id(),
                    "player_id": caller.player_id,
                    "bots_after_seconds": request.bots_after_seconds,
                },
            )
            if row is None:
                raise RuntimeError("a ticket was neither made nor found")
            await _match(connection, queue)
            return await _read(connection, caller, row["ticket_id"])

        return await once(
            self._pool, caller.player_id, key, ("RequestMatch", request), messages.Ticket, request_match
        )

    async def look(self, caller: Caller, ticket_id: str) -> messages.Ticket:
        """A ticket of the caller's, which keeps his place by looking at it."""
        async with transaction(self._pool) as connection:
            ticket = await _read(connection, caller, ticket_id)
            if ticket.status == "waiting":
                await connection.execute(_TOUCH, [ticket_id])
            return ticket

    async def cancel(self, caller: Caller, ticket_id: str) -> messages.Ticket:
        """Give a place up; does nothing to a ticket that does not wait any more."""
        async with transaction(self._pool) as connection:
            await _read(connection, caller, ticket_id)
            await connection.execute(_CANCEL, [ticket_id])
            return await _read(connection, caller, ticket_id)

    async def fill_due(self) -> int:
        """Match the queues in which somebody wants bots by now; gives how many there were."""
        async with transaction(self._pool) as connection:
            queues = await rows_of(connection, _DUE_QUEUES, {"away_seconds": AWAY_SECONDS})
        for row in queues:
            async with transaction(self._pool) as connection:
                queue = _queue(row["preset"], row["options"], row["hands"], row["is_bot"])
                await _lock_queue(connection, queue)
                await _match(connection, queue)
        return len(queues)


def _queue(preset: str, options: dict[str, Any], hands: int, is_bot: bool) -> dict[str, Any]:
    """What all of a queue want, as parameters. People and programs wait apart."""
    return {"preset": preset, "options": Jsonb(options), "hands": hands, "is_bot": is_bot}


async def _lock_queue(connection: Connection, queue: dict[str, Any]) -> None:
    options = sorted(queue["options"].obj.items())
    await lock(connection, "queue", repr((queue["preset"], options, queue["hands"], queue["is_bot"])))


async def _match(connection: Connection, queue: dict[str, Any]) -> None:
    """Put those who wait longest in a locked queue at a table, if there are five or bots may help out."""
    waiting = await rows_of(connection, _FIRST_FIVE, queue | {"away_seconds": AWAY_SECONDS})
    if not waiting or not (len(waiting) == 5 or any(row["wants_bots"] for row in waiting)):
        return
    places = [Place(player_id=row["player_id"], ready=True) for row in waiting]
    places += [Place(bot=SUBSTITUTE)] * (5 - len(places))
    secrets.SystemRandom().shuffle(places)
    options = queue["options"].obj
    table = Seating(new_id(), "gathering", waiting[0]["player_id"], queue["is_bot"], tuple(places))
    request = table_messages.NewTable(
        rules=Rules(queue["preset"], options), hands=queue["hands"], bots_allowed=queue["is_bot"]
    )
    await insert_table(connection, table, RuleSet.preset(queue["preset"], **options), request)
    await begin_if_ready(connection, table)
    await connection.execute(_SET_MATCHED, [table.table_id, [row["ticket_id"] for row in waiting]])


async def _read(connection: Connection, caller: Caller, ticket_id: str) -> messages.Ticket:
    row: DictRow | None = None
    if is_id(ticket_id):
        row = await row_of(
            connection,
            _READ,
            {"ticket_id": ticket_id, "player_id": caller.player_id, "is_bot": caller.is_bot},
        )
    if row is None:
        raise PlatformError("TICKET_NOT_FOUND", f"you have no ticket {ticket_id[:64]!r}")
    return messages.Ticket(
        ticket_id=row["ticket_id"],
        status=row["status"],
        rules=Rules(row["preset"], row["options"]),
        hands=row["hands"],
        created_at_ms=row["created_at_ms"],
        waiting=row["waiting"],
        table_id=row["table_id"],
    )


_IS_THERE: Final[LiteralString] = """\
greatest(tickets.seen_at, players.seen_at) > clock_timestamp() - %(away_seconds)s * interval '1 second'"""

_SAME_QUEUE: Final[LiteralString] = """\
preset = %(preset)s and options = %(options)s and hands = %(hands)s and status = 'waiting'"""

_LEAVE_OTHERS: Final[LiteralString] = """
update lobby.tickets set status = 'cancelled'
where player_id = %(player_id)s and status = 'waiting'
    and (preset, options, hands) <> (%(preset)s, %(options)s, %(hands)s)"""

_JOIN: Final[LiteralString] = """
insert into lobby.tickets (ticket_id, player_id, preset, options, hands, bots_after_at)
values (
    %(ticket_id)s, %(player_id)s, %(preset)s, %(options)s, %(hands)s,
    clock_timestamp() + %(bots_after_seconds)s * interval '1 second'
)
on conflict (player_id) where status = 'waiting' do update
set seen_at = clock_timestamp(), bots_after_at = excluded.bots_after_at
returning ticket_id"""

_FIRST_FIVE: Final[LiteralString] = f"""
select ticket_id, tickets.player_id, coalesce(bots_after_at <= clock_timestamp(), false) as wants_bots
from lobby.tickets join lobby.players using (player_id)
where {_SAME_QUEUE} and is_bot = %(is_bot)s
    and {_IS_THERE}
order by tickets.created_at, ticket_id
limit 5
for update of tickets"""

_SET_MATCHED: Final[LiteralString] = """
update lobby.tickets set status = 'matched', table_id = %s where ticket_id = any(%s)"""

_DUE_QUEUES: Final[LiteralString] = f"""
select distinct preset, options, hands, is_bot from lobby.tickets join lobby.players using (player_id)
where status = 'waiting' and bots_after_at <= clock_timestamp()
    and {_IS_THERE}"""

_READ: Final[LiteralString] = """
select ticket_id, status, preset, options, hands, table_id,
    (extract(epoch from created_at) * 1000)::bigint as created_at_ms,
    (
        select count(*) from lobby.tickets as others join lobby.players using (player_id)
        where (others.preset, others.options, others.hands) = (tickets.preset, tickets.options, tickets.hands)
            and others.status = 'waiting' and is_bot = %(is_bot)s
    ) as waiting
from lobby.tickets where ticket_id = %(ticket_id)s and player_id = %(player_id)s"""

_TOUCH: Final[LiteralString] = "update lobby.tickets set seen_at = clock_timestamp() where ticket_id = %s"

_CANCEL: Final[LiteralString] = """
update lobby.tickets set status = 'cancelled' where ticket_id = %s and status = 'waiting'"""
