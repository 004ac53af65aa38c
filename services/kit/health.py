"""Health of a gRPC process (grpc.health.v1): serving only while what it depends on answers.

The name `live` stands for the process itself, whatever it depends on: restarting it would bring nothing back.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

import structlog
from grpc_health.v1.health import OVERALL_HEALTH, aio
from grpc_health.v1.health_pb2 import HealthCheckResponse

from services.kit import metrics

_log = structlog.get_logger(__name__)

LIVE: Final = "live"
"""Serving from the start to the stop."""

Probe = Callable[[], Awaitable[None]]
"""Returns when the dependency answers, raises when it does not."""


class Health:
    """Keeps the health service's answer true by asking a probe again and again."""

    def __init__(
        self,
        probe: Probe,
        services: Sequence[str],
        *,
        interval_seconds: float = 1.0,
        timeout_seconds: float = 2.0,
    ) -> None:
        self.servicer = aio.HealthServicer()
        self._probe = probe
        self._services = (OVERALL_HEALTH, *services)
        self._interval_seconds, self._timeout_seconds = interval_seconds, timeout_seconds
        self._is_serving: bool | None = None

    async def check(self) -> bool:
        """Asks the probe now, and tells the health service what it said."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._probe()
        except Exception as error:  # noqa: BLE001 (whatever the dependency raises, it does not answer)
            await self._tell(False, str(error) or type(error).__name__)
            return False
        await self._tell(True)
        return True

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Checks at once and at every interval; from the end on the process says that it does not serve."""
        await self.servicer.set(LIVE, HealthCheckResponse.SERVING)
        await self.check()
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await self.servicer.enter_graceful_shutdown()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._interval_seconds)
            await self.check()

    async def _tell(self, is_serving: bool, why: str = "") -> None:
        if is_serving is self._is_serving:
            return
        self._is_serving = is_serving
        if is_serving:
            _log.info("serving")
        else:
            _log.warning("not serving", cause=why)
        status = HealthCheckResponse.SERVING if is_serving else HealthCheckResponse.NOT_SERVING
        for service in self._services:
            if service != OVERALL_HEALTH:
                metrics.SERVING.labels(service).set(is_serving)
            await self.servicer.set(service, status)
