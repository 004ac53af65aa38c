"""Bodies that no form could describe are refused like those that break it."""

from __future__ import annotations

from typing import Any

from litestar import Request

from services.lobby.errors import MalformedRequest


class BodyRequest(Request[Any, Any, Any]):
    """A request whose JSON is nested no deeper than it can be read."""

    async def json(self) -> Any:
        """The body as plain values. Raises MalformedRequest, or the framework's error for no JSON."""
        try:
            return await super().json()
        except RecursionError as error:
            raise MalformedRequest("the body is nested too deeply", where="body") from error
