"""Who calls: from the secret of a token to a player."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, LiteralString

from services.eventstore import Pool
from services.kit.errors import PlatformError
from services.lobby.database import connected, row_of

KNOWN_SECONDS: Final = 5.0
"""How long a token that was revoked may still be taken for good."""
_MOST_KNOWN: Final = 20_000
_SECRET: Final = re.compile("bh_[0-9a-f]{48}")


@dataclass(frozen=True, slots=True)
class Caller:
    """A player with the scopes of the token that he uses."""

    player_id: str
    name: str
    is_bot: bool
    token_id: str
    scopes: frozenset[str]

    @property
    def is_operator(self) -> bool:
        return "operator" in self.scopes

    def require(self, *scopes: str) -> None:
        """Raises PlatformError (FORBIDDEN) unless the token has one of these scopes."""
        if self.scopes.isdisjoint(scopes):
            raise PlatformError("FORBIDDEN", f"this takes a token with the scope {' or '.join(scopes)}")

    def require_player(self) -> None:
        """Raises PlatformError (FORBIDDEN) unless the token may sit at tables."""
        self.require("bot" if self.is_bot else "play")


def new_secret() -> str:
    """The secret of a new token."""
    return f"bh_{secrets.token_hex(24)}"


def digest_of_secret(secret: str) -> bytes:
    """What is kept of a secret. It is random enough to need neither salt nor a slow digest."""
    return hashlib.sha256(secret.encode()).digest()


def unauthenticated(problem: str) -> PlatformError:
    """The refusal of a call without a good token."""
    return PlatformError("UNAUTHENTICATED", problem)


class Callers:
    """Looks tokens up, and remembers them for some seconds."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: OrderedDict[bytes, tuple[float, Caller]] = OrderedDict()

    async def caller(self, secret: str) -> Caller:
        """The player whose token this is. Raises PlatformError (UNAUTHENTICATED), StoreUnavailable."""
        if not _SECRET.fullmatch(secret):
            raise unauthenticated("this is no token; POST /v1/players gives one")
        digest = digest_of_secret(secret)
        known = self._known.get(digest)
        if known is not None and time.monotonic() < known[0]:
            return known[1]
        async with connected(self._pool) as connection:
            row = await row_of(connection, _FIND, [digest])
        if row is None:
            self._known.pop(digest, None)
            raise unauthenticated("this token is unknown, was revoked, or has expired")
        caller = Caller(
            row["player_id"], row["name"], row["is_bot"], row["token_id"], frozenset(row["scopes"])
        )
        self._known[digest] = time.monotonic() + KNOWN_SECONDS, caller
        self._known.move_to_end(digest)
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return caller

    def forget(self, token_id: str) -> None:
        """Look a token up anew at its next use."""
        for digest in [digest for digest, (_, caller) in self._known.items() if caller.token_id == token_id]:
            del self._known[digest]


_FIND: Final[LiteralString] = """
select player_id, name, is_bot, token_id, scopes
from lobby.tokens join lobby.players using (player_id)
where digest = %s and (expires_at is null or expires_at > clock_timestamp())"""
