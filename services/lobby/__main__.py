"""`python -m services.lobby [serve | follow | migrate]`: one of the lobby's processes.

Exit code 0: stopped as asked, or done; 1: could not work; 2: the command line or a setting is wrong. Why is
on standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from services.eventstore import StoreError, migrate
from services.kit.logging import configure_logging
from services.kit.settings import SettingError, Settings

MIGRATIONS = Path(__file__).parent / "migrations"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m services.lobby",
        description="Addresses come from the environment: BAOHUANG_DATABASE_URL, BAOHUANG_ENGINE_TARGET, ...",
    )
    commands = {
        "serve": "the REST interface on BAOHUANG_PORT (the default)",
        "follow": "follow the log: open hands and send the turns of bots; metrics on BAOHUANG_METRICS_PORT",
        "migrate": "create or update the lobby's tables; safe to run again and by several at once",
    }
    parser.add_argument(
        "command",
        nargs="?",
        default="serve",
        choices=commands,
        help="; ".join(f"{name}: {text}" for name, text in commands.items()),
    )
    command = parser.parse_args(arguments).command
    try:
        _run(command, Settings.from_environment())
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    except StoreError as error:
        print(f"{error.reason}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"cannot {command}: {error}", file=sys.stderr)
        return 1
    return 0


def _run(command: str, settings: Settings) -> None:
    if command == "migrate":
        names = migrate(settings.require("database_url").database_url, "lobby", MIGRATIONS)
        print("\n".join(f"ran {name}" for name in names) if names else "nothing to do")
        return
    configure_logging(f"lobby {command}", level=settings.log_level, log_format=settings.log_format)
    # Imported here, so that a migration needs neither a web server nor gRPC.
    from services.lobby import process

    if command == "serve":
        uvloop.run(process.serve(settings.require("database_url", "engine_target")))
    else:
        needed = ("database_url", "engine_target", "valkey_url", "broker_url")
        uvloop.run(process.follow(settings.require(*needed)))


if __name__ == "__main__":
    sys.exit(main())
