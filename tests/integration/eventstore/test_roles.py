"""The database roles of the processes: each can do its work, and nothing but its work."""

import asyncio
import hashlib
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.errors import InsufficientPrivilege

from services.eventstore import EventStore, MigrationError, make_pool, migrate, migrate_eventstore
from services.eventstore.__main__ import main
from services.eventstore.commit import NewCommit
from services.eventstore.projection import rebuild, subscription_of
from services.eventstore.restored import check_restored
from services.eventstore.roles import grant_roles
from services.eventstore.subscription import Follower
from services.lobby.__main__ import MIGRATIONS as LOBBY
from services.replay.__main__ import MIGRATIONS as REPLAY
from services.replay.app import check_index
from services.replay.games import GamesProjection
from tests.integration.conftest import Databases
from tests.integration.eventstore.scene import append, append_within, by_hand

ROLES = ("engine", "tournament", "lobby", "replay")
OWNER = "baohuang_owner_of_test"
PASSWORD = "role-of-a-test"
NAME = "roles"


@pytest.fixture(scope="module")
def granted(databases: Databases) -> Iterator[dict[str, str]]:
    """The address of one database for its owner, who is no superuser, and for each role."""
    admin = databases.server.dsn_of("postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create role {} login createrole password {}").format(
                sql.Identifier(OWNER), sql.Literal(PASSWORD)
            )
        )
        databases.create(NAME)
        connection.execute(
            sql.SQL("alter database {} owner to {}").format(sql.Identifier(NAME), sql.Identifier(OWNER))
        )
    database = databases.server.dsn_of(NAME)
    owner = make_conninfo(database, user=OWNER, password=PASSWORD)
    migrate_eventstore(owner)
    grant_roles(owner)  # before the services' own tables are there
    migrate(owner, "lobby", LOBBY)
    migrate(owner, "replay", REPLAY)
    grant_roles(owner)
    with psycopg.connect(admin, autocommit=True) as connection:
        for role in ROLES:
            connection.execute(
                sql.SQL("alter role {} login password {}").format(
                    sql.Identifier(f"baohuang_{role}"), sql.Literal(PASSWORD)
                )
            )
    addresses = {role: make_conninfo(database, user=f"baohuang_{role}", password=PASSWORD) for role in ROLES}
    yield addresses | {"owner": owner}
    databases.drop(NAME)
    with psycopg.connect(admin, autocommit=True) as connection:
        for name in (*(f"baohuang_{role}" for role in ROLES), OWNER):
            connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


APPEND = "select status from eventstore.append('g{n}', 'c', 'f'::bytea, 0, 1, 1::smallint, 'p'::bytea)"
APPEND_BATCH = (
    "select status from eventstore.append_batch(array['b{n}'], array['c'], array['f'::bytea], array[0], "
    "array[1], array[1::smallint], array['p'::bytea])"
)
INSERT = (
    "insert into eventstore.commits "
    "(stream, bucket, first_version, version, schema_version, command_id, fingerprint, payload) "
    "values ('past', eventstore.bucket_of('past'), 1, 1, 1, 'c', 'f', 'p')"
)
CHECKPOINT = "insert into eventstore.checkpoints (subscription, bucket) values ('of a test {n}', 0)"
INDEX = (
    "insert into replay.games (game_id, preset, options, started_ms) values ('g{n}', 'jiaodong', '{{}}', 0)"
)
EVERYBODY = set(ROLES)
NOBODY: set[str] = set()
WHO_MAY = {
    "select count(*) from eventstore.log": EVERYBODY,
    "select last_value from eventstore.commits_position_seq": EVERYBODY,
    APPEND: {"engine"},
    APPEND_BATCH: {"tournament"},
    INSERT: NOBODY,
    "update eventstore.commits set payload = 'changed'": NOBODY,
    "delete from eventstore.commits": NOBODY,
    "truncate eventstore.commits": NOBODY,
    "delete from eventstore.archived_commits": NOBODY,
    "select eventstore.archive_streams(array['g'])": NOBODY,
    "select eventstore.unarchive_streams(array['g'])": NOBODY,
    "select eventstore.lock_streams(array['g'])": NOBODY,
    "select setval('eventstore.commits_position_seq', 1)": NOBODY,
    "drop table eventstore.commits": NOBODY,
    "alter table eventstore.commits drop constraint commits_versions": NOBODY,
    "create table eventstore.mine (x integer)": NOBODY,
    CHECKPOINT: {"lobby", "replay"},
    "delete from eventstore.parked_commits": {"lobby", "replay"},
    "select from lobby.tables": {"lobby"},
    "delete from lobby.turns": {"lobby"},
    "alter table lobby.tables add column mine integer": NOBODY,
    "select from replay.games": {"replay"},
    INDEX: {"replay"},
    "delete from migrations.applied": NOBODY,
}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_its_work_and_no_more(role: str, granted: dict[str, str]) -> None:
    may = set()
    with psycopg.connect(granted[role], autocommit=True) as connection:
        for statement in WHO_MAY:
            try:
                with connection.transaction(force_rollback=True):
                    connection.execute(statement.format(n=role))
            except InsufficientPrivilege:
                continue
            may.add(statement)
    assert may == {statement for statement, roles in WHO_MAY.items() if role in roles}


