"""Migrations: forward, once each, refused when the database and the program do not fit."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from services.eventstore import MigrationError, StoreUnavailable, migrate, migrate_eventstore
from services.eventstore.migrate import EVENTSTORE_FOLDER, read_migrations


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001_tables.sql").write_text("create table first (a int); insert into first values (1);")
    (tmp_path / "0002_more.sql").write_text("insert into first values (2);")
    return tmp_path


def rows(dsn: str) -> list[int]:
    with psycopg.connect(dsn) as connection:
        return [row[0] for row in connection.execute("select a from first order by a")]


def test_each_file_runs_once_in_order(empty_database: str, folder: Path) -> None:
    assert migrate(empty_database, "game", folder) == ["0001_tables.sql", "0002_more.sql"]
    (folder / "0003_last.sql").write_text("insert into first values (3)")
    assert migrate(empty_database, "game", folder) == ["0003_last.sql"]
    assert migrate(empty_database, "game", folder) == []
    assert rows(empty_database) == [1, 2, 3]


def test_packages_do_not_mix(empty_database: str, folder: Path) -> None:
    migrate(empty_database, "game", folder)
    assert migrate_eventstore(empty_database) == [
        path.name for path in sorted(EVENTSTORE_FOLDER.glob("*.sql"))
    ]


def test_many_migrators_at_once(empty_database: str, folder: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        outcomes = list(threads.map(lambda _: migrate(empty_database, "game", folder), range(6)))
    assert sorted(len(outcome) for outcome in outcomes) == [0, 0, 0, 0, 0, 2]
    assert rows(empty_database) == [1, 2]


def test_failed_file_leaves_nothing_behind(empty_database: str, folder: Path) -> None:
    bad = folder / "0003_bad.sql"
    bad.write_text("insert into first values (3); select 1 / 0;")
    with pytest.raises(MigrationError, match=r"0003_bad\.sql of game failed"):
        migrate(empty_database, "game", folder)
    assert rows(empty_database) == [1, 2]
    bad.write_text("insert into first values (3)")
    assert migrate(empty_database, "game", folder) == ["0003_bad.sql"]


def test_program_older_than_the_database_is_refused(empty_database: str, folder: Path) -> None:
    migrate(empty_database, "game", folder)
    (folder / "0002_more.sql").unlink()
    with pytest.raises(MigrationError, match="older than the database"):
        migrate(empty_database, "game", folder)


def test_changed_file_is_refused(empty_database: str, folder: Path) -> None:
    migrate(empty_database, "game", folder)
    (folder / "0001_tables.sql").write_text("create table other (a int)")
    with pytest.raises(MigrationError, match="never changes"):
        migrate(empty_database, "game", folder)


@pytest.mark.parametrize("name", ["0003_gap_after_this.sql", "2_short.sql", "0002 blank.sql"])
def test_badly_named_files_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "0001_tables.sql").write_text("select 1")
    (tmp_path / name).write_text("select 1")
    with pytest.raises(MigrationError):
        read_migrations(tmp_path)


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MigrationError):
        read_migrations(tmp_path)


def test_unreachable_database_is_unavailable(folder: Path) -> None:
    with pytest.raises(StoreUnavailable):
        migrate("postgresql://nobody@127.0.0.1:1/none", "game", folder)


def test_command(empty_database: str) -> None:
    command = [sys.executable, "-m", "services.eventstore", "migrate", "--dsn", empty_database]
    outputs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert outputs[0].startswith("ran 0001_commits.sql")
    assert outputs[1] == "nothing to do\n"
