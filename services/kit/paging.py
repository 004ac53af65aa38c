"""Places in lists that are shown a page at a time, the newest first."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, Self

from services.kit.errors import PlatformError

PLACE: Final = "^[0-9a-f]{1,15}[.][A-Za-z0-9_-]{1,64}$"
"""The form of a place as text, which clients need not understand."""


class Place(NamedTuple):
    """Behind the entry of this time and id; the unit of the time is the list's own."""

    time: int
    entry_id: str

    def format(self) -> str:
        """What a client gets as `next` and gives back as `after`."""
        return f"{self.time:x}.{self.entry_id}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The place written by `format`. Raises PlatformError (MALFORMED_REQUEST)."""
        if re.fullmatch(PLACE, text) is None:
            raise PlatformError.malformed("after", f"not the `next` of a page: {text[:80]!r}")
        time, _, entry_id = text.partition(".")
        return cls(int(time, 16), entry_id)
