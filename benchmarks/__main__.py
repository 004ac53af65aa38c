"""Runs benchmarks and prints a table; `--json FILE` keeps the figures.

Usage: python -m benchmarks [--json FILE] [NAME ...]
"""

import argparse
import json
import platform
from pathlib import Path

from benchmarks import rules
from benchmarks.figures import Figure, show

BENCHMARKS = {"rules": rules.measure}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which ones, all by default: {', '.join(BENCHMARKS)}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")

    figures: list[Figure] = []
    for name in arguments.names or BENCHMARKS:
        figures += BENCHMARKS[name]()
    print(show(figures))
    if arguments.json:
        report = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "figures": [figure._asdict() for figure in figures],
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


main()
