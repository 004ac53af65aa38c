"""The statements of the store, each in one place.

Parameters are named; the functions they call are in migrations/. xid8 has no binary form in psycopg and no
cast from bigint, so it travels as text in and as bigint out: a cluster would need 2^63 transactions to leave
bigint.
"""

from typing import LiteralString

# What a reader may see: the pair (tx, position) after the cursor, and only transactions before which none
# is still open (docs/event-store.md, traps 1 and 2).
_HORIZON: LiteralString = "log.tx < pg_snapshot_xmin(pg_current_snapshot())"

# Columns are named with their table: a bare `order by tx` would mean the bigint of the answer, which no
# index sorts.
_COMMIT_COLUMNS: LiteralString = """\
log.tx::text::bigint, log.position, (extract(epoch from log.recorded_at) * 1000)::bigint, log.first_version,
    log.version, log.schema_version, log.bucket, log.stream, log.command_id, log.payload"""

APPEND: LiteralString = """
select status, tx::text::bigint, position, first_version, version, schema_version, payload
from eventstore.append(
    %(stream)s, %(command_id)s, %(fingerprint)s, %(expected_version)s::integer, %(event_count)s::integer,
    %(schema_version)s::smallint, %(payload)s
)"""

# Lists travel in binary (%b): as text, which is psycopg's choice, they cost twice as much on both sides.
APPEND_BATCH: LiteralString = """
select status, tx::text::bigint, position, version
from eventstore.append_batch(
    %(streams)b::text[], %(command_ids)b::text[], %(fingerprints)b::bytea[], %(expected_versions)b::integer[],
    %(event_counts)b::integer[], %(schema_versions)b::smallint[], %(payloads)b::bytea[]
) order by item"""

READ_ALL: LiteralString = f"""
select {_COMMIT_COLUMNS}
from eventstore.log
where (log.tx, log.position) > (%(tx)s::text::xid8, %(position)s) and {_HORIZON}
order by log.tx, log.position
limit %(limit)s"""

READ_BUCKETS: LiteralString = f"""
select {_COMMIT_COLUMNS}
from eventstore.log
where bucket = any (%(buckets)s::smallint[])
    and (log.tx, log.position) > (%(tx)s::text::xid8, %(position)s) and {_HORIZON}
order by log.tx, log.position
limit %(limit)s"""

READ_STREAM: LiteralString = f"""
select {_COMMIT_COLUMNS}
from eventstore.log
where stream = %(stream)s and version > %(after_version)s
order by log.version"""

READ_STREAMS: LiteralString = f"""
select {_COMMIT_COLUMNS}
from unnest(%(streams)s::text[], %(after_versions)s::integer[]) as wanted (stream, after_version)
cross join lateral (
    select * from eventstore.log where stream = wanted.stream and version > wanted.after_version
) log
order by log.stream, log.version"""

STREAM_VERSION: LiteralString = """
select coalesce(max(version), 0) from eventstore.log where stream = %(stream)s"""

# The generation of the log is the number of its cures (see RENUMBER below). Every position of a generation,
# and so every cursor that it gives out, carries it in the bits from 48 on.
_GENERATION: LiteralString = "(select last_value >> 48 from eventstore.commits_position_seq)"

HORIZON: LiteralString = f"""
select pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1, (({_GENERATION} + 1) << 48) - 1"""

IS_OF_ANOTHER_LOG: LiteralString = f"""
select %(tx)s::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot())
    or (%(tx)s::text <> '0' and %(position)s::bigint >> 48 <> {_GENERATION})"""

# --- subscriptions
# --------------------------------------------------------------------------------------------------

_AFTER_CHECKPOINT: LiteralString = "log.bucket = c.bucket and (log.tx, log.position) > (c.tx, c.position)"

ENSURE_CHECKPOINTS: LiteralString = """
insert into eventstore.checkpoints (subscription, bucket, tx, position)
select %(subscription)s, bucket, %(tx)s::text::xid8, %(position)s from generate_series(0, 63) as b (bucket)
on conflict (subscription, bucket) do nothing"""

