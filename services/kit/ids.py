"""Ids of games and commands."""

from __future__ import annotations

import base64
import re
import secrets
from typing import Final

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def new_id() -> str:
    """A random id that nobody can guess: 26 of a-z and 2-7, fit to name a file or to be an argument."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


def is_id(text: str) -> bool:
    """Whether a text may be the id of a game: 1 to 64 letters, digits, `_` or `-`."""
    return _ID.fullmatch(text) is not None
