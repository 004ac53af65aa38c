"""What `import baohuang` offers is what is meant to be offered."""

import doctest
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import baohuang

ROOT = Path(__file__).resolve().parents[2]


def test_all_lists_exactly_the_public_names() -> None:
    public = {
        name
        for name, value in vars(baohuang).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert sorted(public) == sorted(name for name in baohuang.__all__ if not name.startswith("_"))
    assert all(hasattr(baohuang, name) for name in baohuang.__all__)
    assert len(baohuang.__all__) == len(set(baohuang.__all__))


def test_the_names_of_the_readme_are_public() -> None:
    assert {"Action", "Game", "RuleError", "RuleSet"} <= set(baohuang.__all__)


def test_the_example_of_the_package_is_true() -> None:
    result = doctest.testmod(baohuang)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_version_is_written_in_one_place() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert [
        str(path.relative_to(ROOT))
        for top in ("baohuang", "services")
        for path in sorted((ROOT / top).rglob("*.py"))
        if f'"{declared}"' in path.read_text("utf-8")
    ] == []
    assert baohuang.__version__ == declared


def test_a_name_that_is_not_there_is_missed_as_in_any_module() -> None:
    assert not hasattr(baohuang, "versions")


def test_a_library_that_is_found_but_not_installed_has_no_known_version(tmp_path: Path) -> None:
    (tmp_path / "baohuang").symlink_to(ROOT / "baohuang")
    program = "import baohuang; print(baohuang.__version__)"
    # -S: without site-packages, where the installed library is recorded.
    told = subprocess.check_output([sys.executable, "-S", "-c", program], cwd=tmp_path, text=True)
    assert told == "0+unknown\n"
