-- What the database role of each process may do, and nothing else. Run by the owner of the schemas after every migration
-- (python -m services.eventstore grant), as often as one likes. Roles that are missing are made without a login; an
-- administrator gives them one: alter role baohuang_engine login password '...'.
--
--   baohuang_engine      reads the log and appends to it, one commit at a time
--   baohuang_tournament  reads the log and appends whole recorded games
--   baohuang_lobby       reads the log, keeps its checkpoints, reads and writes the lobby's tables
--   baohuang_replay      reads the log, keeps its checkpoints, owns the index of games, which it may make anew
--
-- Nobody of them can change or remove what was appended, and all appends go through the functions that keep the log in
-- order: these run with the owner's rights.

do $$
declare
    role_name text;
begin
    foreach role_name in array array['baohuang_engine', 'baohuang_tournament', 'baohuang_lobby', 'baohuang_replay'] loop
        if not exists (select from pg_roles where rolname = role_name) then
            execute format('create role %I', role_name);
        end if;
    end loop;
end
$$;

-- --- the log

revoke all on all tables in schema eventstore from public, baohuang_engine, baohuang_tournament, baohuang_lobby, baohuang_replay;
revoke all on all functions in schema eventstore
    from public, baohuang_engine, baohuang_tournament, baohuang_lobby, baohuang_replay;

grant usage on schema eventstore to baohuang_engine, baohuang_tournament, baohuang_lobby, baohuang_replay;
grant select on all tables in schema eventstore to baohuang_engine, baohuang_tournament, baohuang_lobby, baohuang_replay;
grant select on sequence eventstore.commits_position_seq
    to baohuang_engine, baohuang_tournament, baohuang_lobby, baohuang_replay;
grant execute on function eventstore.bucket_of(text), eventstore.lock_key_of(text), eventstore.lock_class_of(text)
    to baohuang_engine, baohuang_tournament, baohuang_lobby, baohuang_replay;

alter function eventstore.append(text, text, bytea, integer, integer, smallint, bytea)
    security definer set search_path = pg_catalog, pg_temp;
grant execute on function eventstore.append(text, text, bytea, integer, integer, smallint, bytea) to baohuang_engine;

alter function eventstore.append_batch(text[], text[], bytea[], integer[], integer[], smallint[], bytea[])
    security definer set search_path = pg_catalog, pg_temp;
grant execute on function eventstore.append_batch(text[], text[], bytea[], integer[], integer[], smallint[], bytea[])
    to baohuang_tournament;

grant insert, update, delete on eventstore.checkpoints, eventstore.parked_commits to baohuang_lobby, baohuang_replay;

-- --- the services' own tables, as far as they are there

do $$
declare
    item record;
begin
    if to_regnamespace('lobby') is not null then
        grant usage on schema lobby to baohuang_lobby;
        grant select, insert, update, delete on all tables in schema lobby to baohuang_lobby;
        grant usage on all sequences in schema lobby to baohuang_lobby;
        grant execute on all functions in schema lobby to baohuang_lobby;
    end if;

    if to_regnamespace('replay') is not null then
        -- A rebuild makes a schema beside the one in use and then renames both, which only an owner can. Whoever
        -- migrates owns them too, through the role.
        if not pg_has_role(current_user, 'baohuang_replay', 'usage') then
            execute format('grant baohuang_replay to %I', current_user);
        end if;
        execute format('grant create on database %I to baohuang_replay', current_database());
        alter schema replay owner to baohuang_replay;
        for item in select oid::regclass as name from pg_class where relnamespace = 'replay'::regnamespace and relkind = 'r' loop
            execute format('alter table %s owner to baohuang_replay', item.name);
        end loop;
    end if;

    if to_regnamespace('replay_tables') is not null then
        grant usage on schema replay_tables to baohuang_replay;
        grant select, insert, update, delete on all tables in schema replay_tables to baohuang_replay;
    end if;
end
$$;
