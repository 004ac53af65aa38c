"""The Celery application: its settings, each with its reason, and its tasks."""

from __future__ import annotations

from typing import Any, Final

import structlog
from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown

from services.bots.engine import Engine
from services.bots.turn import take_turn
from services.kit.tasks import BOTS_QUEUE, TAKE_TURN

_TIME_LIMIT_SECONDS: Final = 30
_REDIS_OPTIONS: Final = {
    # A task that its worker never confirmed lies hidden for so long: well above the time limit, or running
    # tasks would be handed out again.
    "visibility_timeout": 120,
    # How often hidden tasks are looked for. With the defaults (10 s, every 10th time) a killed worker's
    # tasks lay around for a minute and a half longer than they had to.
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    # A broker that vanishes without a word is noticed, rather than waited for without end.
    "socket_timeout": 10,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 10,
}


def make_app(broker_url: str, engine_target: str) -> Celery:
    """The application with its tasks, which call the engine over a channel that each process makes itself."""
    app = Celery("baohuang-bots", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_default_queue=BOTS_QUEUE,
        task_serializer="json",
        accept_content=["json"],
        # What came of a turn is in the log; nobody reads results.
        task_ignore_result=True,
        # A task counts as done after it was done, so that a killed worker's come back: they are idempotent.
        task_acks_late=True,
        # ... also when only the process that ran it was killed.
        task_reject_on_worker_lost=True,
        # No worker hoards turns that another one could take now.
        worker_prefetch_multiplier=1,
        # The first limit raises inside a bot that thinks too long, the second kills the process it hangs in.
        task_soft_time_limit=_TIME_LIMIT_SECONDS // 2,
        task_time_limit=_TIME_LIMIT_SECONDS,
        # How long tasks have to end when the worker is asked to stop; the rest goes back to the queue.
        worker_soft_shutdown_timeout=5.0,
        # A worker outlives any absence of its broker, at its start too.
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # Logs are set up by the process.
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        # Nobody commands workers over the broker, and so nobody who reaches it can.
        worker_enable_remote_control=False,
        broker_transport_options=_REDIS_OPTIONS if broker_url.startswith("redis") else {},
    )
    _register(app, engine_target)
    return app


def _register(app: Celery, engine_target: str) -> None:
    engines: list[Engine] = []

    def connect(**_: Any) -> None:
        engines.append(Engine(engine_target))

    def disconnect(**_: Any) -> None:
        for engine in engines:
            engine.close()

    worker_process_init.connect(connect, weak=False)
    worker_process_shutdown.connect(disconnect, weak=False)

    @app.task(name=TAKE_TURN)
    def turn(game_id: str, seat: int, version: int, bot: str) -> None:
        with structlog.contextvars.bound_contextvars(game_id=game_id):
            take_turn(engines[0], game_id, seat, version, bot)
