"""Running cases and printing what failed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from baohuang.rules.errors import BaohuangError
from baohuang.rules.ruleset import RuleSet
from baohuang.testing.cases import declarations, play, roles, scores, settings, throne
from baohuang.testing.cases.facts import Case, Category, Facts, fits, show, unknown
from baohuang.testing.cases.words import UninterpretableError

CATEGORIES: Mapping[str, Category] = {
    **settings.CATEGORIES,
    **play.CATEGORIES,
    **throne.CATEGORIES,
    **roles.CATEGORIES,
    **declarations.CATEGORIES,
    **scores.CATEGORIES,
}
"""What can be asked, each a function from a case to the library's answers."""

KEYS = frozenset(
    {
        "id",
        "rules",
        "clause",
        "category",
        "options",
        "situation",
        "action",
        "expect",
        "source",
        "basis",
        "note",
    }
)


def check_case(case: Mapping[str, Any]) -> list[str]:
    """What is wrong with a case, one line each, nothing if it holds for all its rule sets."""
    try:
        extra = sorted(set(case) - KEYS)
        if extra:
            raise UninterpretableError(f"a case has no keys {extra}")
        if not case.get("rules") or not case.get("expect"):
            raise UninterpretableError("a case names at least one rule set and one expected answer")
        category = CATEGORIES.get(case.get("category", ""))
        if category is None:
            raise UninterpretableError(f"there is no category {case.get('category')!r}")
        return [problem for preset in case["rules"] for problem in _check(category, case, preset)]
    except UninterpretableError as error:
        return [f"cannot interpret: {error}"]


def _check(category: Category, case: Mapping[str, Any], preset: str) -> list[str]:
    expect = case["expect"]
    try:
        answers = category(_read(case, preset))
    except UninterpretableError as error:
        return [f"{preset}: cannot interpret: {error}"]
    except (BaohuangError, LookupError, TypeError, ValueError) as error:
        return [f"{preset}: cannot set up: {type(error).__name__}: {error}"]
    missing = unknown(expect, answers)
    if missing:
        return [f"{preset}: cannot interpret: no answer to {missing}; there are {sorted(answers)}"]
    return [
        f"{preset}: {key}: expected {expected!r}, got {show(answers[key])}"
        for key, expected in expect.items()
        if key not in Facts.INFORMATION and not fits(expected, answers[key])
    ]


def _read(case: Mapping[str, Any], preset: str) -> Case:
    options = case.get("options") or {}
    action = case.get("action", "")
    situation = Facts(case.get("situation") or {}, "the situation")
    if isinstance(action, Mapping):
        act = Facts(action, "the action")
        text = ""
    else:
        act = Facts({}, "the action")
        text = str(action)
    if case["category"] == settings.OPTIONS:
        situation.require_all_read()
        return Case(RuleSet.preset(preset), frozenset(), Facts(options, "options"), text, act)
    return Case(RuleSet.preset(preset, **options), frozenset(options), situation, text, act)


def run_file(path: Path) -> tuple[int, dict[str, list[str]]]:
    """How many cases of a file hold, and what is wrong with each of the others by its id."""
    cases: Sequence[Mapping[str, Any]] = json.loads(path.read_text("utf-8"))
    failed: dict[str, list[str]] = {}
    for number, case in enumerate(cases):
        problems = check_case(case)
        if problems:
            failed[str(case.get("id", f"number {number}"))] = problems
    return len(cases) - len(failed), failed


def main(arguments: Sequence[str]) -> int:
    """Runs files of cases; 0 if all hold, 1 if one does not, 2 for a wrong call."""
    if not arguments:
        sys.stderr.write("usage: python -m baohuang.testing.cases FILE ...\n")
        return 2
    passed = failed = 0
    for argument in arguments:
        try:
            good, bad = run_file(Path(argument))
        except (OSError, ValueError) as error:
            sys.stderr.write(f"{argument}: {error}\n")
            return 2
        for name, problems in bad.items():
            for problem in problems:
                sys.stdout.write(f"{name}: {problem}\n")
        passed += good
        failed += len(bad)
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return 1 if failed else 0
