"""`python -m services.bots worker`: a worker for the turns of built-in bots.

Exit code 0: stopped as asked; 1: could not work, with the reason on standard error; 2: the command line is
wrong.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Sequence

from services.kit.settings import SettingError, Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m services.bots",
        description="Addresses come from the environment: BAOHUANG_BROKER_URL (or BAOHUANG_VALKEY_URL), "
        "BAOHUANG_ENGINE_TARGET; health and metrics on BAOHUANG_METRICS_PORT.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    worker = commands.add_parser("worker", help="take turns from the queue until asked to stop")
    worker.add_argument(
        "--concurrency",
        type=_positive,
        default=os.cpu_count() or 1,
        help="how many turns to take at once, each in a process of its own (default: one a core)",
    )
    options = parser.parse_args(arguments)
    try:
        settings = Settings.from_environment().require("broker_url", "engine_target")
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        return _run(settings, options.concurrency)
    except OSError as error:
        print(f"cannot run a worker: {error}", file=sys.stderr)
        return 1


def _run(settings: Settings, concurrency: int) -> int:
    # Before Celery is imported: asked to stop, it stops softly and does not wait for every task.
    os.environ.setdefault("REMAP_SIGTERM", "SIGQUIT")
    with tempfile.TemporaryDirectory(prefix="baohuang-bots-metrics-") as folder:
        # Before anything that counts is imported: each process counts in files of its own there.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        from services.bots.worker import run_worker
        from services.kit.logging import configure_logging

        configure_logging("bots worker", level=settings.log_level, log_format=settings.log_format)
        # Celery warns of root because of message formats that run code; here only JSON is accepted.
        warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
        # Two lines for each turn say nothing that the metrics do not.
        for name in ("celery.app.trace", "celery.worker.strategy"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return run_worker(settings, concurrency)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
