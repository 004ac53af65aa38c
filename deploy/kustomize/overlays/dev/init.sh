#!/bin/sh
# Run once by the Postgres image, as superuser, in an empty cluster: the owner of the database and the roles of the processes.
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set owner="$OWNER_PASSWORD" --set engine="$ENGINE_PASSWORD" \
    --set lobby="$LOBBY_PASSWORD" --set replay="$REPLAY_PASSWORD" <<'SQL'
create role baohuang login createrole password :'owner';
create role baohuang_engine login password :'engine';
create role baohuang_lobby login password :'lobby';
create role baohuang_replay login password :'replay';
grant baohuang_engine, baohuang_lobby, baohuang_replay to baohuang with admin option;
create database baohuang owner baohuang;
SQL
