"""`baohuang bots`: check one's bot, serve it, have it play on a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Coroutine, Iterator
from typing import Annotated, Final, TypeVar

import typer

from baohuang.bots.bot import BotError
from baohuang.bots.conformance import Check, check_bot
from baohuang.bots.hosts import Times, open_host
from baohuang.rules.errors import Reason
from baohuang.rules.ruleset import RuleSet

app = typer.Typer(help="Check a bot, serve it, have it play on a server.", rich_markup_mode=None)

Spec = Annotated[
    str,
    typer.Argument(
        metavar="BOT", help="The name of a built-in bot, MODULE:NAME, FILE.py:NAME or grpc://HOST:PORT."
    ),
]
SERVER: Final = "127.0.0.1:50051"
Server = Annotated[
    str, typer.Option(metavar="HOST:PORT", help="The lobby's gRPC; grpcs://HOST:PORT for TLS.")
]
Result = TypeVar("Result")
_MARKS = {"passed": "ok  ", "failed": "FAIL", "warned": "note", "skipped": "–   "}


@app.command("check")
def check(
    bot: Spec,
    hands: Annotated[int, typer.Option(min=1, max=1000, help="Hands of each rule set in each seat.")] = 2,
    start_seconds: Annotated[float, typer.Option(min=0.001, help="What it has for starting up.")] = 10.0,
    move_seconds: Annotated[float, typer.Option(min=0.001, help="What it has for a move.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    output: Annotated[bool, typer.Option(help="Show what the bot prints, on standard error.")] = False,
) -> None:
    """Play a bot in games of all rule sets and say what it does wrong; exit 1 if a check failed."""

    def tell(done: Check) -> None:
        if not as_json:
            print(f"{done.id}  {_MARKS[done.status]}  {done.title}: {done.detail}".rstrip(": "))
            for example in done.examples:
                print(f"           {example}")

    times = Times(start_seconds, move_seconds)
    report = check_bot(bot, times=times, hands=hands, tell=tell, shows_output=output)
    if as_json:
        print(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        failed = [done.id for done in report.checks if done.status == "failed"]
        print(f"{bot}: {'failed ' + ', '.join(failed) if failed else 'passed'}")
    if not report.passed:
        raise typer.Exit(1)


@app.command("serve")
def serve(
    bot: Spec,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0: a free one.")] = 50061,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 is all.")] = "127.0.0.1",
    processes: Annotated[int, typer.Option(min=1, max=256, help="How many to play the games in.")] = 1,
) -> None:
    """Serve a bot over gRPC, for tournaments to call, until Ctrl-C."""
    with _needs_rpc():
        from baohuang.bots.service import BotServer, serving

    async def run() -> None:
        stop = _stop_signals()
        server = BotServer(bot, processes=processes)
        async with serving(server, host=host, port=port) as bound:
            await server.warm_up()
            print(f"{bot} on grpc://{host}:{bound}", flush=True)
            await stop.wait()

    asyncio.run(run())


@app.command("register")
def register(
    name: Annotated[str, typer.Argument(help="1 to 32 characters of any script.")],
    server: Server = SERVER,
) -> None:
    """Register a player for a bot on a server, and print his token, which is told this once."""
    with _needs_rpc():
        from baohuang.bots import remote_tables

    print(_run(remote_tables.register(server, name)))


@app.command("play")
def play(
    bot: Spec,
    server: Server = SERVER,
    token: Annotated[str, typer.Option(envvar="BAOHUANG_TOKEN", help="The player's token.")] = "",
    join: Annotated[
        str | None, typer.Option(metavar="TABLE|CODE", help="A table to sit down at; a private one's code.")
    ] = None,
    match: Annotated[str | None, typer.Option(metavar="PRESET", help="Ask for a quick match.")] = None,
    bots_after: Annotated[
        int | None, typer.Option(min=0, max=600, help="Seconds after which built-in bots fill the match.")
    ] = None,
    hands: Annotated[int, typer.Option(min=0, help="Stop after so many hands; 0: never.")] = 0,
    move_seconds: Annotated[float, typer.Option(min=0.001, help="What it has for a move.")] = 5.0,
) -> None:
    """Have a bot play on a server, in all games of its player at once, until Ctrl-C.

    It may be stopped and started again in the middle of a game, and so may the server.
    """
    if not token:
        raise typer.BadParameter("set BAOHUANG_TOKEN; `baohuang bots register` gives one")
    with _needs_rpc():
        from baohuang.bots import remote_tables
        from baohuang.bots.remote import Finished, RemoteBot
        from baohuang.bots.remote_client import LobbyClient
    rules = None if match is None else RuleSet.preset(match)
    opened = open_host(bot, shows_output=True)
    times = Times(move_seconds=move_seconds)

    async def run() -> None:
        stop, finished = _stop_signals(), 0

        def tell(game: Finished) -> None:
            nonlocal finished
            finished += 1
            print(f"{game.game_id} seat {game.seat}: {game.outcome.scores[game.seat]:+d}", flush=True)
            if finished == hands:
                stop.set()

        async def sit(client: LobbyClient) -> None:
            if join is not None:
                found = await remote_tables.sit_down(client, join)
                print(f"at table {found}", flush=True)
            if rules is not None:
                found = await remote_tables.quick_match(client, rules, bots_after_seconds=bots_after)
                print(f"at table {found}", flush=True)
            await stop.wait()

        async with LobbyClient(server, token) as client:
            tasks = [
                asyncio.create_task(RemoteBot(client, opened, times=times, on_end=tell).run()),
                asyncio.create_task(sit(client)),
            ]
            done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            for task in done:
                task.result()

    try:
        _run(run())
    finally:
        opened.close()


def _run(work: Coroutine[None, None, Result]) -> Result:
    """What comes of work on a server. A refusal of the server is one line and exit code 1."""
    from baohuang.bots.remote_client import RemoteError

    try:
        return asyncio.run(work)
    except RemoteError as error:
        print(f"baohuang: {error}", file=sys.stderr)
        raise typer.Exit(1) from error


def _stop_signals() -> asyncio.Event:
    """An event that SIGTERM or Ctrl-C sets."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


@contextlib.contextmanager
def _needs_rpc() -> Iterator[None]:
    """Around imports: what is missing is told by what installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("google", "grpc"):
            raise
        needs = 'this needs: pip install "baohuang[cli,rpc]"'
        raise BotError(Reason.UNKNOWN_OPTION, f"{error.name} is not installed; {needs}") from error
