"""How many turns lie in the queue, asked of the broker whenever Prometheus asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Final

import structlog
from celery import Celery
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from services.kit.tasks import BOTS_QUEUE

# Prometheus waits for 10 seconds by default, and the rest of the metrics waits with it.
_SECONDS: Final = 2

_log = structlog.get_logger(__name__)


class QueueLength(Collector):
    """The metric `baohuang_bots_queued_turns`; it is left out while the broker does not answer.

    Every worker shows the same number: the queue is one.
    """

    def __init__(self, app: Celery) -> None:
        self._app = app
        # A connection serves one question at a time, and scrapes may overlap.
        self._lock = threading.Lock()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The gauge, with a value if there is one."""
        gauge = GaugeMetricFamily("baohuang_bots_queued_turns", "Turns that wait in the broker's queue")
        try:
            gauge.add_metric([], self._length())
        except Exception as error:  # noqa: BLE001 (each transport raises errors of its own)
            _log.warning("the length of the queue is not known", cause=str(error))
        yield gauge

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The gauge's name alone, so that registering it asks nothing."""
        yield GaugeMetricFamily("baohuang_bots_queued_turns", "Turns that wait in the broker's queue")

    def _length(self) -> int:
        with self._lock, self._app.connection_for_read(connect_timeout=_SECONDS) as connection:
            connection.ensure_connection(max_retries=1, timeout=_SECONDS)
            queue = self._app.amqp.queues[BOTS_QUEUE].bind(connection.default_channel)
            # Declares it as the worker does, so that the question also has an answer before the first turn.
            answer: Any = queue.queue_declare()  # kombu's stubs know only the name that it stands for
            return int(answer.message_count)
