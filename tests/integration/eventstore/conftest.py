"""The event store's tests run on the wheel's server, and with `-m system` on Debian's Postgres 15."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.local.postgres import LocalPostgres
from tests.integration.conftest import POSTGRES_OPTIONS

pytest.register_assert_rewrite("tests.integration.eventstore.scene", "tests.integration.eventstore.traps")

DEBIAN_BIN_DIR = Path("/usr/lib/postgresql/15/bin")


@pytest.fixture(scope="session")
def debian_postgres(server_folder: Path) -> Iterator[LocalPostgres]:
    if not DEBIAN_BIN_DIR.is_dir():
        pytest.fail("Postgres 15 is missing: apt-get install postgresql-15")
    with LocalPostgres(server_folder / "debian", bin_dir=DEBIAN_BIN_DIR, options=POSTGRES_OPTIONS) as server:
        yield server


@pytest.fixture(scope="session", params=["wheel", pytest.param("debian", marks=pytest.mark.system)])
def postgres(request: pytest.FixtureRequest) -> LocalPostgres:
    server = request.getfixturevalue(f"{request.param}_postgres")
    assert isinstance(server, LocalPostgres)
    return server


@pytest.fixture
def bin_dir(postgres: LocalPostgres) -> Path | None:
    """For tests that start another server of the same version; None: from the wheel."""
    return DEBIAN_BIN_DIR if postgres.bin_dir == DEBIAN_BIN_DIR else None
