-- Tables, their seats and their hands. Owned by the lobby; what a hand did is in the log, here is what became of it.

create schema lobby;

create table lobby.tables (
    table_id        text        not null,
    created_at      timestamptz not null default clock_timestamp(),
    preset          text        not null,
    options         jsonb       not null,
    hands_to_play   integer     not null,
    status          text        not null default 'starting',
    failure         text,       -- why a failed table could not go on
    hands_played    integer     not null default 0,
    hands_counted   integer     not null default 0,
    scores          integer[]   not null default '{0,0,0,0,0}',
    penalties       integer[]   not null default '{0,0,0,0,0}',
    first_drawer    smallint    not null default 0,   -- of the next hand
    dues            jsonb       not null default '[]', -- ... and what is owed in it
    idempotency_key text,
    request_digest  bytea       not null,  -- tells a request sent again from another one under the same key
    constraint tables_table_id primary key (table_id),
    constraint tables_idempotency_key unique (idempotency_key),
    constraint tables_status check (status in ('starting', 'playing', 'finished', 'dissolved', 'failed')),
    constraint tables_hands_to_play check (hands_to_play > 0)
);

create index tables_created_at on lobby.tables (created_at, table_id);

create table lobby.seats (
    table_id text     not null references lobby.tables,
    seat     smallint not null,
    bot      text,
    constraint seats_table_id_seat primary key (table_id, seat),
    constraint seats_seat check (seat between 0 and 4)
);

-- A row is written before the engine is asked for the game, so an `opening` hand is work that anybody may finish.
create table lobby.hands (
    table_id     text        not null references lobby.tables,
    number       integer     not null,  -- from 1
    game_id      text        not null,
    status       text        not null default 'opening',
    first_drawer smallint    not null,
    dues         jsonb       not null,
    outcome      jsonb,
    created_at   timestamptz not null default clock_timestamp(),
    ended_at     timestamptz,
    attempts     integer     not null default 0,  -- to open it
    due_at       timestamptz not null default clock_timestamp(), -- of the next attempt
    constraint hands_table_id_number primary key (table_id, number),
    constraint hands_game_id unique (game_id),
    constraint hands_status check (status in ('opening', 'playing', 'ended', 'failed')),
    constraint hands_outcome check ((status = 'ended') = (outcome is not null))
);

create index hands_opening on lobby.hands (due_at) where status = 'opening';

-- The decisions that are awaited from built-in bots now, made from the log. Each is sent to the workers when it is due,
-- and again for as long as the row is there.
create table lobby.turns (
    game_id  text        not null,
    seat     smallint    not null,
    version  integer     not null,  -- at which the decision came up
    answers  integer     not null,  -- how many the seat has given before in a step that asks it for several
    bot      text        not null,
    sends    integer     not null default 0,
    due_at   timestamptz not null default clock_timestamp(),  -- of the next send
    constraint turns_game_id_seat primary key (game_id, seat)
) with (fillfactor = 50);  -- rows change all the time and in place

create index turns_due_at on lobby.turns (due_at);
