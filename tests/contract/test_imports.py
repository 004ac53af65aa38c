"""Who may import whom. Import-linter's contracts are in pyproject.toml; here is what it cannot say."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "baohuang/rules").rglob("*.py"))

CHANCE = {"random", "secrets", "uuid"}
CLOCK = {"datetime", "sched", "time"}
WORLD = {"asyncio", "io", "multiprocessing", "os", "pathlib", "socket", "subprocess", "tempfile", "threading"}
ANY_MODULE = {"importlib", "pkgutil", "runpy"}  # by these any other could be reached unseen


def imported_modules(source: str, package: str) -> Iterator[str]:
    """Full names of all modules imported in `source`, inside functions too; relative ones resolved."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            yield ".".join(part for part in (base, node.module) if part)
        elif isinstance(node, ast.Name) and node.id == "__import__":
            yield "importlib"


def refused_imports(source: str, package: str = "baohuang.rules") -> list[str]:
    """The modules imported by `source` that the rules may not use."""
    allowed = sys.stdlib_module_names - CHANCE - CLOCK - WORLD - ANY_MODULE
    return [
        module
        for module in imported_modules(source, package)
        if module.split(".")[0] not in allowed and not f"{module}.".startswith("baohuang.rules.")
    ]


@pytest.mark.parametrize("path", RULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rules_use_only_themselves_and_a_harmless_part_of_the_standard_library(path: Path) -> None:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    assert refused_imports(path.read_text("utf-8"), package) == []


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("import hashlib\nfrom collections import Counter", []),
        ("from baohuang.rules.cards import Card\nfrom . import plays\nfrom .cards import Card", []),
        ("import numpy as np", ["numpy"]),
        ("import random", ["random"]),
        ("def f():\n    from time import monotonic", ["time"]),
        ("import os.path", ["os.path"]),
        ("from baohuang.game import Game", ["baohuang.game"]),
        ("from baohuang import game", ["baohuang"]),
        ("from .. import game", ["baohuang"]),
        ("from ..rulesets import x", ["baohuang.rulesets"]),
        ("__import__('random')", ["importlib"]),
    ],
)
def test_the_check_above_sees_every_form_of_import(source: str, refused: list[str]) -> None:
    assert refused_imports(source) == refused


def test_importing_baohuang_loads_nothing_but_itself_and_the_standard_library() -> None:
    program = (
        "import json, sys; before = set(sys.modules); import baohuang;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT)
    loaded = {name.split(".")[0] for name in json.loads(printed)}
    assert "baohuang" in loaded
    assert loaded - sys.stdlib_module_names == {"baohuang"}
    assert not loaded & {"asyncio", "socket", "ssl"}, "the library does no I/O, so importing it loads none"


def test_import_linter_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("top", ["baohuang", "services"])
def test_every_folder_of_modules_is_a_package(top: str) -> None:
    # A folder without __init__.py is left out of import-linter's graph, and out of its contracts with it.
    folders = {path.parent for path in (ROOT / top).rglob("*.py")}
    unmarked = [folder for folder in folders if not (folder / "__init__.py").exists()]
    assert sorted(str(folder.relative_to(ROOT)) for folder in unmarked) == []