# The locks are tried on rows of a finished list: in one list with the conditions, the planner might lock
# first.
LOCK_PENDING: LiteralString = f"""
with pending as materialized (
    select c.bucket, due.is_due is not null as has_due
    from eventstore.checkpoints c
    left join lateral (
        select true as is_waiting from eventstore.log where {_AFTER_CHECKPOINT} and {_HORIZON}
        order by log.tx, log.position limit 1
    ) next on true
    left join lateral (
        select p.is_due from eventstore.parked_commits p
        where p.subscription = c.subscription and p.bucket = c.bucket and p.is_due limit 1
    ) due on true
    where c.subscription = %(subscription)s and (next.is_waiting or due.is_due)
    order by random()
    limit %(limit)s
)
select bucket, has_due from pending
where pg_try_advisory_lock(eventstore.lock_class_of(%(subscription)s), bucket)"""

LOCK_ALL_BUCKETS: LiteralString = """
select pg_advisory_lock(eventstore.lock_class_of(%(subscription)s), bucket)
from generate_series(0, 63) as b (bucket)"""

UNLOCK_BUCKETS: LiteralString = """
select pg_advisory_unlock(eventstore.lock_class_of(%(subscription)s), bucket)
from unnest(%(buckets)s::integer[]) as b (bucket)"""

READ_PENDING: LiteralString = f"""
select log.checkpoint_tx::text::bigint, log.checkpoint_position,
    exists (
        select from eventstore.parked_commits p
        where p.subscription = %(subscription)s and p.stream = log.stream
    ),
    {_COMMIT_COLUMNS}
from (
    select c.tx as checkpoint_tx, c.position as checkpoint_position, found.*
    from eventstore.checkpoints c
    cross join lateral (
        select * from eventstore.log where {_AFTER_CHECKPOINT} and {_HORIZON}
        order by log.tx, log.position limit %(bucket_limit)s
    ) found
    where c.subscription = %(subscription)s and c.bucket = any (%(buckets)s::smallint[])
) log
order by log.tx, log.position
limit %(limit)s"""

MOVE_CHECKPOINTS: LiteralString = """
update eventstore.checkpoints c
set tx = new.tx::xid8, position = new.position, updated_at = clock_timestamp()
from unnest(
    %(buckets)s::smallint[], %(old_txs)s::text[], %(old_positions)s::bigint[], %(txs)s::text[],
    %(positions)s::bigint[]
) as new (bucket, old_tx, old_position, tx, position)
where c.subscription = %(subscription)s and c.bucket = new.bucket
    and c.tx = new.old_tx::xid8 and c.position = new.old_position"""

PARK: LiteralString = """
insert into eventstore.parked_commits
    (subscription, bucket, tx, position, stream, version, error, attempts)
values (
    %(subscription)s, %(bucket)s, %(tx)s::text::xid8, %(position)s, %(stream)s, %(version)s, %(error)s,
    %(attempts)s
)"""

READ_DUE: LiteralString = f"""
select {_COMMIT_COLUMNS}
from eventstore.parked_commits p
join eventstore.log on log.tx = p.tx and log.position = p.position
where p.subscription = %(subscription)s and p.bucket = any (%(buckets)s::smallint[])
    and p.stream in (
        select d.stream from eventstore.parked_commits d
        where d.subscription = %(subscription)s and d.is_due
    )
order by log.tx, log.position
limit %(limit)s"""

UNPARK: LiteralString = """
delete from eventstore.parked_commits
where subscription = %(subscription)s and tx = %(tx)s::text::xid8 and position = %(position)s"""

PARK_AGAIN: LiteralString = """
update eventstore.parked_commits
set error = case when tx = %(tx)s::text::xid8 and position = %(position)s then %(error)s else error end,
    attempts = attempts + (tx = %(tx)s::text::xid8 and position = %(position)s)::integer,
    is_due = false
where subscription = %(subscription)s and stream = %(stream)s"""

READ_PARKED: LiteralString = """
select subscription, stream, version, tx::text::bigint, position, error, attempts,
    (extract(epoch from parked_at) * 1000)::bigint, is_due
from eventstore.parked_commits
where %(subscription)s::text is null or subscription = %(subscription)s
order by subscription, parked_commits.tx, parked_commits.position
limit %(limit)s"""

RETRY_PARKED: LiteralString = """
update eventstore.parked_commits set is_due = true
where subscription = %(subscription)s and (%(stream)s::text is null or stream = %(stream)s)"""

SUBSCRIPTION_LAG: LiteralString = f"""
select c.subscription, sum(waiting.commits)::bigint,
    greatest(extract(epoch from clock_timestamp() - min(waiting.oldest)), 0)::float8,
    (select count(*) from eventstore.parked_commits p where p.subscription = c.subscription)
from eventstore.checkpoints c
cross join lateral (
    select count(*) as commits, min(recorded_at) as oldest
    from (
        select log.recorded_at from eventstore.log where {_AFTER_CHECKPOINT}
        order by log.tx, log.position limit 1000
    ) next
) waiting
group by c.subscription
order by c.subscription"""

