"""A Prometheus watches the running platform: named series move, and faults fire their alerts.

The tests share one platform and follow each other: the last one asks what was seen in all of them.
"""

import asyncio
import os
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from baohuang import PRESETS
from services.bots.app import make_app
from services.eventstore import EventStore, make_pool
from services.eventstore.parked import discard_parked, parked_commits
from services.kit.tasks import TAKE_TURN
from services.local.first_hands import play_first_hands
from services.local.members import ServiceMember
from services.local.platform import Platform
from tests.system.prometheus import Prometheus
from tests.unit.deploy.manifests import ROOT
from tests.unit.deploy.series import Selector, alert_expressions, base_name, declared, expressions, selectors

pytestmark = [pytest.mark.system, pytest.mark.prove]

UNMOVED = {
    "baohuang_bots_faults_total": "no built-in bot makes faults",
    "baohuang_engine_streams": "only bots of others play over streams",
    "baohuang_lobby_clocks_failed_total": "the engine takes all ends of times",
    "baohuang_lobby_clocks_running": "no player sits at these tables",
    "baohuang_lobby_departures_failed_total": "the engine takes all departures",
    "baohuang_lobby_limited_total": "nobody asks so often",
    "baohuang_lobby_reaped_total": "takes minutes in which nobody comes",
    "baohuang_lobby_streams": "nobody watches",
    "baohuang_lobby_streams_cut_total": "nobody watches",
    "baohuang_lobby_tickets_waiting": "nobody looks for a match",
    "baohuang_lobby_turns_timed_out_total": "no player sits at these tables",
}
"""Series that these tests do not move, and why. They are declared, and promtool plays their rules."""
UNFIRED = {"BotFaults", "ClocksFailing"}
"""Alerts that none of these faults fires."""


def freeze(platform: Platform, name: str, number: signal.Signals) -> None:
    pid = platform.members[name].pid
    assert pid is not None
    os.kill(pid, number)


@contextmanager
def frozen(platform: Platform, name: str) -> Iterator[None]:
    """The process does nothing in the block, and knows nothing of it afterwards."""
    freeze(platform, name, signal.SIGSTOP)
    try:
        yield
    finally:
        freeze(platform, name, signal.SIGCONT)


@contextmanager
def hand(platform: Platform) -> Iterator[None]:
    """A hand that is opened and played while the block runs, whose end waits for the hand's."""
    with ThreadPoolExecutor(1) as pool:
        playing = pool.submit(play_first_hands, platform, ("lianzhong-simple",))
        yield
        assert len(playing.result()) == 1


def append_garbage(platform: Platform, stream: str) -> None:
    """A commit that no release can read."""

    async def append() -> None:
        async with make_pool(platform.database_url, max_size=1) as pool:
            await EventStore(pool).append(
                stream, command_id="c", fingerprint=b"f", expected_version=0, payload=b"?", event_count=1
            )

    asyncio.run(append())


def discard_all(platform: Platform) -> None:
    async def discard() -> None:
        async with make_pool(platform.database_url, max_size=1) as pool:
            for each in await parked_commits(pool):
                assert await discard_parked(pool, each.subscription, each.cursor)

    asyncio.run(discard())


def ask(address: str) -> int:
    """The status of the answer, 0 for none."""
    try:
        return httpx.get(address, trust_env=False, timeout=20).status_code
    except httpx.TransportError:
        return 0


@contextmanager
def asking(address: str) -> Iterator[None]:
    """Asks on and on while the block runs: each answer may take long."""
    is_over = threading.Event()

    def run() -> None:
        while not is_over.is_set():
            ask(address)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(run)
        try:
            yield
        finally:
            is_over.set()


# --- it moves


def test_every_process_is_scraped(platform: Platform, prometheus: Prometheus) -> None:
    def all_up() -> bool:
        up = {each["metric"]["component"] for each in prometheus.query("up == 1")}
        return up == set(platform.metrics_urls)

    prometheus.wait("not all processes are scraped", all_up)


def test_each_process_counts_what_the_document_says(platform: Platform) -> None:
    play_first_hands(platform, tuple(PRESETS))
    text = (ROOT / "docs/metrics.md").read_text("utf-8")
    rows = re.findall(r"^\| `(baohuang_\w+)` \| \w+ \|[^|]*\|([^|]*)\|", text, re.MULTILINE)
    for component, address in platform.metrics_urls.items():
        samples = [
            sample
            for family in text_string_to_metric_families(httpx.get(address, trust_env=False).text)
            for sample in family.samples
            if sample.name.startswith("baohuang_") and not sample.name.endswith("_created")
        ]
        assert {base_name(sample.name) for sample in samples} <= declared().keys()
        told = {name for name, processes in rows if component in processes.strip().split(", ")}
        # What a process only carries along, at nought, is not its own.
        counted = {base_name(sample.name) for sample in samples if sample.value}
        assert counted <= told, f"docs/metrics.md: {component} also counts {sorted(counted - told)}"


# --- faults


def test_all_is_well_without_faults(prometheus: Prometheus) -> None:
    prometheus.wait_until_quiet()


