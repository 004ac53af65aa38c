"""Why the lobby refuses a request. `where` is the place in the request, such as `bots[2]`."""

from __future__ import annotations

from typing import ClassVar


class LobbyError(Exception):
    """Base of what the lobby refuses on its own account; `reason` is one of the contracts'."""

    reason: ClassVar[str]

    def __init__(self, message: str, *, where: str) -> None:
        super().__init__(message)
        self.where = where


class MalformedRequest(LobbyError):
    """The request is not of the form that the interface describes."""

    reason = "MALFORMED_REQUEST"


class UnknownBot(LobbyError):
    """There is no built-in bot of that name."""

    reason = "UNKNOWN_BOT"


class TableNotFound(LobbyError):
    """There is no such table."""

    reason = "TABLE_NOT_FOUND"


class KeyReused(LobbyError):
    """The idempotency key was used before for another request; nothing was done."""

    reason = "COMMAND_REUSED"
