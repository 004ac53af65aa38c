"""`python -m services.eventstore COMMAND --dsn ...`: what an operator does with the log.

Exit code 0: done; 1: refused or failed, with the reason on standard error; 2: the command line is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from services.eventstore.archive import archive_quiet_streams, archive_streams, unarchive_streams
from services.eventstore.commit import Cursor
from services.eventstore.errors import StoreError
from services.eventstore.lag import horizon_lag, subscription_lags
from services.eventstore.migrate import migrate_eventstore
from services.eventstore.parked import discard_parked, parked_commits, retry_parked
from services.eventstore.pool import Pool, make_pool
from services.eventstore.restored import check_restored, cure_restored_dump
from services.eventstore.roles import grant_roles

Result = TypeVar("Result")

_COMMANDS = {
    "migrate": "create or update the event store's tables; safe to run again and by several at once",
    "grant": "let the database role of each process do what it has to and nothing else; after each migration",
    "check": "say whether the log is in order, or was restored from a dump and needs its cure",
    "cure-restored-dump": "renumber a log restored from another cluster; first stop all that uses it",
    "lag": "how far subscriptions are behind, and what open transactions hide",
    "parked": "list the commits that subscriptions could not apply",
    "retry": "have parked commits tried again by the running followers",
    "discard": "give up one parked commit",
    "archive": "move the commits of whole streams to the archive",
    "unarchive": "move the commits of whole streams back from the archive",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    parser, options = _parse(arguments)
    if options.dsn is None:
        parser.error("name the database with --dsn or in BAOHUANG_DATABASE_URL")
    try:
        _run(options)
    except StoreError as error:
        print(f"{error.reason}: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: Sequence[str] | None) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="python -m services.eventstore")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    by_name = {}
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument(
            "--dsn",
            default=os.environ.get("BAOHUANG_DATABASE_URL"),
            help="address of the database; otherwise taken from BAOHUANG_DATABASE_URL",
        )
        by_name[name] = command
    by_name["parked"].add_argument("--subscription", help="only this one")
    by_name["retry"].add_argument("--subscription", required=True)
    by_name["retry"].add_argument("--stream", help="only this one")
    by_name["discard"].add_argument("--subscription", required=True)
    by_name["discard"].add_argument("--cursor", required=True, help="as the command `parked` shows it")
    for name in ("archive", "unarchive"):
        by_name[name].add_argument(
            "streams", nargs="*", help="their names; none: one a line on standard input"
        )
    by_name["archive"].add_argument(
        "--older-than",
        type=_seconds,
        metavar="TIME",
        help="instead of names: all streams without a commit for so long, such as 30d or 12h",
    )
    options = parser.parse_args(arguments)
    if options.command == "archive" and options.streams and options.older_than is not None:
        parser.error("either names or --older-than")
    return parser, options


def _seconds(text: str) -> int:
    match = re.fullmatch(r"(\d{1,6})([dhms])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 30d, 12h, 90m or 600s")
    return int(match[1]) * {"d": 86_400, "h": 3_600, "m": 60, "s": 1}[match[2]]


def _run(options: argparse.Namespace) -> None:
    match options.command:
        case "migrate":
            names = migrate_eventstore(options.dsn)
            print("\n".join(f"ran {name}" for name in names) if names else "nothing to do")
        case "grant":
            grant_roles(options.dsn)
            print("granted")
        case "cure-restored-dump":
            print(f"renumbered {asyncio.run(cure_restored_dump(options.dsn))} commits")
        case "check":
            _with_pool(options, check_restored)
            print("the log is in order")
        case "lag":
            _with_pool(options, _print_lag)
        case "parked":
            _with_pool(options, lambda pool: _print_parked(pool, options.subscription))
        case "retry":
            count = _with_pool(options, lambda pool: retry_parked(pool, options.subscription, options.stream))
            print(f"{count} parked commits will be tried again")
        case "discard":
            place = Cursor.parse(options.cursor)
            found = _with_pool(options, lambda pool: discard_parked(pool, options.subscription, place))
            print("discarded" if found else "no such commit is parked")
        case "archive":
            count = _with_pool(options, lambda pool: _archive(pool, options))
            print(f"moved {count} commits")
        case "unarchive":
            count = _with_pool(options, lambda pool: unarchive_streams(pool, _streams(options)))
            print(f"moved {count} commits")


def _with_pool(options: argparse.Namespace, use: Callable[[Pool], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        async with make_pool(options.dsn, max_size=1, application="baohuang-operator") as pool:
            return await use(pool)

    return asyncio.run(run())


async def _archive(pool: Pool, options: argparse.Namespace) -> int:
    if options.older_than is not None:
        return await archive_quiet_streams(pool, options.older_than)
    return await archive_streams(pool, _streams(options))


def _streams(options: argparse.Namespace) -> list[str]:
    names: list[str] = options.streams
    return names or [line.strip() for line in sys.stdin if line.strip()]


async def _print_lag(pool: Pool) -> None:
    for lag in await subscription_lags(pool):
        print(
            f"{lag.subscription}: {lag.commits} commits behind, the oldest {lag.seconds:.3f} s old, "
            f"{lag.parked} parked"
        )
    hidden = await horizon_lag(pool)
    print(f"open transactions hide {hidden.commits} commits, the oldest {hidden.seconds:.3f} s old")


async def _print_parked(pool: Pool, subscription: str | None) -> None:
    for parked in await parked_commits(pool, subscription):
        what = (parked.error or "waits behind an earlier commit of its stream").rpartition("\n")[2]
        print(
            f"{parked.subscription} {parked.cursor.format()} {parked.stream} version {parked.version}, "
            f"{parked.attempts} attempts: {what}"
        )


if __name__ == "__main__":
    sys.exit(main())
