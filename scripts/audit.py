"""Compares the pinned packages with a local copy of the OSV vulnerability database. Needs no network.

Usage: python -m scripts.audit DATABASE [--ignore ID ...] [--most-days N]

DATABASE is OSV's export of the ecosystem PyPI, all.zip, fetched where that is possible (osv.dev says how) and
brought here. What it does not know yet is not found: one whose newest entry is older than --most-days (30) is
refused. Exit status: 0 nothing known, 1 something found, 2 the database cannot be used.
"""

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

CONSTRAINTS: Final = Path(__file__).resolve().parent.parent / "constraints.txt"


class UnusableDatabase(ValueError):
    """The file is no export of OSV's, or too old to be relied on."""


class Finding(NamedTuple):
    """A pinned release that an entry says is vulnerable; `fixed` names the releases that mend it."""

    package: str
    version: str
    entry: str
    aliases: tuple[str, ...]
    summary: str
    fixed: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join((self.entry, *self.aliases))
        cure = f"fixed in {' or '.join(self.fixed)}" if self.fixed else "not fixed yet"
        return f"{self.package} {self.version}: {names}: {self.summary or 'no summary'} ({cure})"


def read_pins(text: str) -> dict[str, str]:
    """Releases by package, from the text of constraints.txt."""
    pins = (line.split("==") for line in text.splitlines() if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pins}


def read_database(path: Path) -> list[dict[str, Any]]:
    """All entries of an export. Raises UnusableDatabase."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [
                json.loads(archive.read(name)) for name in archive.namelist() if name.endswith(".json")
            ]
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise UnusableDatabase(f"{path} is no export of OSV's: {error}") from error
    if not any(_affected(entry) for entry in entries):
        raise UnusableDatabase(f"{path} has no entry about a package of PyPI")
    return entries


def newest(entries: list[dict[str, Any]]) -> datetime:
    """When the latest of the entries was last changed."""
    return max(datetime.fromisoformat(entry["modified"]) for entry in entries)


def audit(pins: Mapping[str, str], entries: list[dict[str, Any]]) -> list[Finding]:
    """What the entries say of the pinned releases, by package; entries that were withdrawn say nothing."""
    found = [
        Finding(
            name,
            pins[name],
            entry["id"],
            tuple(entry.get("aliases", ())),
            entry.get("summary", ""),
            tuple(sorted(set(_fixed(affected)))),
        )
        for entry in entries
        if "withdrawn" not in entry
        for affected in _affected(entry)
        if (name := canonicalize_name(affected["package"]["name"])) in pins
        and is_affected(pins[name], affected)
    ]
    return sorted(set(found))


def is_affected(text: str, affected: Mapping[str, Any]) -> bool:
    """Whether a release is among the versions or within a range of an entry's `affected`."""
    version = Version(text)
    if any(_version(each) == version for each in affected.get("versions", ())):
        return True
    return any(
        _within(version, each["events"])
        for each in affected.get("ranges", ())
        if each["type"] == "ECOSYSTEM"  # the other kind counts commits
    )


def _within(version: Version, events: list[dict[str, str]]) -> bool:
    """Each event opens or closes: the last one that the version has reached decides."""
    inside = False
    for kind, bound in sorted(_events(events), key=lambda event: (event[1], event[0] == "introduced")):
        if kind == "last_affected":
            inside = inside and version <= bound
        elif version >= bound:
            inside = kind == "introduced"
    return inside


def _events(events: list[dict[str, str]]) -> Iterator[tuple[str, Version]]:
    for event in events:
        for kind, text in event.items():
            bound = _version(text)
            if bound is not None:
                yield kind, bound


def _version(text: str) -> Version | None:
    """None for one that is older than today's form of versions: no pin of ours is."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _affected(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [each for each in entry.get("affected", ()) if each.get("package", {}).get("ecosystem") == "PyPI"]


def _fixed(affected: Mapping[str, Any]) -> Iterator[str]:
    for each in affected.get("ranges", ()):
        if each["type"] == "ECOSYSTEM":
            yield from (event["fixed"] for event in each["events"] if "fixed" in event)


def main(arguments: list[str] | None = None) -> int:
    """Prints what was found; gives the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("database", type=Path)
    parser.add_argument("--ignore", nargs="*", default=[], metavar="ID")
    parser.add_argument("--most-days", type=int, default=30)
    options = parser.parse_args(arguments)
    pins = read_pins(CONSTRAINTS.read_text("utf-8"))
    try:
        entries = read_database(options.database)
        date = newest(entries)
        if datetime.now(UTC) - date > timedelta(days=options.most_days):
            raise UnusableDatabase(f"{options.database} knows nothing after {date:%Y-%m-%d}: fetch it anew")
    except UnusableDatabase as error:
        print(error, file=sys.stderr)
        return 2
    found = [
        finding
        for finding in audit(pins, entries)
        if not {finding.entry, *finding.aliases} & set(options.ignore)
    ]
    for finding in found:
        print(finding)
    print(f"{len(pins)} packages, {len(entries)} entries up to {date:%Y-%m-%d}: {len(found)} found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
