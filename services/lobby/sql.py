"""The lobby's statements."""

from __future__ import annotations

from typing import Final, LiteralString

# Whoever opened the table tries at once, so others wait a while before they do.
OPEN_TABLE: Final[LiteralString] = """
with new_table as (
    insert into lobby.tables (table_id, preset, options, hands_to_play, idempotency_key, request_digest)
    values (%(table_id)s, %(preset)s, %(options)s, %(hands)s, %(key)s, %(digest)s)
    on conflict (idempotency_key) do nothing
    returning table_id, first_drawer, dues
), new_seats as (
    insert into lobby.seats (table_id, seat, bot)
    select table_id, place - 1, bot
    from new_table, unnest(%(bots)s::text[]) with ordinality as sitting (bot, place)
)
insert into lobby.hands (table_id, number, game_id, first_drawer, dues, due_at)
select table_id, 1, %(game_id)s, first_drawer, dues, clock_timestamp() + interval '5 seconds' from new_table
returning table_id"""

FIND_BY_KEY: Final[LiteralString] = (
    "select table_id, request_digest from lobby.tables where idempotency_key = %s"
)

READ_TABLE: Final[LiteralString] = """
select tables.*, (extract(epoch from created_at) * 1000)::bigint as created_at_ms
from lobby.tables where table_id = %s"""

READ_SEATS: Final[LiteralString] = "select seat, bot from lobby.seats where table_id = %s order by seat"

READ_HANDS: Final[LiteralString] = """
select number, game_id, status, first_drawer, dues, outcome,
       (extract(epoch from created_at) * 1000)::bigint as created_at_ms,
       (extract(epoch from ended_at) * 1000)::bigint as ended_at_ms
from lobby.hands where table_id = %s order by number"""

READ_PAGE: Final[LiteralString] = """
select table_id, status, preset, options, hands_to_play, hands_played,
       (extract(epoch from created_at) * 1000000)::bigint as created_at_us,
       (select game_id from lobby.hands where hands.table_id = tables.table_id order by number desc limit 1)
           as latest_game_id
from lobby.tables
where %(time_us)s::bigint is null
   or (created_at, table_id) < (timestamptz 'epoch' + %(time_us)s * interval '1 microsecond', %(table_id)s)
order by created_at desc, table_id desc
limit %(limit)s"""

READ_TABLE_OF_GAME: Final[LiteralString] = """
select tables.*, hands.status as hand_status
from lobby.hands join lobby.tables using (table_id) where game_id = %s"""

BEGIN_HAND: Final[LiteralString] = """
with begun as (
    update lobby.hands set status = 'playing' where game_id = %s and status = 'opening' returning table_id
)
update lobby.tables set status = 'playing' from begun
where tables.table_id = begun.table_id and status = 'starting'"""

END_HAND: Final[LiteralString] = """
update lobby.hands set status = 'ended', outcome = %(outcome)s, ended_at = clock_timestamp()
where game_id = %(game_id)s"""

UPDATE_TOTALS: Final[LiteralString] = """
update lobby.tables
set status = %(status)s, hands_played = %(hands)s, hands_counted = %(counted)s, scores = %(scores)s,
    penalties = %(penalties)s, first_drawer = %(first_drawer)s, dues = %(dues)s
where table_id = %(table_id)s"""

ADD_HAND: Final[LiteralString] = """
insert into lobby.hands (table_id, number, game_id, first_drawer, dues)
values (%(table_id)s, %(number)s, %(game_id)s, %(first_drawer)s, %(dues)s)"""

# A claim is a promise to try now; the next one may try after 1, 2, 4, ... 32 seconds, whatever became of it.
CLAIM_HANDS_TO_OPEN: Final[LiteralString] = """
with due as (
    select table_id, number from lobby.hands
    where status = 'opening' and due_at <= clock_timestamp()
    order by due_at limit %(limit)s
    for update skip locked
), claimed as (
    update lobby.hands
    set attempts = attempts + 1, due_at = clock_timestamp() + interval '1 second' * (1 << least(attempts, 5))
    from due where (hands.table_id, hands.number) = (due.table_id, due.number)
    returning hands.*
)
select claimed.table_id, number, game_id, claimed.first_drawer, claimed.dues, preset, options
from claimed join lobby.tables using (table_id)"""

FAIL_HAND: Final[LiteralString] = """
with failed as (
    update lobby.hands set status = 'failed'
    where table_id = %(table_id)s and number = %(number)s and status = 'opening'
    returning table_id
)
update lobby.tables set status = 'failed', failure = %(why)s
from failed where tables.table_id = failed.table_id"""

READ_SEATS_OF_GAME: Final[LiteralString] = """
select seat, bot from lobby.hands join lobby.seats using (table_id) where game_id = %s"""

# What is still awaited stays as it is, so that it is not sent twice because another seat has answered.
SET_TURNS: Final[LiteralString] = """
with gone as (
    delete from lobby.turns where game_id = %(game_id)s and seat <> all (%(seats)s::smallint[])
)
insert into lobby.turns (game_id, seat, version, answers, bot)
select %(game_id)s, seat, version, answers, bot
from unnest(%(seats)s::smallint[], %(versions)s::integer[], %(answers)s::integer[], %(bots)s::text[])
     as awaited (seat, version, answers, bot)
on conflict (game_id, seat) do update
set version = excluded.version, answers = excluded.answers, sends = 0, due_at = clock_timestamp()
where (turns.version, turns.answers) <> (excluded.version, excluded.answers)"""

# A claim is a promise to send now. Who dies before it sends costs the game that pause, as does a lost task;
# the pause doubles, so that a queue which nobody works on does not fill with copies.
CLAIM_TURNS: Final[LiteralString] = """
with due as (
    select game_id, seat from lobby.turns
    where due_at <= clock_timestamp()
    order by due_at limit %(limit)s
    for update skip locked
)
update lobby.turns
set sends = sends + 1,
    due_at = clock_timestamp() + interval '1 second' * least(%(resend_seconds)s * (1 << least(sends, 10)), 60)
from due where (turns.game_id, turns.seat) = (due.game_id, due.seat)
returning turns.game_id, turns.seat, version, bot, sends"""

# What could not be sent after all is due again soon.
RELEASE_TURNS: Final[LiteralString] = """
update lobby.turns
set sends = sends - 1, due_at = clock_timestamp() + interval '1 second'
from unnest(%(games)s::text[], %(seats)s::smallint[], %(versions)s::integer[])
     as unsent (game_id, seat, version)
where (turns.game_id, turns.seat, turns.version) = (unsent.game_id, unsent.seat, unsent.version)
  and sends > 0"""

COUNT_WAITING: Final[LiteralString] = """
select (select count(*) from lobby.turns),
       (select count(*) from lobby.turns where sends > 1),
       (select count(*) from lobby.hands where status = 'opening')"""
