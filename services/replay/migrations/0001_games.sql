-- The index of games, made from the log by the subscription "replay" and made anew by `python -m services.replay rebuild`.

create schema replay;

create table replay.games (
    game_id     text     not null,
    preset      text     not null,
    options     jsonb    not null,  -- what differs from the preset
    started_ms  bigint   not null,  -- when the game was stored, so a table's games begin one after another
    finished_ms bigint,             -- null while it runs, like all below
    events      integer,
    termination text,
    solo        text,
    multiplier  integer,
    places      smallint[],         -- by seat; null unless the hand was played, like the roles
    roles       text[],
    scores      integer[],
    penalties   integer[],
    constraint games_game_id primary key (game_id),
    constraint games_finished check ((finished_ms is null) = (scores is null))
);

-- A page is a range of one of these: the newest of all, of one rule set, of those that run or are over.
create index games_newest on replay.games (started_ms, game_id);
create index games_newest_of_preset on replay.games (preset, started_ms, game_id);
create index games_running on replay.games (started_ms, game_id) where finished_ms is null;
create index games_finished_newest on replay.games (started_ms, game_id) where finished_ms is not null;
