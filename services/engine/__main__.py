"""`python -m services.engine`: the engine, told by its environment (services/kit/settings.py).

Exit code 0: stopped when asked; 1: could not start; 2: a setting cannot be used.
"""

from __future__ import annotations

import contextlib
import sys

import structlog
import uvloop

from services.engine.server import serving
from services.eventstore import EventStore, StoreError, make_pool
from services.eventstore.restored import check_restored
from services.eventstore.wakeups import WakeupListener, WakeupSender
from services.kit.garbage import rare_collections
from services.kit.logging import configure_logging
from services.kit.metrics import MetricsServer
from services.kit.settings import SettingError, Settings
from services.kit.shutdown import stop_signals

_log = structlog.get_logger("services.engine")


async def run(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT.

    Raises OSError for a port that is taken, StoreError for a log that cannot be written to.
    """
    with stop_signals() as stop:
        async with contextlib.AsyncExitStack() as stack:
            pool = make_pool(
                settings.database_url,
                max_size=settings.database_connections,
                application="baohuang-engine",
            )
            await stack.enter_async_context(pool)
            await check_restored(pool)
            sender = listener = None
            if settings.valkey_url:
                sender = await stack.enter_async_context(WakeupSender(settings.valkey_url))
                listener = await stack.enter_async_context(WakeupListener(settings.valkey_url))
            metrics = stack.enter_context(MetricsServer(settings.host, settings.metrics_port))
            port = await stack.enter_async_context(
                serving(EventStore(pool, sender), listener=listener, host=settings.host, port=settings.port)
            )
            await stack.enter_async_context(rare_collections())
            _log.info("listening", host=settings.host, port=port, metrics_port=metrics.port)
            await stop.wait()
            _log.info("stopping")
    _log.info("stopped")


def main() -> int:
    """Gives the exit code."""
    try:
        settings = Settings.from_environment().require("database_url")
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    configure_logging("engine", level=settings.log_level, log_format=settings.log_format)
    try:
        uvloop.run(run(settings))
    except (OSError, StoreError) as error:
        print(f"engine: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
