-- Players and what they do: tokens, seats at tables, tickets for a quick match; times for their decisions.

create table lobby.players (
    player_id  text        not null,
    name       text        not null,
    is_bot     boolean     not null,
    created_at timestamptz not null default clock_timestamp(),
    seen_at    timestamptz not null default clock_timestamp(),  -- some seconds late: not every sign of life is written
    constraint players_player_id primary key (player_id)
) with (fillfactor = 80);

-- What a name looks like, in two ways: no two players share one.
create table lobby.name_keys (
    name_key  text not null,
    player_id text not null references lobby.players,
    constraint name_keys_name_key primary key (name_key)
);

create table lobby.tokens (
    token_id   text        not null,
    player_id  text        not null references lobby.players,
    digest     bytea       not null,  -- SHA-256 of the secret, which is kept nowhere
    label      text        not null,
    scopes     text[]      not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz,
    constraint tokens_token_id primary key (token_id),
    constraint tokens_digest unique (digest),
    constraint tokens_scopes check (scopes <@ '{play,bot,operator}' and scopes <> '{}')
);

create index tokens_player_id on lobby.tokens (player_id, created_at);

-- First answers, for requests that are sent again.
create table lobby.answers (
    player_id  text        not null references lobby.players,
    key        text        not null,
    digest     bytea       not null,  -- tells the request from another one under the same key
    answer     bytea       not null,  -- JSON: what came of it, or why it was refused
    is_refusal boolean     not null,
    created_at timestamptz not null default clock_timestamp(),
    constraint answers_player_id_key primary key (player_id, key)
);

create index answers_created_at on lobby.answers (created_at);

alter table lobby.tables
    drop constraint tables_status,
    drop column idempotency_key,
    drop column request_digest,
    add column host_id text references lobby.players,
    add column is_private boolean not null default false,
    add column code text,
    add column bots_allowed boolean not null default true,
    add column turn_seconds integer not null default 30,
    add column opening_seconds integer not null default 30,
    add column pause_seconds integer not null default 15,
    add column spectator_delay integer not null default 0,
    add column changed_at timestamptz not null default clock_timestamp(),  -- of its seats or status
    add constraint tables_status
        check (status in ('gathering', 'starting', 'playing', 'finished', 'dissolved', 'failed')),
    add constraint tables_code unique (code),
    add constraint tables_private check (is_private = (code is not null));

alter table lobby.tables alter column status set default 'gathering';
alter table lobby.tables rename column failure to reason;  -- why it failed or was dissolved

create index tables_status_created_at on lobby.tables (status, created_at, table_id);
create index tables_open on lobby.tables (changed_at) where status = 'gathering';
create index tables_host_id on lobby.tables (host_id) where status in ('gathering', 'starting', 'playing');

alter table lobby.seats
    add column player_id text references lobby.players,
    add column ready boolean not null default false,
    add constraint seats_taken_once check (bot is null or player_id is null),
    add constraint seats_table_id_player_id unique (table_id, player_id);

create index seats_player_id on lobby.seats (player_id) where player_id is not null;

alter table lobby.hands
    drop constraint hands_status,
    add column bots text[],  -- the built-in bot in each seat, null for a player
    add constraint hands_status check (status in ('opening', 'playing', 'ended', 'failed', 'cancelled'));

update lobby.hands
set bots = (select array_agg(bot order by seat) from lobby.seats where seats.table_id = hands.table_id);

alter table lobby.hands alter column bots set not null;

-- Which player has which seat in which game, for ever: at the table seats may change hands between two games.
create table lobby.sittings (
    player_id text     not null references lobby.players,
    game_id   text     not null,
    seat      smallint not null,
    constraint sittings_game_id_seat primary key (game_id, seat)
);

create index sittings_player_id on lobby.sittings (player_id, game_id);

-- A turn is a decision that is awaited from a seat: of a built-in bot ('bot': due when it is to be sent), of a player
-- ('player': due when his time is over), of the server for a player ('auto').
alter table lobby.turns
    alter column bot drop not null,
    add column kind text not null default 'bot',
    add column starts smallint not null default 0,  -- how often the seat went on auto-play before
    add column deadline_at timestamptz,
    add constraint turns_kind check (kind in ('bot', 'player', 'auto')),
    add constraint turns_bot check ((kind = 'bot') = (bot is not null));

drop index lobby.turns_due_at;
create index turns_of_bots on lobby.turns (due_at) where kind = 'bot';
create index turns_of_clocks on lobby.turns (due_at) where kind <> 'bot';

-- Players who leave in the middle of a hand: work until the engine knows.
create table lobby.departures (
    command_id text        not null,
    game_id    text        not null,
    seat       smallint    not null,
    kind       text        not null,
    done       boolean     not null default false,
    attempts   integer     not null default 0,
    due_at     timestamptz not null default clock_timestamp(),  -- of the next attempt
    constraint departures_command_id primary key (command_id),
    constraint departures_kind check (kind in ('exit', 'forced_exit', 'removed'))
);

create index departures_game_id_seat on lobby.departures (game_id, seat);
create index departures_due_at on lobby.departures (due_at) where not done;

create table lobby.tickets (
    ticket_id     text        not null,
    player_id     text        not null references lobby.players,
    preset        text        not null,
    options       jsonb       not null,
    hands         integer     not null,
    status        text        not null default 'waiting',
    table_id      text        references lobby.tables,
    bots_after_at timestamptz,
    created_at    timestamptz not null default clock_timestamp(),
    seen_at       timestamptz not null default clock_timestamp(),  -- when its player last looked
    constraint tickets_ticket_id primary key (ticket_id),
    constraint tickets_status check (status in ('waiting', 'matched', 'cancelled', 'expired')),
    constraint tickets_table_id check ((status = 'matched') = (table_id is not null))
);

create unique index tickets_waiting on lobby.tickets (player_id) where status = 'waiting';
create index tickets_queue on lobby.tickets (preset, options, hands, created_at) where status = 'waiting';
