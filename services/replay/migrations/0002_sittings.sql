-- What the log does not say of a game: at whose table it is, who sits where, how much later spectators see it. Not in the
-- schema of the index, which a rebuild makes anew from the log alone.

create schema replay_tables;

create table replay_tables.sittings (
    game_id     text     not null,
    table_id    text,               -- null for a game without a table
    hand        integer,            -- of the table, from 1
    names       text[],             -- by seat; null where nobody said who sits there
    delay_plays smallint not null default 0, -- how many plays spectators lag behind while the game runs
    constraint sittings_game_id primary key (game_id),
    constraint sittings_table_id_hand unique (table_id, hand),
    constraint sittings_table check ((table_id is null) = (hand is null)),
    constraint sittings_names check (cardinality(names) = 5),
    constraint sittings_delay_plays check (delay_plays >= 0)
);

create index sittings_names on replay_tables.sittings using gin (names);
