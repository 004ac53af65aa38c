-- Readers of the log that remember how far they are: one checkpoint for each of the 64 buckets, moved in the
-- same transaction as what the reader wrote.

create table eventstore.checkpoints (
    subscription text        not null,
    bucket       smallint    not null,
    tx           xid8        not null default '0',
    position     bigint      not null default 0,
    updated_at   timestamptz not null default clock_timestamp(),
    constraint checkpoints_subscription_bucket primary key (subscription, bucket),
    constraint checkpoints_bucket check (bucket between 0 and 63)
) with (fillfactor = 50);  -- rows change all the time and in place

-- Commits that a reader could not apply, with the error of the last attempt. The later commits of the same
-- stream are parked behind the first one, so that a retry applies them in order.
create table eventstore.parked_commits (
    subscription text        not null,
    bucket       smallint    not null,
    tx           xid8        not null,
    position     bigint      not null,
    stream       text        not null,
    version      integer     not null,
    error        text,       -- null: waits behind an earlier commit of its stream
    attempts     integer     not null,
    is_due       boolean     not null default false,  -- an operator asked for another attempt
    parked_at    timestamptz not null default clock_timestamp(),
    constraint parked_commits_cursor primary key (subscription, tx, position)
);

create index parked_commits_stream on eventstore.parked_commits (subscription, stream);

-- The space of advisory locks of a subscription's buckets is (lock_class_of(subscription), bucket); the one
-- of streams is a single bigint, and Postgres keeps the two apart.
create function eventstore.lock_class_of(subscription text) returns integer
    language sql immutable strict parallel safe
    return ('x' || encode(substr(sha256(convert_to(subscription, 'UTF8')), 1, 4), 'hex'))::bit(32)::integer;
