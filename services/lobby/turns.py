"""Awaited decisions in the database: work until the log says that they were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, LiteralString, NamedTuple

from services.eventstore import Connection, Pool
from services.lobby.broker import Turn
from services.lobby.clocks import Awaited, TurnKind
from services.lobby.database import connected

RESEND_SECONDS: Final = 4


class ClockTurn(NamedTuple):
    """A decision whose player's time is over, or that the server makes for him, for the `tries`th time."""

    game_id: str
    seat: int
    version: int
    answers: int
    starts: int
    kind: TurnKind
    tries: int


class Turns:
    """The awaited decisions. Methods raise StoreUnavailable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def claim_of_bots(self, limit: int) -> list[Turn]:
        """Decisions of built-in bots that are to be sent now, by this caller."""
        async with connected(self._pool) as connection:
            parameters = {"limit": limit, "pause_seconds": RESEND_SECONDS}
            rows = await (await connection.execute(_CLAIM_OF_BOTS, parameters)).fetchall()
        return [Turn._make(row) for row in rows]

    async def release(self, turns: Sequence[Turn | ClockTurn]) -> None:
        """Give back what could not be sent or done: it does not count as tried."""
        async with connected(self._pool) as connection:
            await connection.execute(
                _RELEASE,
                {
                    "games": [turn.game_id for turn in turns],
                    "seats": [turn.seat for turn in turns],
                    "versions": [turn.version for turn in turns],
                },
            )

    async def claim_of_clocks(self, limit: int) -> list[ClockTurn]:
        """Decisions whose time is over, and those that the server makes, for this caller to see to now."""
        async with connected(self._pool) as connection:
            rows = await (await connection.execute(_CLAIM_OF_CLOCKS, {"limit": limit})).fetchall()
        return [ClockTurn._make(row) for row in rows]

    async def seconds_to_next_clock(self) -> float | None:
        """How long until the next one is due; None if there is none."""
        async with connected(self._pool) as connection:
            row = await (await connection.execute(_NEXT_CLOCK)).fetchone()
        return None if row is None or row[0] is None else max(0.0, float(row[0]))


async def set_turns(connection: Connection, game_id: str, awaited: Sequence[Awaited]) -> None:
    """Note what is awaited in a game now. What was awaited before stays as it is."""
    await connection.execute(
        _SET,
        {
            "game_id": game_id,
            "seats": [each.seat for each in awaited],
            "versions": [each.decision.version for each in awaited],
            "answers": [each.decision.answers for each in awaited],
            "starts": [each.decision.starts for each in awaited],
            "kinds": [each.kind for each in awaited],
            "bots": [each.bot for each in awaited],
            "deadlines_ms": [each.deadline_ms for each in awaited],
        },
    )


# Where the platform was away meanwhile, a player has some time left anyway. What is still awaited stays as it
# is, so that nothing is sent or prolonged because another seat answered.
_SET: Final[LiteralString] = """
with gone as (
    delete from lobby.turns where game_id = %(game_id)s and seat <> all (%(seats)s::smallint[])
), awaited as (
    select seat, version, answers, starts, kind, bot,
        timestamptz 'epoch' + deadline_ms * interval '1 millisecond' as deadline_at
    from unnest(
        %(seats)s::smallint[], %(versions)s::integer[], %(answers)s::integer[], %(starts)s::smallint[],
        %(kinds)s::text[], %(bots)s::text[], %(deadlines_ms)s::bigint[]
    ) as listed (seat, version, answers, starts, kind, bot, deadline_ms)
)
insert into lobby.turns as turns (game_id, seat, version, answers, starts, kind, bot, deadline_at, due_at)
select %(game_id)s, seat, version, answers, starts, kind, bot, deadline_at,
    case
        when deadline_at is null then clock_timestamp()
        else greatest(deadline_at, clock_timestamp() + interval '2 seconds')
    end
from awaited
on conflict (game_id, seat) do update
set version = excluded.version, answers = excluded.answers, starts = excluded.starts, kind = excluded.kind,
    bot = excluded.bot, deadline_at = excluded.deadline_at, due_at = excluded.due_at, sends = 0
where (turns.version, turns.answers, turns.starts, turns.kind)
    <> (excluded.version, excluded.answers, excluded.starts, excluded.kind)"""

# A claim is a promise to send now. Who dies before it sends costs the game that pause, as does a lost task;
# the pause doubles, so that a queue which nobody works on does not fill with copies.
_CLAIM_OF_BOTS: Final[LiteralString] = """
with due as (
    select game_id, seat from lobby.turns
    where kind = 'bot' and due_at <= clock_timestamp()
    order by due_at limit %(limit)s
    for update skip locked
)
update lobby.turns
set sends = sends + 1,
    due_at = clock_timestamp() + interval '1 second' * least(%(pause_seconds)s * (1 << least(sends, 10)), 60)
from due where (turns.game_id, turns.seat) = (due.game_id, due.seat)
returning turns.game_id, turns.seat, version, bot, sends"""

# What could not be sent after all is due again soon.
_RELEASE: Final[LiteralString] = """
update lobby.turns
set sends = sends - 1, due_at = clock_timestamp() + interval '1 second'
from unnest(%(games)s::text[], %(seats)s::smallint[], %(versions)s::integer[])
     as unsent (game_id, seat, version)
where (turns.game_id, turns.seat, turns.version) = (unsent.game_id, unsent.seat, unsent.version)
  and sends > 0"""

_CLAIM_OF_CLOCKS: Final[LiteralString] = """
with due as (
    select game_id, seat from lobby.turns
    where kind <> 'bot' and due_at <= clock_timestamp()
    order by due_at limit %(limit)s
    for update skip locked
)
update lobby.turns
set sends = sends + 1, due_at = clock_timestamp() + interval '1 second' * (1 << least(sends, 5))
from due where (turns.game_id, turns.seat) = (due.game_id, due.seat)
returning turns.game_id, turns.seat, version, answers, starts, kind, sends"""

_NEXT_CLOCK: Final[LiteralString] = """
select extract(epoch from min(due_at) - clock_timestamp()) from lobby.turns where kind <> 'bot'"""
