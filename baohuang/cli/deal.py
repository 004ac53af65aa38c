"""`baohuang deal`: prove deals."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import typer

from baohuang.cli.files import RecordFile, read_record
from baohuang.rules.errors import RecordError
from baohuang.verify import verify_deal

app = typer.Typer(help="Prove that a game was dealt as promised.", rich_markup_mode=None)

FAILED = 1
UNPROVEN = 2


@app.callback()
def _root() -> None:
    pass  # Keeps `verify` a command of its own while it is the only one.


@app.command("verify")
def verify(
    record: RecordFile,
    commitment: Annotated[
        str | None, typer.Option(metavar="HEX", help="The commitment that you noted before the deal.")
    ] = None,
) -> None:
    """Check a finished game's deal against its commitment.

    Exit 0: everything follows from the commitment. 1: a check failed. 2: there is nothing to judge by: no
    readable record, a running game, given hands, or no commitment.
    """
    if commitment is not None and not re.fullmatch("[0-9a-fA-F]{64}", commitment):
        raise typer.BadParameter("a commitment is 64 hexadecimal digits", param_hint="--commitment")
    try:
        read = read_record(record)
    except (OSError, RecordError) as error:
        reason = error.message if isinstance(error, RecordError) else error.strerror
        print(f"baohuang: {record}: {reason}", file=sys.stderr)
        raise typer.Exit(UNPROVEN) from None
    report = verify_deal(read, noted=commitment)
    for check in report.checks:
        print(f"{'ok    ' if check.holds else 'FAILED'}  {check.text}")
    for note in report.notes:
        print(f"note    {note}")
    if report.has_failed:
        print("The deal is not what was promised.")
        raise typer.Exit(FAILED)
    if report.unproven:
        print(f"Nothing is proven: {report.unproven}.")
        raise typer.Exit(UNPROVEN)
    print("The deal is as promised.")
