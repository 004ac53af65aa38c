"""A real Prometheus beside the running platform, fast enough to see faults come and go within seconds."""

import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from services.local.ports import LOOPBACK, ReservedPort
from services.local.server import Deadline

PATIENCE_SECONDS = 120.0
SCRAPE = "500ms"
WINDOW = "10s"
"""Range of all rates here, in place of minutes."""
PENDING = "1s"
"""How long a condition must hold here before its alert fires, in place of minutes."""


def program(name: str) -> str:
    """Where Debian's Prometheus has put `name`. Fails with the command that installs it."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is missing: apt-get install prometheus")
    return found


def quickened(rules: Mapping[str, Any]) -> dict[str, Any]:
    """These rules with seconds in place of minutes: the same conditions, seen sooner."""
    return {
        "groups": [
            {
                **group,
                "interval": SCRAPE,
                "rules": [
                    {**rule, "for": PENDING, "expr": re.sub(r"\[\d+m\]", f"[{WINDOW}]", rule["expr"])}
                    for rule in group["rules"]
                ],
            }
            for group in rules["groups"]
        ]
    }


class Prometheus:
    """A running server."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, trust_env=False, timeout=10)

    def close(self) -> None:
        self._client.close()

    def is_ready(self) -> bool:
        try:
            return self._client.get("/-/ready").is_success
        except httpx.TransportError:
            return False

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What an expression gives now, a list of {metric, value}."""
        answer = self._client.get("/api/v1/query", params={"query": expression}).json()
        assert answer["status"] == "success", answer
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    def firing(self) -> list[dict[str, str]]:
        """The labels of all alerts that fire now, their names under `alertname`."""
        alerts = self._client.get("/api/v1/alerts").json()["data"]["alerts"]
        return [alert["labels"] for alert in alerts if alert["state"] == "firing"]

    def is_firing(self, name: str, **labels: str) -> bool:
        wanted = {"alertname": name, **labels}.items()
        return any(wanted <= found.items() for found in self.firing())

    def wait_for_alert(
        self, name: str, meanwhile: Callable[[], object] = lambda: None, **labels: str
    ) -> None:
        """Until it fires; `meanwhile` is done again and again."""
        self.wait(f"{name} {labels} does not fire", lambda: self.is_firing(name, **labels), meanwhile)

    def wait_until_quiet(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Until no alert fires any more."""
        self.wait("alerts go on", lambda: not self.firing(), meanwhile)

    def wait(
        self, what: str, look: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None
    ) -> None:
        deadline = Deadline(PATIENCE_SECONDS)
        while not look():
            assert not deadline.has_passed(), (
                f"{what} after {PATIENCE_SECONDS:.0f} s; firing: {self.firing()}"
            )
            meanwhile()
            deadline.pause()


@contextmanager
def watching(targets: Mapping[str, str], rules: Mapping[str, Any], folder: Path) -> Iterator[Prometheus]:
    """A Prometheus that scrapes these addresses, by component, and evaluates these rules."""
    (folder / "rules.yaml").write_text(yaml.safe_dump(dict(rules)), "utf-8")
    config = {
        "global": {"scrape_interval": SCRAPE, "evaluation_interval": SCRAPE},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [
            {
                "job_name": "baohuang",
                "static_configs": [
                    {"targets": [urlsplit(address).netloc], "labels": {"component": component}}
                    for component, address in targets.items()
                ],
            }
        ],
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config), "utf-8")
    port = ReservedPort(0, "Prometheus", "no setting")
    port.release()
    command = [
        program("prometheus"),
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={LOOPBACK}:{port.number}",
        "--log.level=warn",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        server = Prometheus(f"http://{LOOPBACK}:{port.number}")
        try:

            def check() -> None:
                assert process.poll() is None, (folder / "log").read_text("utf-8")

            server.wait("Prometheus is not ready", server.is_ready, check)
            yield server
        finally:
            server.close()
            process.send_signal(signal.SIGTERM)
            process.wait()
