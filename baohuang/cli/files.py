"""Records in and out; `-` is standard input or output."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Annotated

import typer

from baohuang.record import Record
from baohuang.words import Language

RecordFile = Annotated[
    str, typer.Argument(metavar="RECORD", help="A record (JSON Lines); - reads standard input.")
]


LanguageOption = Annotated[Language, typer.Option("--lang", help="Language of the text.")]


def read_record(path: str) -> Record:
    """The record in a file, form checked only; raises `RecordError` or `OSError`."""
    if path != "-":
        return Record.loads(Path(path).read_bytes())
    if sys.stdin is None:
        raise OSError(errno.EBADF, "closed", "standard input")
    return Record.loads(sys.stdin.buffer.read())


def write_record(path: str, record: Record) -> None:
    """Writes a record as it is, with line feeds on every system."""
    data = record.dumps().encode()
    if path == "-":
        sys.stdout.buffer.write(data)
    else:
        Path(path).write_bytes(data)
