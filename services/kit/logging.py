"""Structured logs: one line an event, as JSON or for a terminal, with the ids of the game and the command."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog
from structlog.tracebacks import ExceptionDictTransformer

from services.kit.settings import LogFormat, LogLevel


def configure_logging(process: str, *, level: LogLevel = "info", log_format: LogFormat = "console") -> None:
    """Sends all logs of this process, those of libraries too, to standard error in one form; call it first.

    Log with `structlog.get_logger(__name__)`; `structlog.contextvars.bound_contextvars(game_id=...)` puts ids
    on all lines within.
    """

    def name_process(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        event["process"] = process
        return event

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        name_process,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    # A traceback never shows the values of variables: they hold hands, seeds and tokens (R11.3).
    if log_format == "json":
        last: list[structlog.typing.Processor] = [
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ]
    else:
        colors = sys.stderr.isatty()
        last = [
            structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)
        ]
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
            foreign_pre_chain=shared,
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
