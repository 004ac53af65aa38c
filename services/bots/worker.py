"""The worker process: Celery's, with health and metrics beside it.

Bots run in forked child processes (Celery's prefork pool), not in threads: only a process can be killed when
a bot hangs, and bots compute, so that threads would share one core. Metrics are collected over the processes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

import structlog
from celery.signals import worker_shutting_down
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.multiprocess import MultiProcessCollector

from services.bots.app import make_app
from services.bots.queue import QueueLength
from services.kit.settings import Settings

_log = structlog.get_logger(__name__)


def run_worker(settings: Settings, concurrency: int) -> int:
    """Take turns from the queue until asked to stop; gives the exit code.

    `PROMETHEUS_MULTIPROC_DIR` must name a folder of this process alone, and must have been set before
    anything that counts was imported.
    """
    asked_to_stop = threading.Event()

    def note_stop(**_: Any) -> None:
        asked_to_stop.set()

    worker_shutting_down.connect(note_stop, weak=False)
    app = make_app(settings.broker_url, settings.engine_target)
    worker = app.Worker(
        concurrency=concurrency,
        pool="prefork",
        loglevel=settings.log_level.upper(),
        quiet=True,
        # Workers need not know of each other.
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )

    def is_ready() -> bool:
        # While it (re)connects, a worker has no consumer or its consumer no connection.
        connection = getattr(getattr(worker, "consumer", None), "connection", None)
        return connection is not None and bool(connection.connected)

    server = make_server(
        settings.host,
        settings.metrics_port,
        _make_health(is_ready, QueueLength(app)),
        server_class=ThreadingWSGIServer,
        handler_class=_Quiet,
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    _log.info("health and metrics", address=f"http://{settings.host}:{server.server_port}")
    try:
        worker.start()
    finally:
        server.shutdown()
        server.server_close()
    # A soft shutdown ends with a failure's exit code though it was asked for.
    return 0 if asked_to_stop.is_set() else int(worker.exitcode or 0)


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
        """Requests for health and metrics are not worth a line."""


_Answer = tuple[str, str, bytes]
_TEXT: Final = "text/plain; charset=utf-8"


def _make_health(
    is_ready: Callable[[], bool], queue_length: QueueLength
) -> Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]:
    registry = CollectorRegistry()
    registry.register(queue_length)
    MultiProcessCollector(registry, os.environ["PROMETHEUS_MULTIPROC_DIR"])  # type: ignore[no-untyped-call]

    def answer(path: str) -> _Answer:
        if path == "/metrics":
            return "200 OK", CONTENT_TYPE_LATEST, generate_latest(registry)
        if path == "/health/live":
            return "200 OK", _TEXT, b"live\n"
        if path == "/health/ready":
            return ("200 OK", _TEXT, b"ready\n") if is_ready() else _NOT_READY
        return "404 Not Found", _TEXT, b"there are /metrics, /health/live and /health/ready\n"

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        status, content_type, body = answer(environ["PATH_INFO"])
        start_response(status, [("Content-Type", content_type), ("Content-Length", str(len(body)))])
        return [body]

    return application


_NOT_READY: Final[_Answer] = ("503 Service Unavailable", _TEXT, b"not connected to the broker\n")
