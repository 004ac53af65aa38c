"""`python -m services.NAME COMMAND`: what the commands of our services have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import NamedTuple

import uvloop

from services.kit.logging import configure_logging
from services.kit.settings import SettingError, Settings


class Command(NamedTuple):
    """One command of a service; `needs` names the settings without which it cannot work."""

    help: str
    run: Callable[[Settings], None]
    needs: tuple[str, ...]


def run_command(
    service: str,
    commands: Mapping[str, Command],
    arguments: Sequence[str] | None,
    *,
    failures: type[Exception],
) -> int:
    """Run the command that the command line names, or the first one; gives the exit code.

    0: stopped as asked, or done; 1: could not work (OSError or `failures`); 2: the command line or a
    setting is wrong. Why is on standard error.
    """
    default = next(iter(commands))
    parser = argparse.ArgumentParser(
        prog=f"python -m services.{service}",
        description="Addresses come from the environment: BAOHUANG_DATABASE_URL, BAOHUANG_VALKEY_URL, ...",
    )
    parser.add_argument(
        "command",
        nargs="?",
        default=default,
        choices=commands,
        help="; ".join(f"{name}: {command.help}" for name, command in commands.items()),
    )
    name = parser.parse_args(arguments).command
    command = commands[name]
    try:
        settings = Settings.from_environment().require(*command.needs)
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    code = 0
    try:
        command.run(settings)
    # Also those of tasks that ran side by side.
    except* (OSError, failures) as group:
        for cause in _each(group):
            print(f"{service} {name}: {cause}", file=sys.stderr)
        code = 1
    return code


def _each(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _each(error)
        else:
            yield error


def run_process(name: str, settings: Settings, process: Coroutine[None, None, None]) -> None:
    """Run a process of ours to its end, with its logs as the settings say."""
    configure_logging(name, level=settings.log_level, log_format=settings.log_format)
    uvloop.run(process)


def tell_migrations(names: Sequence[str]) -> None:
    """Print which migrations were run."""
    print("\n".join(f"ran {name}" for name in names) if names else "nothing to do")
