"""The database roles of the processes: what each may do stands in roles.sql."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import psycopg

from services.eventstore.errors import MigrationError, StoreUnavailable, is_outage
from services.eventstore.migrate import LOCK_KEY

ROLES_FILE: Final = Path(__file__).parent / "roles.sql"


def grant_roles(dsn: str) -> None:
    """Give each role what roles.sql says, in one transaction; as the owner of the schemas, after a migration.

    Roles that are missing are made, which needs CREATEROLE. Safe to run again and by several at once. Raises
    MigrationError if the owner may not do so or the event store's tables are missing, StoreUnavailable if the
    database cannot be reached. Blocks.
    """
    try:
        with psycopg.connect(dsn, application_name="baohuang-grant") as connection:
            connection.execute("select pg_advisory_xact_lock(%s)", [LOCK_KEY])
            connection.execute(ROLES_FILE.read_bytes())
    except psycopg.Error as error:
        if is_outage(error):
            raise StoreUnavailable(f"cannot grant: {error}") from error
        raise MigrationError(f"{ROLES_FILE.name} failed and was rolled back: {error}") from error