async def test_the_engine_appends_reads_and_is_held_to_the_order_of_the_log(granted: dict[str, str]) -> None:
    async with make_pool(granted["engine"], max_size=2) as pool:
        await check_restored(pool)
        store = EventStore(pool)
        first = await append(store, "by-the-engine", 0)
        assert (await append(store, "by-the-engine", 0)).is_repeated
        assert [commit.position for commit in await store.read_stream("by-the-engine")] == [first.position]
        await store.check_cursor(first.cursor)
    async with by_hand(granted["engine"]) as connection:
        assert await append_within(connection, "by-hand", 0) == "appended"
        with pytest.raises(Exception, match="must be the first write"):
            await append_within(connection, "by-hand-too", 0)


async def test_the_tournament_appends_recorded_games(granted: dict[str, str]) -> None:
    async with make_pool(granted["tournament"], max_size=2) as pool:
        commits = [
            NewCommit(
                stream=f"recorded-{number}",
                command_id="record",
                fingerprint=hashlib.sha256(b"game").digest(),
                expected_version=0,
                payload=b"game",
                event_count=40,
            )
            for number in range(3)
        ]
        assert [each.version for each in await EventStore(pool).append_batch(commits)] == [40, 40, 40]


async def test_the_index_is_followed_and_made_anew_by_its_own_role(granted: dict[str, str]) -> None:
    async with make_pool(granted["replay"], max_size=4) as pool:
        await Follower(pool, subscription_of(GamesProjection())).catch_up()
        await check_index(pool)
    # What this module appends is no game: a rebuild would park it and not take over.
    with psycopg.connect(granted["owner"]) as connection:
        connection.execute("delete from eventstore.commits")
    async with make_pool(granted["replay"], max_size=4) as pool:
        assert await rebuild(pool, GamesProjection()) == 0
        await check_index(pool)
    # The owner migrates what the role has made.
    assert migrate(granted["owner"], "replay", REPLAY) == []
    assert await asyncio.to_thread(main, ["grant", "--dsn", granted["owner"]]) == 0


async def test_grants_may_run_at_once(granted: dict[str, str]) -> None:
    await asyncio.gather(*(asyncio.to_thread(grant_roles, granted["owner"]) for _ in range(4)))


def test_who_is_not_the_owner_cannot_grant(
    granted: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(MigrationError, match=r"roles\.sql failed and was rolled back"):
        grant_roles(granted["engine"])
    assert main(["grant", "--dsn", granted["lobby"]]) == 1
    assert "permission denied" in capsys.readouterr().err


def test_without_the_logs_tables_there_is_nothing_to_grant(empty_database: str) -> None:
    with pytest.raises(MigrationError, match="eventstore"):
        grant_roles(empty_database)
