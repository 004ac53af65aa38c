"""The rule cases hold, and their runner notices wrong answers and whatever it does not understand."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from baohuang.testing.cases import check_case

DATA = Path(__file__).resolve().parents[2] / "data/cases"
CASES = [
    case for name in ("rules.json", "more.json") for case in json.loads((DATA / name).read_text("utf-8"))
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['clause']}")
def test_case_holds(case: dict[str, Any]) -> None:
    assert check_case(case) == []


def test_ids_are_unique() -> None:
    ids = [case["id"] for case in CASES]
    assert len(set(ids)) == len(ids)


def wrong(value: Any) -> Any:
    """Another answer of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return "K" if value != "K" else "Q"
        case list():
            return [*value, "K"]
        case dict():
            return {key: wrong(each) for key, each in value.items()}
    return "7"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_wrong_answer_is_noticed(case: dict[str, Any]) -> None:
    for key, value in case["expect"].items():
        changed = {**case, "expect": {key: wrong(value)}}
        problems = check_case(changed)
        assert problems, (key, changed["expect"])
        assert all(f"{key}: expected" in problem for problem in problems)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_nothing_in_a_case_is_overlooked(case: dict[str, Any]) -> None:
    changes: list[tuple[str, Any]] = [
        ("situation", {**case["situation"], "sky": "blue"}),
        ("action", "frobnicate" if isinstance(case["action"], str) else {"frobnicate": 1}),
        ("expect", {**case["expect"], "sky": "blue"}),
        ("expect", {}),
        ("rules", []),
        ("rules", ["no-such-rules"]),
        ("category", "weather"),
        ("sky", "blue"),
    ]
    for key, value in changes:
        if case["category"] == "options" and key == "action":
            continue
        problems = check_case({**copy.deepcopy(case), key: value})
        assert problems, key
        assert "cannot" in problems[0], (key, problems)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "baohuang.testing.cases", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=DATA.parents[2])


def test_command_ends_with_the_count_and_tells_failures(tmp_path: Path) -> None:
    good, bad = CASES[0], {**CASES[0], "id": "X1", "expect": {"total": 1}}
    odd = {**CASES[0], "id": "X2", "category": "weather"}
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([good, bad, odd]), "utf-8")
    result = run(str(path))
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "X1: jiaodong: total: expected 1, got 165",
        "X2: cannot interpret: there is no category 'weather'",
        "1 passed, 2 failed",
    ]


def test_command_passes_over_both_files() -> None:
    result = run(str(DATA / "rules.json"), str(DATA / "more.json"))
    assert (result.returncode, result.stdout) == (0, f"{len(CASES)} passed, 0 failed\n")


@pytest.mark.parametrize("arguments", [[], ["no-such-file.json"]])
def test_command_refuses_a_wrong_call(arguments: list[str]) -> None:
    assert run(*arguments).returncode == 2
