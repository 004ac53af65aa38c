"""Metrics, alerts, dashboards and their documents agree. Whether the metrics move shows tests/system."""

import json
import re
from collections import Counter

import promql_parser
import pytest

from scripts import monitoring
from tests.unit.deploy.manifests import KUSTOMIZE, ROOT, named, of_kind, render
from tests.unit.deploy.series import (
    NOT_OURS,
    SCRAPED,
    Metric,
    alert_expressions,
    base_name,
    declared,
    declaring_files,
    expressions,
    panel_expressions,
    selectors,
)

METRICS = declared()
METRIC = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
FEW = set(
    "bot code fault kind limit method protocol reason result rules send service state subscription".split()
) | {"termination", "what", "why"}
"""Labels whose values are names in the code or in the contracts: no client can add one."""
PRODUCTION = render(KUSTOMIZE / "overlays/production")


# --- names


@METRIC
def test_names_follow_the_conventions(metric: Metric) -> None:
    assert re.fullmatch(r"baohuang(_[a-z]+)+", metric.name)
    assert metric.kind in {"counter", "gauge", "histogram"}
    assert (metric.kind == "counter") == metric.name.endswith("_total")
    # Base units, and only at the end: no milliseconds, no kilobytes, no percent.
    assert not re.search(r"_(ms|millis|milliseconds|minutes|kb|mb|percent|ratio_percent)(_|$)", metric.name)
    if metric.kind == "histogram":
        assert metric.name.endswith(("_seconds", "_bytes"))
    assert not re.search(r"_(count|sum|bucket|info)$", metric.name)


@METRIC
def test_no_label_has_values_without_end(metric: Metric) -> None:
    unknown = set(metric.labels) - FEW
    assert not unknown, f"{metric.name}: is each value of {unknown} one of a few? Then say so in FEW"


def test_metrics_are_declared_where_they_are_looked_for() -> None:
    looked_at = {str(path.relative_to(ROOT)) for path in (ROOT / "services").glob("*/metrics.py")}
    assert declaring_files() == looked_at | {"services/bots/queue.py"}


# --- expressions


@pytest.mark.parametrize(("place", "expression"), expressions())
def test_expressions_name_metrics_and_labels_that_are_there(place: str, expression: str) -> None:
    for selector in selectors(expression):
        if selector.name in NOT_OURS:
            labels = set()
        else:
            metric = METRICS.get(selector.name) or METRICS.get(base_name(selector.name))
            assert metric is not None, f"{place}: no process shows {selector.name} any more"
            labels = set(metric.labels) | ({"le"} if metric.kind == "histogram" else set())
        named = {label for label, _, _ in selector.matchers}
        assert named <= labels | SCRAPED, f"{place}: {selector.name} has no label {named - labels - SCRAPED}"


def calls(node: promql_parser.Expr) -> list[tuple[str, str]]:
    """Functions over a range, with the series that each is applied to."""
    found = []

    def visit(each: promql_parser.Expr) -> bool:
        if isinstance(each, promql_parser.Call):
            found.extend(
                (each.func.name, str(argument.vector_selector.name))
                for argument in each.args
                if isinstance(argument, promql_parser.MatrixSelector)
            )
        return True

    promql_parser.walk(node, visit)
    return found


@pytest.mark.parametrize(("place", "expression"), expressions())
def test_rates_are_of_counters_and_nothing_else(place: str, expression: str) -> None:
    node = promql_parser.parse(expression.replace("$window", "5m"))
    rated = {name for _, name in calls(node)}
    for function, name in calls(node):
        assert function == "rate"
        assert re.search(r"_(total|bucket|count|sum)$", name), f"{place}: {name} does not only grow"
    for selector in selectors(expression):
        if selector.name.endswith(("_total", "_bucket")):
            assert selector.name in rated, f"{place}: {selector.name} only ever grows: what is its rate?"


# --- alerts and runbook


def test_every_alert_has_its_part_of_the_runbook_and_nothing_else_has() -> None:
    alerts = [name for name, _ in alert_expressions()]
    assert Counter(alerts).most_common(1)[0][1] == 1
    text = (ROOT / "docs/runbook.md").read_text("utf-8")
    assert re.findall(r"^### (\w+)$", text, re.MULTILINE) == alerts
    for name, part in re.findall(r"^### (\w+)\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL):
        assert {"Means", "Look", "Do"} == set(re.findall(r"^\*\*(\w+)\.\*\*", part, re.MULTILINE)), name


def test_the_runbook_names_how_urgent_each_is() -> None:
    text = (ROOT / "docs/runbook.md").read_text("utf-8")
    rules = {rule["alert"]: rule for group in monitoring.rules()["groups"] for rule in group["rules"]}
    told = dict(re.findall(r"^\| \[(\w+)\]\(#\w+\) \| (page|ticket) \|", text, re.MULTILINE))
    assert told == {name: rule["labels"]["severity"] for name, rule in rules.items()}


# --- what is made of them


def test_what_is_made_is_up_to_date() -> None:
    assert monitoring.drift() == [], "run: python -m scripts.monitoring generate"


def test_the_cluster_gets_the_alerts_and_every_dashboard() -> None:
    (rule,) = of_kind(PRODUCTION, "PrometheusRule")
    assert rule["spec"] == monitoring.rules()
    config = named(PRODUCTION, "ConfigMap", "dashboards")
    assert config["metadata"]["labels"]["grafana_dashboard"] == "1"
    made = {
        f"{dashboard['name']}.json": monitoring.grafana(dashboard) for dashboard in monitoring.dashboards()
    }
    assert {name: json.loads(text) for name, text in config["data"].items()} == made


def test_panels_do_not_overlap_and_have_numbers_of_their_own() -> None:
    for dashboard in monitoring.dashboards():
        panels = monitoring.grafana(dashboard)["panels"]
        assert len({panel["id"] for panel in panels}) == len(panels)
        taken: set[tuple[int, int]] = set()
        for panel in panels:
            place = panel["gridPos"]
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            assert not taken & cells
            assert place["x"] + place["w"] <= 24
            taken |= cells


def test_what_wakes_somebody_can_be_seen_on_a_dashboard() -> None:
    shown = {selector.name for _, text in panel_expressions() for selector in selectors(text)}
    for alert, text in alert_expressions():
        assert {selector.name for selector in selectors(text)} <= shown, alert


# --- docs/metrics.md


def test_the_table_of_metrics_is_complete_and_true() -> None:
    text = (ROOT / "docs/metrics.md").read_text("utf-8")
    row = r"^\| `(baohuang_\w+)` \| (\w+) \|([^|]*)\|([^|]*)\|([^|]*)\|$"
    rows = re.findall(row, text, re.MULTILINE)
    told = {
        name: Metric(name, kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _, _ in rows
    }
    assert told == METRICS, "docs/metrics.md: a row for each metric, with its labels"
    assert all(meaning.strip() for *_, meaning in rows)
    kinds = {each["metadata"]["name"] for each in of_kind(PRODUCTION, "Deployment")}
    shown_by = {word for _, _, _, processes, _ in rows for word in processes.strip().split(", ")}
    assert shown_by == kinds
