"""The house's order: files that can be read in one go, and every dependency pinned."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]

LONGEST = 500
LONGEST_TEST = 700  # a test file is a list of cases
NOT_OURS = {".data", ".venv", "build", "dist", "node_modules"}


def source_files() -> list[Path]:
    """All hand-written *.py, *.sql and *.js files, relative to the root."""
    found = (path.relative_to(ROOT) for suffix in ("py", "sql", "js") for path in ROOT.rglob(f"*.{suffix}"))
    return sorted(path for path in found if not NOT_OURS & set(path.parts) and "_pb2" not in path.name)


def test_no_file_is_too_long_to_read() -> None:
    too_long = {}
    for path in source_files():
        lines = len((ROOT / path).read_text("utf-8").splitlines())
        if lines > (LONGEST_TEST if path.parts[0] == "tests" else LONGEST):
            too_long[str(path)] = lines
    assert too_long == {}


def test_every_dependency_is_pinned_by_name_and_version_alone() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+", line)] == []

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["dependencies"] == [], "the library itself needs nothing but Python"
    required = {
        canonicalize_name(Requirement(text).name)
        for extra in project["optional-dependencies"].values()
        for text in extra
    }
    assert required - {line.split("==")[0] for line in pins} == {"baohuang"}
