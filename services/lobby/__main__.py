"""`python -m services.lobby [serve | follow | migrate | operator]`: one of the lobby's processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from services.eventstore import StoreError, migrate
from services.kit.command import Command, run_command, run_process, tell_migrations
from services.kit.settings import Settings

MIGRATIONS: Final = Path(__file__).parent / "migrations"


def _serve(settings: Settings) -> None:
    # Imported here, so that a migration needs neither a web server nor gRPC.
    from services.lobby.process import serve

    run_process("lobby serve", settings, serve(settings))


def _follow(settings: Settings) -> None:
    from services.lobby.process import follow

    run_process("lobby follow", settings, follow(settings))


def _migrate(settings: Settings) -> None:
    tell_migrations(migrate(settings.database_url, "lobby", MIGRATIONS))


def _make_operator(settings: Settings) -> None:
    from services.lobby.operators import make_operator

    print(asyncio.run(make_operator(settings)))


COMMANDS: Final = {
    "serve": Command(
        "REST on BAOHUANG_PORT and gRPC on BAOHUANG_GRPC_PORT (the default)",
        _serve,
        ("database_url", "engine_target", "valkey_url"),
    ),
    "follow": Command(
        "follow the log: open hands, send turns of bots, keep times; metrics on BAOHUANG_METRICS_PORT",
        _follow,
        ("database_url", "engine_target", "valkey_url", "broker_url"),
    ),
    "migrate": Command(
        "create or update the lobby's tables; safe to run again and by several at once",
        _migrate,
        ("database_url",),
    ),
    "operator": Command(
        "make a player who may remove others and dissolve tables, and print the secret of his token",
        _make_operator,
        ("database_url",),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code (services.kit.command)."""
    return run_command("lobby", COMMANDS, arguments, failures=StoreError)


if __name__ == "__main__":
    sys.exit(main())
