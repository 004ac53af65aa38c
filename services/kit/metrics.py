"""What every process counts, and how Prometheus reads it."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final, Self
from wsgiref.simple_server import WSGIServer

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    start_http_server,
)

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

REQUESTS: Final = Counter(
    "baohuang_requests_total", "Requests answered, by outcome", ["protocol", "method", "code"]
)
ERRORS: Final = Counter("baohuang_errors_total", "Requests refused or failed", ["reason"])
# There from the start: a series that begins at one has no rate, so the first fault would go unseen.
ERRORS.labels("INTERNAL")
SERVING: Final = Gauge(
    "baohuang_serving", "1 while what a gRPC service depends on answers, 0 while it does not", ["service"]
)
REQUEST_SECONDS: Final = Histogram(
    "baohuang_request_seconds",
    "Time to answer a request",
    ["protocol", "method"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def render_metrics() -> bytes:
    """All metrics of this process in Prometheus' text format (`CONTENT_TYPE`)."""
    return generate_latest()


class MetricsServer:
    """`/metrics` on its own port, for processes that speak no HTTP. A context manager; port 0: a free one.

    Raises `OSError` for a port that is taken.
    """

    def __init__(self, host: str, port: int = 0) -> None:
        self._server: WSGIServer
        self._thread: threading.Thread
        try:
            self._server, self._thread = start_http_server(port, addr=host)
        except OSError as error:
            raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from error

    @property
    def port(self) -> int:
        return self._server.server_port

    def close(self) -> None:
        """Stops serving and frees the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
