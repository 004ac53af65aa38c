"""The length of the bots' queue, as Prometheus is told it."""

from prometheus_client import CollectorRegistry, generate_latest

from services.bots.app import make_app
from services.bots.queue import QueueLength
from services.kit.tasks import TAKE_TURN
from services.local.valkey import LocalValkey


def shown(queue: QueueLength) -> list[str]:
    registry = CollectorRegistry()
    registry.register(queue)
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_the_queue_is_counted(valkey: LocalValkey) -> None:
    app = make_app(valkey.url.removesuffix("/0") + "/7", "127.0.0.1:1")
    queue = QueueLength(app)
    assert shown(queue) == ["baohuang_bots_queued_turns 0.0"]
    for seat in range(3):
        app.send_task(TAKE_TURN, args=("game", seat, 1, "greedy"))
    assert shown(queue) == ["baohuang_bots_queued_turns 3.0"]
    with app.connection_for_write() as connection:
        app.control.purge(connection=connection)
    assert shown(queue) == ["baohuang_bots_queued_turns 0.0"]
    app.close()


def test_a_broker_that_is_away_costs_no_other_metric() -> None:
    app = make_app("redis://127.0.0.1:1/0", "127.0.0.1:1")
    assert shown(QueueLength(app)) == []
    app.close()
