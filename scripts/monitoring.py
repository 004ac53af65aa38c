"""Makes Grafana's dashboards and the PrometheusRule in deploy/ from what people write, or compares the two.

Usage: python -m scripts.monitoring generate|check
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "deploy/kustomize/components/monitoring"
RULES: Final = FOLDER / "rules.yaml"
DASHBOARDS: Final = FOLDER / "dashboards.yaml"
RUNBOOK: Final = "https://example.org/baohuang/docs/runbook.md"
"""Where the alerts say that their part of the runbook is; an overlay may put another address in its place."""

_WIDTH: Final = 24
_HEIGHT: Final = 8
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}


class Query(NamedTuple):
    """One line of a panel: PromQL in which `$window` stands for the range of a rate, and a legend."""

    expression: str
    legend: str

    @classmethod
    def parse(cls, text: str) -> "Query":
        """The query written as "expression | legend"."""
        expression, _, legend = text.rpartition(" | ")
        return cls(expression, legend)


def dashboards() -> list[dict[str, Any]]:
    """What dashboards.yaml holds."""
    found: list[dict[str, Any]] = yaml.safe_load(DASHBOARDS.read_text("utf-8"))
    return found


def queries(dashboard: dict[str, Any]) -> list[Query]:
    """All queries of a dashboard, in order."""
    return [
        Query.parse(text) for row in dashboard["rows"] for panel in row["panels"] for text in panel["queries"]
    ]


def rules() -> dict[str, Any]:
    """What rules.yaml holds, each alert with the address of its part of the runbook."""
    found: dict[str, Any] = yaml.safe_load(RULES.read_text("utf-8"))
    for group in found["groups"]:
        for rule in group["rules"]:
            rule["annotations"]["runbook_url"] = f"{RUNBOOK}#{rule['alert'].lower()}"
    return found


def grafana(dashboard: dict[str, Any]) -> dict[str, Any]:
    """A dashboard as Grafana reads it: rows below each other, the panels of a row side by side."""
    return {
        "uid": f"baohuang-{dashboard['name']}",
        "title": dashboard["title"],
        "description": dashboard["about"],
        "tags": ["baohuang"],
        "schemaVersion": 39,
        "editable": False,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "10s",
        "templating": {
            "list": [{"name": "source", "label": "Source", "type": "datasource", "query": "prometheus"}]
        },
        "panels": list(_panels(dashboard["rows"])),
    }


def _panels(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    number, top = 1, 0
    for row in rows:
        yield {
            "id": number,
            "type": "row",
            "title": row["title"],
            "collapsed": False,
            "gridPos": {"x": 0, "y": top, "w": _WIDTH, "h": 1},
            "panels": [],
        }
        number, top = number + 1, top + 1
        width = _WIDTH // len(row["panels"])
        for place, panel in enumerate(row["panels"]):
            yield {
                "id": number,
                "type": "timeseries",
                "title": panel["title"],
                "description": panel.get("about", ""),
                "datasource": _SOURCE,
                "gridPos": {"x": place * width, "y": top, "w": width, "h": _HEIGHT},
                "fieldConfig": {"defaults": {"unit": panel["unit"], "min": 0}, "overrides": []},
                "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
                "targets": [
                    {
                        "refId": chr(ord("A") + index),
                        "datasource": _SOURCE,
                        "expr": query.expression.replace("$window", "$__rate_interval"),
                        "legendFormat": query.legend,
                    }
                    for index, query in enumerate(map(Query.parse, panel["queries"]))
                ],
            }
            number += 1
        top += _HEIGHT


def prometheus_rule() -> dict[str, Any]:
    """The alerts as the Prometheus operator reads them."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "baohuang", "labels": {"app.kubernetes.io/component": "monitoring"}},
        "spec": rules(),
    }


def made() -> dict[Path, str]:
    """The text of each file that is made, by its path."""
    files = {
        FOLDER / "dashboards" / f"{dashboard['name']}.json": json.dumps(
            grafana(dashboard), indent=1, ensure_ascii=False
        )
        + "\n"
        for dashboard in dashboards()
    }
    note = "# Made by `python -m scripts.monitoring generate` from rules.yaml.\n"
    text = yaml.safe_dump(prometheus_rule(), sort_keys=False, allow_unicode=True, width=110)
    return files | {FOLDER / "prometheus-rule.yaml": note + text}


def drift() -> list[str]:
    """The files that are not as they would be made, or would not be made at all."""
    wanted = made()
    stale = set((FOLDER / "dashboards").glob("*.json")) - wanted.keys()
    wrong = {path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text}
    return sorted(str(path.relative_to(ROOT)) for path in stale | wrong)


def main() -> int:
    """Exit status: 0 done or no drift, 1 drift, 2 wrong usage."""
    match sys.argv[1:]:
        case ["generate"]:
            (FOLDER / "dashboards").mkdir(exist_ok=True)
            for path, text in made().items():
                path.write_text(text, "utf-8")
            return 0
        case ["check"]:
            found = drift()
            for name in found:
                print(f"not as made: {name}")
            return 1 if found else 0
        case _:
            print(__doc__)
            return 2


if __name__ == "__main__":
    sys.exit(main())
