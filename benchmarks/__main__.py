"""Runs benchmarks and prints a table.

Usage: python -m benchmarks [--json FILE] [--chart FILE] [NAME ...]

`--json` keeps the figures, `--chart` draws those that were measured by batch size.
"""

import argparse
import importlib
import json
import os
import platform
from pathlib import Path

from benchmarks.chart import draw
from benchmarks.figures import Figure, show

BENCHMARKS = ("rules", "simulator", "engine", "eventstore", "viewer")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which ones, all by default: {', '.join(BENCHMARKS)}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="also draw them, as .svg or .png")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")

    before = os.getloadavg()[0]
    figures: list[Figure] = []
    for name in arguments.names or BENCHMARKS:
        # Each brings in what it needs: the rules are measured without a database's client in memory.
        figures += importlib.import_module(f"benchmarks.{name}").measure()
    print(show(figures))
    after = os.getloadavg()[0]
    print(
        f"load of the machine, over a minute: {before:.1f} before, {after:.1f} after; {os.cpu_count()} cores"
    )
    if arguments.chart:
        draw(figures, arguments.chart)
    if arguments.json:
        report = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "load_before": before,
            "load_after": after,
            "figures": [figure._asdict() for figure in figures],
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


main()
