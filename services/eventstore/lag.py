"""How far readers are behind the log, and the log's horizon behind its end."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple, NoReturn

from services.eventstore import metrics, sql
from services.eventstore.errors import StoreUnavailable, translated_errors
from services.eventstore.pool import Pool

_log = logging.getLogger(__name__)


class SubscriptionLag(NamedTuple):
    """`commits` stops counting at 1,000 in each of the 64 buckets; `seconds` is the age of the oldest of
    them.
    """

    subscription: str
    commits: int
    seconds: float
    parked: int


class HorizonLag(NamedTuple):
    """Commits, at most 10,000, that are durable but hidden from `read_all` by a transaction that is still
    open somewhere in the cluster, and the age of the oldest.
    """

    commits: int
    seconds: float


async def subscription_lags(pool: Pool) -> list[SubscriptionLag]:
    """The lag of every subscription that has ever run, by name. Raises StoreUnavailable."""
    with translated_errors():
        async with pool.connection() as connection:
            cursor = await connection.execute(sql.SUBSCRIPTION_LAG)
            return [SubscriptionLag._make(row) for row in await cursor.fetchall()]


async def horizon_lag(pool: Pool) -> HorizonLag:
    """What open transactions hide now. Raises StoreUnavailable."""
    with translated_errors():
        async with pool.connection() as connection:
            row = await (await connection.execute(sql.HORIZON_LAG)).fetchone()
    return HorizonLag(0, 0.0) if row is None else HorizonLag._make(row)


async def refresh_lag_metrics(pool: Pool) -> None:
    """Set the lag gauges to what is true now. Raises StoreUnavailable."""
    for lag in await subscription_lags(pool):
        metrics.LAG_COMMITS.labels(lag.subscription).set(lag.commits)
        metrics.LAG_SECONDS.labels(lag.subscription).set(lag.seconds)
        metrics.PARKED.labels(lag.subscription).set(lag.parked)
    hidden = await horizon_lag(pool)
    metrics.HORIZON_HIDDEN_COMMITS.set(hidden.commits)
    metrics.HORIZON_HIDDEN_SECONDS.set(hidden.seconds)


async def keep_lag_metrics(pool: Pool, every_seconds: float = 5.0) -> NoReturn:
    """Refresh the lag gauges for ever, over outages; to be run as a task and cancelled."""
    while True:
        try:
            await refresh_lag_metrics(pool)
        except StoreUnavailable as error:
            _log.warning("lag is not known: %s", error)
        await asyncio.sleep(every_seconds)
