"""`python -m services.local up`: everything on this machine, behind `make up`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from baohuang import PRESETS
from services.local.platform import Ports
from services.local.up import UpOptions, up


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m services.local")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    text = "start the whole platform on this machine and play a hand of each rule set; Ctrl-C stops it"
    command = commands.add_parser("up", help=text, description=text)
    command.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=os.environ.get("BAOHUANG_DATA") or None,
        help="where data and logs are kept (or BAOHUANG_DATA; default: .data in the project)",
    )
    command.add_argument(
        "--presets",
        nargs="+",
        metavar="PRESET",
        choices=tuple(PRESETS),
        default=tuple(PRESETS),
        help=f"the rule sets to play a hand of (default: all of {', '.join(PRESETS)})",
    )
    command.add_argument("--once", action="store_true", help="stop after the results")
    for field in fields(Ports):
        variable, name = f"BAOHUANG_{field.name.upper()}_PORT", field.name.replace("_", "-")
        command.add_argument(
            f"--{name}-port",
            type=_port,
            metavar="PORT",
            default=os.environ.get(variable) or 0,
            help=f"port of {name} on 127.0.0.1 (or {variable}; default 0: a free one)",
        )
    options = parser.parse_args(arguments)
    return up(
        UpOptions(
            data_dir=options.data,
            presets=tuple(options.presets),
            ports=Ports(**{field.name: getattr(options, f"{field.name}_port") for field in fields(Ports)}),
            once=options.once,
        )
    )


def _port(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: a whole number from 0 to 65535")
    return number


if __name__ == "__main__":
    sys.exit(main())
