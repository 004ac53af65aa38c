"""`baohuang record`: read and check records."""

from __future__ import annotations

from typing import Annotated

import typer

from baohuang.cli.files import LanguageOption, RecordFile, read_record
from baohuang.cli.transcript import transcript
from baohuang.record import Record, replay
from baohuang.rules.events import Viewer, redact
from baohuang.rules.roles import SEATS
from baohuang.words import Language

INCOMPLETE = 2

app = typer.Typer(help="Read and check the records of games.", rich_markup_mode=None)


@app.command("show")
def show(
    record: RecordFile,
    lang: LanguageOption = Language.ENGLISH,
    view: Annotated[
        str | None,
        typer.Option(metavar="SEAT|public", help="Show only what that seat, or a spectator, may know."),
    ] = None,
) -> None:
    """Print a record for people: deal, opening, tricks, result. It is not checked."""
    shown = read_record(record)
    if view is not None:
        viewer = _viewer(view)
        shown = Record(tuple([redact(event, viewer) for event in shown.events]))
    for line in transcript(shown, lang):
        print(line)


@app.command("check")
def check(record: RecordFile) -> None:
    """Replay a record by the rules, step by step.

    Exit 0: a whole hand, every step of it possible. 1: a fault, told with its line and reason; a record that
    stops in the middle of a move has one, and so has a file that cannot be read. 2: no fault, and no whole
    hand either: the record of a running game (or one cut off between two moves), or a viewer's, in which
    cards are hidden.
    """
    read = read_record(record)
    told = f"{len(read.events)} events"
    if read.first_hidden():
        game = "a finished game" if read.is_over else "a running game"
        print(f"{told} of {game} as a viewer sees it: what is hidden cannot be checked")
        raise typer.Exit(INCOMPLETE)
    public = replay(read)[1].public
    told += f" of {public.rules}, all possible"
    if public.outcome is None:
        print(f"{told}; a running game, step {public.step}")
        raise typer.Exit(INCOMPLETE)
    print(f"{told}; the hand is over, {public.outcome.termination}")


def _viewer(word: str) -> Viewer:
    if word == "public":
        return None
    if word not in map(str, SEATS):
        raise typer.BadParameter(f"{word!r} is neither public nor a seat 0 to 4", param_hint="--view")
    return int(word)
