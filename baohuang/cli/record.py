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
    """Replay a record by the rules; exit 1 with the line and reason of the first fault, if there is one."""
    events, state = replay(read_record(record))
    outcome = state.public.outcome
    stands = f"running, step {state.public.step}" if outcome is None else f"over, {outcome.termination}"
    print(f"{len(events)} events of {state.public.rules}, all possible; the hand is {stands}")


def _viewer(word: str) -> Viewer:
    if word == "public":
        return None
    if word not in map(str, SEATS):
        raise typer.BadParameter(f"{word!r} is neither public nor a seat 0 to 4", param_hint="--view")
    return int(word)
