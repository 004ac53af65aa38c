"""Styles, scripts and the icon, read once; their addresses change with their content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

ASSETS: Final = {
    path.name: (path.read_bytes(), _TYPES[path.suffix])
    for path in sorted(_FOLDER.iterdir())
    if path.suffix in _TYPES
}
"""Content and media type by name."""

VERSION: Final = hashlib.sha256(b"".join([body for body, _ in ASSETS.values()])).hexdigest()[:12]
"""In the path, so that modules find those that they import by relative addresses."""


def asset_url(name: str) -> str:
    """The address of an asset."""
    return f"/assets/{VERSION}/{name}"
