"""Finished games as a version of the platform wrote them: where they lie and how they are read."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
CHECKSUMS = FOLDER / "SHA256SUMS"


@dataclass(frozen=True)
class StoredCommit:
    """A row of the log: its payload and the schema version beside it."""

    schema_version: int
    version: int
    payload: bytes

    def dumps(self) -> str:
        payload = base64.b64encode(self.payload).decode()
        return json.dumps(
            {"schema_version": self.schema_version, "version": self.version, "payload": payload}
        )

    @classmethod
    def loads(cls, line: str) -> StoredCommit:
        fields = json.loads(line)
        return cls(fields["schema_version"], fields["version"], base64.b64decode(fields["payload"]))


@dataclass(frozen=True)
class History:
    """One game in both forms; the name begins with its version's folder."""

    name: str
    record: str
    commits: tuple[StoredCommit, ...]

    @property
    def files(self) -> dict[str, str]:
        """The text of each file by its path in the folder."""
        commits = "".join(f"{commit.dumps()}\n" for commit in self.commits)
        return {f"{self.name}.record.jsonl": self.record, f"{self.name}.commits.jsonl": commits}


def read_histories() -> list[History]:
    """All histories of all versions, by name."""
    found = []
    for path in sorted(FOLDER.glob("v*/*.record.jsonl")):
        commits = path.with_name(path.name.replace(".record.", ".commits."))
        found.append(
            History(
                str(path.relative_to(FOLDER)).removesuffix(".record.jsonl"),
                path.read_text("utf-8"),
                tuple(StoredCommit.loads(line) for line in commits.read_text("utf-8").splitlines()),
            )
        )
    return found


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
