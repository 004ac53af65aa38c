"""The tree of commands, and how errors become one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import baohuang
from baohuang.cli import bots, deal, play, record, rules
from baohuang.rules.errors import BaohuangError

app = typer.Typer(
    help="Baohuang (保皇), the five-player card game of Shandong: play it; read, check, prove its records.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("play")(play.play)
app.add_typer(bots.app, name="bots")
app.add_typer(record.app, name="record")
app.add_typer(deal.app, name="deal")
app.add_typer(rules.app, name="rules")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"baohuang {baohuang.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Runs one command; gives back its exit code. A failure is one line on stderr, never a traceback."""
    if sys.stdout is None:
        return _fail("standard output is closed", 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character is shown its code instead.
        sys.stdout.reconfigure(errors="backslashreplace")
    command = typer.main.get_command(app)
    try:
        code = command(args=list(arguments) or ["--help"], prog_name="baohuang", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _fail(f"{error.format_message()} (baohuang --help)", error.exit_code)
    except BaohuangError as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        # The reader has left; nothing more can be told to it, not even by the flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(f"{error.filename or 'output'}: {error.strerror or error}", 1)
    return code or 0


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"baohuang: {line}", file=sys.stderr)
    return code
