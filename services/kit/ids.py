"""Ids of games and commands."""

from __future__ import annotations

import re
import secrets
from typing import Final

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def new_id() -> str:
    """A random id of 22 characters that nobody can guess."""
    return secrets.token_urlsafe(16)


def is_id(text: str) -> bool:
    """Whether a text may be the id of a game: 1 to 64 letters, digits, `_` or `-`."""
    return _ID.fullmatch(text) is not None
