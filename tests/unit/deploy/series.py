"""The metrics that the code declares, and those that rules and dashboards name."""

import importlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import promql_parser
from prometheus_client.metrics import MetricWrapperBase

from scripts.monitoring import dashboards, queries, rules
from services.bots.app import make_app
from services.bots.queue import QueueLength
from tests.unit.deploy.manifests import ROOT

WINDOW = "5m"
"""In place of `$window` where an expression is only looked at."""
NOT_OURS = {"up", "process_resident_memory_bytes", "process_cpu_seconds_total"}
SCRAPED = {"job", "component", "instance"}
"""Labels that scraping adds."""


OPERATORS = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}


class Metric(NamedTuple):
    """`kind` as Prometheus names it; a histogram's name stands for its _bucket, _sum and _count."""

    name: str
    kind: str
    labels: tuple[str, ...]


def declared() -> dict[str, Metric]:
    """Every metric of ours by name, out of the modules `services/*/metrics.py` and our own collectors."""
    found = {}
    for path in sorted((ROOT / "services").glob("*/metrics.py")):
        module = importlib.import_module(f"services.{path.parent.name}.metrics")
        for value in vars(module).values():
            if isinstance(value, MetricWrapperBase):
                (family,) = value.describe()
                name = family.name + ("_total" if family.type == "counter" else "")
                found[name] = Metric(name, family.type, tuple(value._labelnames))
    for family in QueueLength(make_app("redis://", "")).describe():
        found[family.name] = Metric(family.name, family.type, ())
    return found


def declaring_files() -> set[str]:
    """The files of the services that declare metrics, relative to the project."""
    call = re.compile(
        r"\b(?:Counter|Gauge|Histogram|Summary|Info|Enum|GaugeMetricFamily|CounterMetricFamily)\("
    )
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / "services").rglob("*.py")
        if "prometheus_client" in (text := path.read_text("utf-8")) and call.search(text)
    }


class Selector(NamedTuple):
    """A series as an expression names it."""

    name: str
    matchers: tuple[tuple[str, str, str], ...]
    """Label, operator, value."""


def selectors(expression: str) -> set[Selector]:
    """All series that a PromQL expression names. Raises ValueError for one that is no PromQL."""
    found = set()

    def visit(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.VectorSelector):
            found.add(selector_of(node))
        elif isinstance(node, promql_parser.MatrixSelector):
            found.add(selector_of(node.vector_selector))
        return True

    promql_parser.walk(promql_parser.parse(expression.replace("$window", WINDOW)), visit)
    return found


def selector_of(node: promql_parser.VectorSelector) -> Selector:
    matchers = tuple(
        sorted(
            (each.name, OPERATORS[str(each.op).rpartition(".")[2]], each.value)
            for each in node.matchers.matchers
        )
    )
    return Selector(str(node.name), matchers)


def alert_expressions() -> Iterator[tuple[str, str]]:
    """Each alert's name and expression."""
    for group in rules()["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]


def panel_expressions() -> Iterator[tuple[str, str]]:
    """Each dashboard's name, with one of its expressions."""
    for dashboard in dashboards():
        for query in queries(dashboard):
            yield dashboard["name"], query.expression


def expressions() -> list[tuple[str, str]]:
    """All of both, with where they stand."""
    return [*alert_expressions(), *panel_expressions()]


def base_name(name: str) -> str:
    """The metric that a series belongs to."""
    return re.sub(r"_(bucket|sum|count)$", "", name)