def test_killed_processes_are_missed(platform: Platform, prometheus: Prometheus) -> None:
    for name in platform.metrics_urls:
        killed = platform.members[name]
        assert isinstance(killed, ServiceMember)
        killed.kill()
    for name in platform.metrics_urls:
        prometheus.wait_for_alert("ProcessMissing", component=name)
        prometheus.wait_for_alert("ReplicaDown", component=name)
    prometheus.wait_until_quiet(platform.look_after)


def test_an_open_transaction_hides_the_log_and_what_it_hid_cannot_be_read(
    platform: Platform, prometheus: Prometheus
) -> None:
    with psycopg.connect(platform.database_url) as connection:
        connection.execute("select pg_current_xact_id()")
        append_garbage(platform, "garbage")
        prometheus.wait_for_alert("HorizonHidden")
        prometheus.wait_for_alert("SubscriptionBehind", subscription="lobby")
        prometheus.wait_for_alert("SubscriptionBehind", subscription="replay")
    # The lobby leaves alone what belongs to none of its tables.
    prometheus.wait_for_alert("CommitsParked", subscription="replay")
    discard_all(platform)
    prometheus.wait_for_alert(
        "InternalErrors", lambda: ask(f"{platform.replay_url}/v1/games/garbage"), component="replay"
    )
    prometheus.wait_until_quiet()


def test_bots_that_hang(platform: Platform, prometheus: Prometheus) -> None:
    with hand(platform), frozen(platform, "bots"):
        prometheus.wait_for_alert("TurnsLate")
    prometheus.wait_until_quiet()


def test_turns_that_the_engine_refuses_fill_the_queue(platform: Platform, prometheus: Prometheus) -> None:
    app = make_app(platform.valkey_url, "")

    def send() -> None:
        with app.producer_or_acquire() as producer:
            for seat in range(500):
                app.send_task(TAKE_TURN, args=("nowhere", seat % 5, 1, "greedy"), producer=producer)

    prometheus.wait_for_alert("QueueGrows", send)
    prometheus.wait_for_alert("TurnsRefused", bot="greedy")
    with app.connection_for_write() as connection:
        app.control.purge(connection=connection)
    app.close()
    prometheus.wait_until_quiet()


def test_a_broker_that_hangs(platform: Platform, prometheus: Prometheus) -> None:
    with hand(platform):
        prometheus.wait(
            "no turn was sent", lambda: bool(prometheus.query("baohuang_lobby_turns_waiting > 0"))
        )
        with frozen(platform, "valkey"):
            prometheus.wait_for_alert("BrokerRefuses")
            prometheus.wait_for_alert("LimitsAway")
            prometheus.wait_for_alert("RequestsSlow", component="lobby")
    prometheus.wait_until_quiet()


def test_an_engine_that_hangs(platform: Platform, prometheus: Prometheus) -> None:
    with hand(platform), frozen(platform, "engine"):
        prometheus.wait_for_alert("HandsWaiting")
        prometheus.wait_for_alert("OpeningsFailing", reason="ENGINE_AWAY")
    prometheus.wait_until_quiet()


def test_a_database_that_is_away(platform: Platform, prometheus: Prometheus) -> None:
    platform.members["postgres"].stop()
    prometheus.wait_for_alert("LogUnavailable")
    prometheus.wait_for_alert("TurnsOfFollowersFailing", subscription="replay")
    with asking(f"{platform.replay_url}/v1/games"):
        prometheus.wait_for_alert("RequestsFailing", component="replay")
    prometheus.wait_until_quiet(platform.look_after)


# --- what was seen


def test_every_alert_was_provoked_or_says_why_not(prometheus: Prometheus) -> None:
    seen = {
        each["metric"]["alertname"]
        for each in prometheus.query('last_over_time(ALERTS{alertstate="firing"}[1h])')
    }
    assert {name for name, _ in alert_expressions()} - seen <= UNFIRED


def has_moved(prometheus: Prometheus, selector: Selector) -> bool:
    """Whether any of its series has changed, or for what only grows has come into being above nought."""
    text = (
        selector.name
        + "{"
        + ",".join(f'{label}{op}"{value}"' for label, op, value in selector.matchers)
        + "}"
    )
    changed = prometheus.query(f"max_over_time({text}[1h]) - min_over_time({text}[1h]) > 0")
    grown = selector.name.endswith(("_total", "_bucket")) and prometheus.query(
        f"max_over_time({text}[1h]) > 0"
    )
    return bool(changed or grown)


def test_every_series_that_is_named_has_moved(prometheus: Prometheus) -> None:
    still = {
        f"{place}: {selector}"
        for place, expression in expressions()
        for selector in selectors(expression)
        if base_name(selector.name) not in UNMOVED and not has_moved(prometheus, selector)
    }
    assert still == set()


def test_no_log_tells_a_password_whatever_happened(platform: Platform) -> None:
    passwords = [urlsplit(address).password for address in (platform.database_url, platform.valkey_url)]
    logs = {path.name: path.read_text("utf-8", "replace") for path in platform.log_dir.iterdir()}
    assert set(logs) >= {f"{name}.log" for name in platform.metrics_urls}
    assert any("Error" in text or "error" in text for text in logs.values()), "nothing went wrong?"
    for name, text in logs.items():
        assert not [password for password in passwords if password and password in text], name
