"""The audit of the pinned packages, on databases made here in OSV's form."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scripts.audit import CONSTRAINTS, UnusableDatabase, audit, is_affected, main, read_database, read_pins


def entry(name: str, package: str, *, ecosystem: str = "PyPI", **more: Any) -> dict[str, Any]:
    affected = {"package": {"ecosystem": ecosystem, "name": package}, "versions": more.pop("versions", [])}
    affected["ranges"] = [{"type": "ECOSYSTEM", "events": more.pop("events", [])}]
    return {"id": name, "modified": datetime.now(UTC).isoformat(), "affected": [affected], **more}


def database(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for each in entries:
            archive.writestr(f"{each['id']}.json", json.dumps(each))
    return path


@pytest.mark.parametrize(
    ("version", "events", "expected"),
    [
        ("1.0", [{"introduced": "0"}], True),
        ("1.0", [{"introduced": "0"}, {"fixed": "1.0"}], False),
        ("1.0rc1", [{"introduced": "0"}, {"fixed": "1.0"}], True),
        ("1.0.post1", [{"introduced": "0"}, {"fixed": "1.0"}], False),
        ("0.9", [{"introduced": "1.0"}, {"fixed": "2.0"}], False),
        ("1.10", [{"introduced": "1.9"}, {"fixed": "2.0"}], True),
        ("2.5", [{"introduced": "1"}, {"fixed": "2"}, {"introduced": "2.4"}, {"fixed": "2.6"}], True),
        ("2.5", [{"fixed": "2.6"}, {"introduced": "2.4"}, {"fixed": "2"}, {"introduced": "1"}], True),
        ("2.1", [{"introduced": "1"}, {"fixed": "2"}, {"introduced": "2.4"}, {"fixed": "2.6"}], False),
        ("1.5", [{"introduced": "0"}, {"last_affected": "1.5"}], True),
        ("1.6", [{"introduced": "0"}, {"last_affected": "1.5"}], False),
        ("1.5", [{"introduced": "no version"}, {"fixed": "2"}], False),
    ],
)
def test_ranges(version: str, events: list[dict[str, str]], expected: bool) -> None:
    assert is_affected(version, {"ranges": [{"type": "ECOSYSTEM", "events": events}]}) is expected
    assert not is_affected(version, {"ranges": [{"type": "GIT", "events": events}]})


def test_versions_are_compared_and_not_their_texts() -> None:
    assert is_affected("1.0", {"versions": ["1.0.0"]})
    assert not is_affected("1.0", {"versions": ["1.0.1", "not one"]})


def test_what_is_found_names_the_cure() -> None:
    entries = [
        entry(
            "GHSA-1",
            "Some_Package",
            events=[{"introduced": "0"}, {"fixed": "1.3"}],
            aliases=["CVE-1"],
            summary="bad",
        ),
        entry("GHSA-2", "some-package", versions=["1.2"]),
        entry("GHSA-3", "some-package", versions=["1.2"], withdrawn="2026-01-01T00:00:00Z"),
        entry("GHSA-4", "some-package", versions=["1.2"], ecosystem="npm"),
        entry("GHSA-5", "other", versions=["1.2"]),
    ]
    found = audit({"some-package": "1.2"}, entries)
    assert [str(each) for each in found] == [
        "some-package 1.2: GHSA-1, CVE-1: bad (fixed in 1.3)",
        "some-package 1.2: GHSA-2: no summary (not fixed yet)",
    ]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pins = read_pins(CONSTRAINTS.read_text("utf-8"))
    clean = entry("GHSA-1", "jinja2", events=[{"introduced": "0"}, {"fixed": "2.0"}])
    assert main([str(database(tmp_path, clean))]) == 0
    assert f"{len(pins)} packages, 1 entries up to" in capsys.readouterr().out
    bad = entry("GHSA-2", "Jinja2", events=[{"introduced": "0"}], aliases=["CVE-2"])
    assert main([str(database(tmp_path, clean, bad))]) == 1
    assert f"jinja2 {pins['jinja2']}: GHSA-2, CVE-2" in capsys.readouterr().out
    assert main([str(database(tmp_path, clean, bad)), "--ignore", "CVE-2"]) == 0


def test_a_database_that_tells_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = entry("GHSA-1", "jinja2") | {"modified": "2020-01-01T00:00:00Z"}
    assert main([str(database(tmp_path, old))]) == 2
    assert "knows nothing after 2020-01-01" in capsys.readouterr().err
    with pytest.raises(UnusableDatabase, match="no entry about a package of PyPI"):
        read_database(database(tmp_path, entry("GHSA-1", "left-pad", ecosystem="npm")))
    (tmp_path / "page.html").write_text("<html>not found</html>")
    assert main([str(tmp_path / "page.html")]) == 2
    assert main([str(tmp_path / "missing.zip")]) == 2
