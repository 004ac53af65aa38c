"""The alert rules: each as its file of cases says, and those that can be provoked here by a real fault."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import monitoring
from tests.system.prometheus import program

pytestmark = pytest.mark.system

CASES = Path(__file__).parent / "alerts.yaml"


def promtool(*arguments: str | Path) -> str:
    """What promtool says; fails with it."""
    command = [program("promtool"), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_promtool_takes_the_rules_and_the_configuration(tmp_path: Path) -> None:
    promtool("check", "rules", "--lint-fatal", monitoring.RULES)
    made = tmp_path / "made.yaml"
    made.write_text(yaml.safe_dump(monitoring.rules()), "utf-8")
    promtool("check", "rules", "--lint-fatal", made)
    promtool("check", "config", "--syntax-only", monitoring.ROOT / "deploy/compose/prometheus.yaml")


def promtool_test(case: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any]:
    """A case of `alerts.yaml` as promtool wants it."""
    expected = {at: [] for at in case["silent"]} | {
        at: [
            {
                "exp_labels": alert.get("labels", {}) | rule["labels"],
                "exp_annotations": rule["annotations"] | {"summary": alert["summary"]},
            }
            for alert in alerts
        ]
        for at, alerts in case["fires"].items()
    }
    return {
        "name": case["alert"],
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in case["series"].items()],
        "alert_rule_test": [
            {"eval_time": at, "alertname": case["alert"], "exp_alerts": alerts}
            for at, alerts in expected.items()
        ],
    }


def test_alerts_fire_when_they_should_and_not_before(tmp_path: Path) -> None:
    """`alerts.yaml` has for each alert its series and when it must be silent or fire; promtool plays it."""
    cases = yaml.safe_load(CASES.read_text("utf-8"))
    rules = {rule["alert"]: rule for group in monitoring.rules()["groups"] for rule in group["rules"]}
    assert [case["alert"] for case in cases] == list(rules), "one case for each alert, in the rules' order"
    tests = [promtool_test(case, rules[case["alert"]]) for case in cases]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(monitoring.rules()), "utf-8")
    file = tmp_path / "tests.yaml"
    file.write_text(
        yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "15s", "tests": tests}), "utf-8"
    )
    promtool("test", "rules", file)
