"""How much a client may ask for, counted in Valkey over all replicas."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Final, NamedTuple, Self

import redis.asyncio
import structlog
from redis.exceptions import RedisError

from services.kit.errors import PlatformError
from services.lobby import metrics


class Limit(NamedTuple):
    """At most `burst` at once, and `per_minute` in the long run."""

    per_minute: int
    burst: int


LIMITS: Final = {
    "requests": Limit(per_minute=3_000, burst=200),  # of a token
    "public": Limit(per_minute=1_200, burst=100),  # of an address, without a token
    "registrations": Limit(per_minute=2, burst=20),  # of an address
    "tables": Limit(per_minute=60, burst=60),  # opened by a player
    "streams": Limit(per_minute=300, burst=300),  # opened by a player
}
"""All limits by name. BAOHUANG_LIMIT_FACTOR multiplies them."""

# A counter is the time at which everything taken so far is worked off; what does not fit into the burst
# before that has to wait. Times are the server's, so that all replicas mean the same.
_TAKE: Final = """
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local free = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + ARGV[1]
local wait = free - now - ARGV[1] * ARGV[2]
if wait > 0 then
    return math.ceil(wait)
end
redis.call('SET', KEYS[1], string.format('%.0f', free), 'PX', math.ceil((free - now) / 1000) + 1)
return 0
"""

_log = structlog.get_logger(__name__)


class Limits:
    """Counts requests. Used as an asynchronous context manager.

    Without Valkey nothing is counted and everything let through: games must go on.
    """

    def __init__(self, url: str, factor: int = 1) -> None:
        self._factor = factor
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            url, max_connections=20, timeout=1, socket_connect_timeout=1, socket_timeout=1
        )
        self._client = redis.asyncio.Redis.from_pool(pool)
        self._take = self._client.register_script(_TAKE)
        self._is_away = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def take(self, name: str, who: str) -> None:
        """Count one request of somebody. Raises PlatformError (RATE_LIMITED) with limit and seconds."""
        if not self._factor:
            return
        limit = LIMITS[name]
        interval_us = 60_000_000 / (limit.per_minute * self._factor)
        try:
            wait_us = int(
                await self._take(
                    keys=[f"baohuang:limit:{name}:{who}"], args=[interval_us, limit.burst * self._factor]
                )
            )
        except RedisError as error:
            metrics.LIMITS_AWAY.inc()
            if not self._is_away:
                _log.warning("requests are not counted", cause=str(error))
            self._is_away = True
            return
        self._is_away = False
        if wait_us > 0:
            metrics.LIMITED.labels(name).inc()
            seconds = max(1, math.ceil(wait_us / 1_000_000))
            raise PlatformError(
                "RATE_LIMITED",
                f"too many {name}: at most {limit.per_minute * self._factor} a minute; "
                f"try again in {seconds} s",
                details={"limit": name, "seconds": seconds},
            )
