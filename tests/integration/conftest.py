"""Real servers for all integration tests: started once, each test with a clean database."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from services.eventstore import EventStore, Pool, make_pool, migrate_eventstore
from services.local.postgres import LocalPostgres
from services.local.valkey import LocalValkey

# Background work of the server owns transactions now and then, and each hides newer commits for a moment; a
# short wait shows a deadlock at once. Nothing of these tests has to survive a power cut of the machine.
POSTGRES_OPTIONS = {"autovacuum": "off", "deadlock_timeout": "100ms", "fsync": "off"}

TEMPLATE = "template_eventstore"

# Everything that a test may have made or changed beside rows.
DEFINITIONS = """
select array(select nspname::text from pg_namespace where nspname not like 'pg\\_%' order by 1),
    array(select oid::regclass::text from pg_class where oid >= 16384 and relkind <> 't' order by 1),
    array(select prosrc || coalesce(prosqlbody::text, '') from pg_proc where oid >= 16384 order by oid),
    array(select tgname::text from pg_trigger where oid >= 16384 order by 1)"""

EMPTY = """
truncate eventstore.commits, eventstore.archived_commits, eventstore.checkpoints, eventstore.parked_commits
restart identity"""


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """Makes folders that a server's own user may enter, unlike pytest's, which are private to the tester."""
    folder = Path(tempfile.mkdtemp(prefix="baohuang-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def wheel_postgres(server_folder: Path) -> Iterator[LocalPostgres]:
    with LocalPostgres(server_folder / "wheel-postgres", options=POSTGRES_OPTIONS) as server:
        yield server


@pytest.fixture(scope="session")
def postgres(wheel_postgres: LocalPostgres) -> LocalPostgres:
    """A running server, shared by all tests."""
    return wheel_postgres


@pytest.fixture(scope="session")
def valkey(server_folder: Path) -> Iterator[LocalValkey]:
    """A running server, shared by all tests: use names of your own."""
    with LocalValkey(server_folder / "valkey") as server:
        yield server


class Databases:
    """Makes databases on one server; `TEMPLATE` holds the event store's tables."""

    def __init__(self, server: LocalPostgres) -> None:
        self.server = server
        migrate_eventstore(self.create(TEMPLATE))
        self._pristine = self._definitions(TEMPLATE)

    def create(self, name: str, template: str = "template1") -> str:
        """A new database; gives its address."""
        self._run("create database {} template {}", name, template)
        return self.server.dsn_of(name)

    def drop(self, name: str) -> None:
        self._run("drop database if exists {} with (force)", name)

    def clean(self, name: str) -> str:
        """The database of this name with the event store's empty tables and nothing else; gives its address.

        Emptied tables are quicker than a new database, which is made only where definitions were changed."""
        with psycopg.connect(self.server.dsn_of("postgres"), autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = %s", [name]
            )
            known = connection.execute("select from pg_database where datname = %s", [name]).rowcount
        if known and self._definitions(name) == self._pristine:
            with psycopg.connect(self.server.dsn_of(name)) as connection:
                connection.execute(EMPTY)
        else:
            self.drop(name)
            self.create(name, TEMPLATE)
        return self.server.dsn_of(name)

    def _definitions(self, name: str) -> object:
        with psycopg.connect(self.server.dsn_of(name)) as connection:
            return connection.execute(DEFINITIONS).fetchone()

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.server.dsn_of("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*(sql.Identifier(name) for name in names)))


@pytest.fixture(scope="session")
def databases(postgres: LocalPostgres) -> Databases:
    return Databases(postgres)


@pytest.fixture
def empty_database(databases: Databases) -> Iterator[str]:
    """The address of a new database without any tables."""
    yield databases.create("empty")
    databases.drop("empty")


@pytest.fixture
def database(databases: Databases) -> str:
    """The address of a database with the event store's tables, all empty."""
    return databases.clean("test")


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with make_pool(database, max_size=20, application="test") as opened:
        yield opened


@pytest.fixture
def store(pool: Pool) -> EventStore:
    return EventStore(pool)
