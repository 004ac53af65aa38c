"""Forward-only migrations: numbered SQL files of any package, each run once and recorded with a checksum."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import LiteralString, NamedTuple, cast

import psycopg

from services.eventstore.errors import MigrationError, StoreUnavailable, is_outage

EVENTSTORE_FOLDER = Path(__file__).parent / "migrations"

_FILE_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
# Any constant will do, as long as every migrator of every package takes the same.
LOCK_KEY = 0x62616F6875616E67

_CREATE_RECORD: LiteralString = """
create schema if not exists migrations;
create table if not exists migrations.applied (
    package    text        not null,
    number     integer     not null,
    file_name  text        not null,
    checksum   bytea       not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (package, number)
)"""


class Migration(NamedTuple):
    """One file: its number, its SHA-256 and its SQL."""

    number: int
    file_name: str
    checksum: bytes
    text: bytes


def read_migrations(folder: Path) -> list[Migration]:
    """The migrations in a folder: `0001_name.sql`, `0002_...`, without a gap. Raises MigrationError."""
    migrations = []
    for path in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None:
            raise MigrationError(f"{path} is not named like 0001_what_it_does.sql")
        content = path.read_bytes()
        migrations.append(Migration(int(match[1]), path.name, hashlib.sha256(content).digest(), content))
    if [migration.number for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise MigrationError(f"the migrations in {folder} are not numbered 1, 2, 3, ... without a gap")
    if not migrations:
        raise MigrationError(f"there are no migrations in {folder}")
    return migrations


def migrate(dsn: str, package: str, folder: Path) -> list[str]:
    """Bring one package's part of the database up to date; gives the file names that were run, in order.

    Each file runs in a transaction of its own together with its record. Safe to run twice and by several
    processes at once: they wait for each other. A file must not begin or end a transaction itself. Raises
    MigrationError if the database knows a migration that the folder lacks (this program is older than the
    database) or one with another content, or if a file fails; StoreUnavailable if the database cannot be
    reached. Blocks.
    """
    known = read_migrations(folder)
    try:
        with psycopg.connect(
            dsn, autocommit=True, application_name=f"baohuang-migrate-{package}"
        ) as connection:
            # A session lock: it outlives the transactions of the single files and ends with the connection.
            connection.execute("select pg_advisory_lock(%s)", [LOCK_KEY])
            connection.execute(_CREATE_RECORD)
            pending = _pending(connection, package, known)
            for migration in pending:
                _run(connection, package, migration)
            return [migration.file_name for migration in pending]
    except psycopg.Error as error:
        if is_outage(error):
            raise StoreUnavailable(f"cannot migrate {package}: {error}") from error
        raise


def migrate_eventstore(dsn: str) -> list[str]:
    """`migrate` for the event store's own tables."""
    return migrate(dsn, "eventstore", EVENTSTORE_FOLDER)


def _pending(
    connection: psycopg.Connection[tuple[object, ...]], package: str, known: list[Migration]
) -> list[Migration]:
    rows = connection.execute(
        "select number, file_name, checksum from migrations.applied where package = %s order by number",
        [package],
    ).fetchall()
    by_number = {migration.number: migration for migration in known}
    applied: set[int] = set()
    for number, file_name, checksum in cast("list[tuple[int, str, bytes]]", rows):
        migration = by_number.get(number)
        if migration is None:
            raise MigrationError(
                f"the database holds the migration {file_name} of {package}, unknown to this program: "
                "the program is older than the database"
            )
        if migration.checksum != checksum:
            raise MigrationError(
                f"{migration.file_name} of {package} differs from the file that was run on this database: "
                "a migration never changes after it was run; write a new one"
            )
        applied.add(number)
    return [migration for migration in known if migration.number not in applied]


def _run(connection: psycopg.Connection[tuple[object, ...]], package: str, migration: Migration) -> None:
    try:
        with connection.transaction():
            connection.execute(migration.text)
            connection.execute(
                "insert into migrations.applied (package, number, file_name, checksum) "
                "values (%s, %s, %s, %s)",
                [package, migration.number, migration.file_name, migration.checksum],
            )
    except psycopg.Error as error:
        if is_outage(error):
            raise
        raise MigrationError(
            f"{migration.file_name} of {package} failed and was rolled back: {error}"
        ) from error
