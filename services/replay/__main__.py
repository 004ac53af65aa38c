"""`python -m services.replay [serve | follow | migrate | rebuild]`: one of the replay service's processes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from services.eventstore import StoreError, make_pool, migrate
from services.kit.command import Command, run_command, run_process, tell_migrations
from services.kit.settings import Settings

MIGRATIONS: Final = Path(__file__).parent / "migrations"


def _serve(settings: Settings) -> None:
    # Imported here, so that a migration needs no web server.
    from services.replay.process import serve

    run_process("replay serve", settings, serve(settings))


def _follow(settings: Settings) -> None:
    from services.replay.process import follow

    run_process("replay follow", settings, follow(settings))


def _migrate(settings: Settings) -> None:
    tell_migrations(migrate(settings.database_url, "replay", MIGRATIONS))


def _rebuild(settings: Settings) -> None:
    from services.eventstore.projection import rebuild
    from services.replay.games import GamesProjection

    async def run() -> None:
        async with make_pool(
            settings.database_url, max_size=4, application="baohuang-replay-rebuild"
        ) as pool:
            print(f"applied {await rebuild(pool, GamesProjection())} commits")

    run_process("replay rebuild", settings, run())


COMMANDS: Final = {
    "serve": Command(
        "pages and the REST interface on BAOHUANG_PORT (the default)", _serve, ("database_url",)
    ),
    "follow": Command(
        "follow the log and keep the index of games; metrics on BAOHUANG_METRICS_PORT",
        _follow,
        ("database_url",),
    ),
    "migrate": Command(
        "create or update the index's tables; safe to run again and by several at once",
        _migrate,
        ("database_url",),
    ),
    "rebuild": Command(
        "make the index anew from the whole log, beside the one in use", _rebuild, ("database_url",)
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code (services.kit.command)."""
    return run_command("replay", COMMANDS, arguments, failures=StoreError)


if __name__ == "__main__":
    sys.exit(main())
