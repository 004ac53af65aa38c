"""`migrate` of every service: again, by two at once, and refused where program and database do not fit."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("eventstore", "lobby", "replay")


def begin(service: str, dsn: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", f"services.{service}", "migrate"],
        cwd=ROOT,
        env=os.environ | {"BAOHUANG_DATABASE_URL": dsn},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int | None, str, str]:
    """Exit code, output and errors."""
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def files_of(service: str) -> list[str]:
    folder = Path(importlib.import_module(f"services.{service}").__path__[0]) / "migrations"
    return sorted(path.name for path in folder.glob("*.sql"))


@pytest.mark.parametrize("service", SERVICES)
def test_two_processes_at_once_and_again(service: str, empty_database: str) -> None:
    pair = [begin(service, empty_database) for _ in range(2)]
    outcomes = [ended(process) for process in pair]
    ran = "".join(f"ran {name}\n" for name in files_of(service))
    assert sorted(outcomes) == sorted([(0, ran, ""), (0, "nothing to do\n", "")])
    assert ended(begin(service, empty_database)) == (0, "nothing to do\n", "")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            """insert into migrations.applied (package, number, file_name, checksum)
            values ('{}', 9999, '9999_of_the_future.sql', '')""",
            "the database holds the migration 9999_of_the_future.sql of {}, unknown to this program",
        ),
        (
            "update migrations.applied set checksum = 'other' where package = '{}' and number = 1",
            "of {} differs from the file that was run on this database",
        ),
    ],
    ids=["a newer database", "a changed file"],
)
@pytest.mark.parametrize("service", SERVICES)
def test_what_does_not_fit_is_refused(service: str, change: str, told: str, empty_database: str) -> None:
    assert ended(begin(service, empty_database))[0] == 0
    with psycopg.connect(empty_database) as connection:
        connection.execute(change.format(service).encode())
    code, output, errors = ended(begin(service, empty_database))
    assert (code, output) == (1, "")
    assert told.format(service) in errors
    assert "Traceback" not in errors
