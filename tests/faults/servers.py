"""The servers that all tests of this folder share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from services.local.postgres import LocalPostgres
from services.local.valkey import LocalValkey
from tests.faults.forge import Forge

KILLS: Counter[str] = Counter()
"""How often each process was killed in this run."""


class Servers(NamedTuple):
    """Postgres is killed and comes back; `folder` is for logs."""

    postgres: LocalPostgres
    valkey: LocalValkey
    forge: Forge
    folder: Path
