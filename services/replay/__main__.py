"""`python -m services.replay [serve | follow | migrate | rebuild]`: one of the replay service's processes.

Exit code 0: stopped as asked, or done; 1: could not work, with the reason on standard error; 2: the command
line is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from services.eventstore import StoreError, make_pool, migrate
from services.kit.logging import configure_logging
from services.kit.settings import SettingError, Settings

MIGRATIONS = Path(__file__).parent / "migrations"

_COMMANDS = {
    "serve": "pages and the REST interface on BAOHUANG_PORT (the default)",
    "follow": "follow the log and keep the index of games; metrics on BAOHUANG_METRICS_PORT",
    "migrate": "create or update the index's tables; safe to run again and by several at once",
    "rebuild": "make the index anew from the whole log, beside the one in use",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m services.replay",
        description="Addresses come from the environment: BAOHUANG_DATABASE_URL, BAOHUANG_VALKEY_URL, ...",
    )
    parser.add_argument(
        "command",
        nargs="?",
        default="serve",
        choices=_COMMANDS,
        help="; ".join(f"{name}: {text}" for name, text in _COMMANDS.items()),
    )
    command = parser.parse_args(arguments).command
    try:
        _run(command, Settings.from_environment().require("database_url"))
    except SettingError as error:
        print(error, file=sys.stderr)
        return 1
    except StoreError as error:
        print(f"{error.reason}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"cannot {command}: {error}", file=sys.stderr)
        return 1
    return 0


def _run(command: str, settings: Settings) -> None:
    if command == "migrate":
        names = migrate(settings.database_url, "replay", MIGRATIONS)
        print("\n".join(f"ran {name}" for name in names) if names else "nothing to do")
        return
    configure_logging(f"replay-{command}", level=settings.log_level, log_format=settings.log_format)
    # Imported here, so that a migration needs no web server.
    from services.replay import process

    match command:
        case "serve":
            uvloop.run(process.serve(settings))
        case "follow":
            uvloop.run(process.follow(settings))
        case _:
            print(f"applied {asyncio.run(_rebuild(settings.database_url))} commits")


async def _rebuild(dsn: str) -> int:
    from services.eventstore.projection import rebuild
    from services.replay.games import GamesProjection

    async with make_pool(dsn, max_size=4, application="baohuang-replay-rebuild") as pool:
        return await rebuild(pool, GamesProjection())


if __name__ == "__main__":
    sys.exit(main())