HORIZON_LAG: LiteralString = """
select count(*), greatest(extract(epoch from clock_timestamp() - min(hidden.recorded_at)), 0)::float8
from (
    select log.recorded_at from eventstore.log
    where log.tx >= pg_snapshot_xmin(pg_current_snapshot())
    order by log.tx, log.position limit 10000
) hidden"""

# --- archive
# -------------------------------------------------------------------------------------------------

# Looks at some commits behind a place: the streams among theirs that have been quiet for long, whether all of
# these commits are younger than that (those of the future aside, which tell of a wrong clock and of nothing
# else), and where they end. No row: there are none.
FIND_QUIET_STREAMS: LiteralString = """
with looked_at as materialized (
    select c.stream, c.tx, c.position, c.recorded_at from eventstore.commits c
    where (c.tx, c.position) > (%(tx)s::text::xid8, %(position)s)
    order by c.tx, c.position limit %(limit)s
), bound as (
    select clock_timestamp() - make_interval(secs => %(quiet_seconds)s::float8) as quiet_since
)
select
    array(
        select distinct l.stream from looked_at l where l.recorded_at < bound.quiet_since and not exists (
            select from eventstore.commits c where c.stream = l.stream and c.recorded_at >= bound.quiet_since
        )
    ),
    (select min(l.recorded_at) from looked_at l where l.recorded_at <= clock_timestamp())
        >= bound.quiet_since,
    last.tx::text::bigint, last.position
from bound cross join (
    select l.tx, l.position from looked_at l order by l.tx desc, l.position desc limit 1
) last"""

# --- restored dumps
# -------------------------------------------------------------------------------------------------

IS_RESTORED: LiteralString = """
select exists (select from eventstore.log where log.tx >= pg_snapshot_xmax(pg_current_snapshot()))
    or exists (select from eventstore.checkpoints c where c.tx > pg_snapshot_xmax(pg_current_snapshot()))"""

LOCK_EVERYTHING: LiteralString = """
lock table eventstore.commits, eventstore.archived_commits, eventstore.checkpoints, eventstore.parked_commits
in access exclusive mode"""

# The order that the log had in its old cluster, and behind it what may have been appended since the
# restore: that got later positions, for the sequence was restored with the rest. A transaction id below 100
# is never given to a transaction of ours (a new cluster begins at several hundred), so each cure takes the
# next of these. It is also the new generation, which goes into all positions from now on: a cursor of the old
# cluster can then be told from one of this.
RENUMBER: LiteralString = f"""
create temporary table renumbered on commit drop as
select log.bucket, log.tx as old_tx, log.position as old_position,
    log.position <= restored.last_position as is_restored,
    restored.generation::text::xid8 as tx,
    (restored.generation << 48) + row_number() over (
        order by log.position > restored.last_position, log.tx, log.position
    ) as position
from eventstore.log
cross join (
    select coalesce(max(position) filter (where tx >= pg_snapshot_xmax(pg_current_snapshot())), max(position))
            as last_position,
        {_GENERATION} + 1 as generation
    from eventstore.log
) restored"""

BEGIN_GENERATION: LiteralString = f"""
select setval(
    'eventstore.commits_position_seq',
    coalesce((select max(position) from renumbered), (({_GENERATION} + 1) << 48) + 1)
)"""

INDEX_RENUMBERED: LiteralString = "create unique index on renumbered (old_tx, old_position)"

MOVE_RENUMBERED: tuple[LiteralString, ...] = (
    """
update eventstore.commits c set tx = r.tx, position = r.position
from renumbered r where c.tx = r.old_tx and c.position = r.old_position""",
    """
update eventstore.archived_commits c set tx = r.tx, position = r.position
from renumbered r where c.tx = r.old_tx and c.position = r.old_position""",
    """
update eventstore.parked_commits p set tx = r.tx, position = r.position
from renumbered r where p.tx = r.old_tx and p.position = r.old_position""",
    """
update eventstore.checkpoints c
set (tx, position) = (
    select coalesce(max(r.tx), '0'), coalesce(max(r.position), 0)
    from renumbered r
    where r.is_restored and r.bucket = c.bucket and (r.old_tx, r.old_position) <= (c.tx, c.position)
)""",
)
