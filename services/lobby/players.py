"""Players and their tokens in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, LiteralString

import msgspec
import psycopg

from services.eventstore import Connection, Pool
from services.kit.errors import PlatformError
from services.kit.ids import new_id
from services.lobby.callers import Caller, Callers, digest_of_secret, new_secret
from services.lobby.database import connected, row_of, rows_of, transaction
from services.lobby.messages import players as messages
from services.lobby.names import checked_name, name_keys

MOST_TOKENS: Final = 50


class Players:
    """Registers players, and gives and takes tokens. Methods raise StoreUnavailable."""

    def __init__(self, pool: Pool, callers: Callers) -> None:
        self._pool = pool
        self._callers = callers

    async def register(self, request: messages.NewPlayer, scopes: Sequence[str] = ()) -> messages.Registered:
        """A new player with a first token, whose scope is `play` or `bot` unless told.

        Raises PlatformError (BAD_NAME, NAME_TAKEN).
        """
        name = checked_name(request.name)
        scopes = scopes or ("bot" if request.is_bot else "play",)
        async with transaction(self._pool) as connection:
            player_id = new_id()
            player = await _one(connection, _ADD_PLAYER, [player_id, name, request.is_bot])
            try:
                await connection.execute(_ADD_NAME_KEYS, [player_id, list(name_keys(name))])
            except psycopg.errors.UniqueViolation as error:
                raise PlatformError(
                    "NAME_TAKEN", f"the name {name!r} is another player's, or looks like it"
                ).at("name") from error
            token, secret = await _add_token(connection, player_id, "", scopes, None)
        return messages.Registered(msgspec.convert(player, messages.Player), token, secret)

    async def get(self, player_id: str) -> messages.Player:
        """A player. Raises PlatformError (PLAYER_NOT_FOUND)."""
        async with connected(self._pool) as connection:
            row = None if "\0" in player_id else await row_of(connection, _GET_PLAYER, [player_id])
        if row is None:
            raise PlatformError("PLAYER_NOT_FOUND", f"there is no player {player_id[:64]!r}")
        return msgspec.convert(row, messages.Player)

    async def add_token(self, caller: Caller, request: messages.NewToken) -> messages.TokenWithSecret:
        """Another token for the caller. Raises PlatformError (FORBIDDEN, TOO_MANY)."""
        scopes = sorted(caller.scopes) if request.scopes is None else list(dict.fromkeys(request.scopes))
        if not scopes:
            raise PlatformError.malformed("scopes", "at least one")
        beyond = sorted(set(scopes) - caller.scopes)
        if beyond:
            raise PlatformError("FORBIDDEN", f"the token that asks has not the scope {beyond[0]}").at(
                "scopes"
            )
        async with transaction(self._pool) as connection:
            # The player's row keeps out another request of his that counts at the same time.
            await connection.execute(_LOCK_PLAYER, [caller.player_id])
            if len(await rows_of(connection, _LIST_TOKENS, [caller.player_id])) >= MOST_TOKENS:
                raise PlatformError("TOO_MANY", f"a player has at most {MOST_TOKENS} tokens: revoke one")
            token, secret = await _add_token(
                connection, caller.player_id, request.label, scopes, request.expires_in_seconds
            )
        return messages.TokenWithSecret(token, secret)

    async def tokens(self, caller: Caller) -> messages.TokenList:
        """The caller's tokens that can still be used."""
        async with connected(self._pool) as connection:
            rows = await rows_of(connection, _LIST_TOKENS, [caller.player_id])
        return messages.TokenList(msgspec.convert(rows, list[messages.Token]))

    async def revoke_token(self, caller: Caller, token_id: str) -> None:
        """Take a token of the caller's, or for an operator anybody's.

        Raises PlatformError (TOKEN_NOT_FOUND).
        """
        owner = None if caller.is_operator else caller.player_id
        async with connected(self._pool) as connection:
            row = None
            if "\0" not in token_id:
                row = await row_of(connection, _REVOKE_TOKEN, {"token_id": token_id, "owner": owner})
        if row is None:
            raise PlatformError("TOKEN_NOT_FOUND", f"you have no token {token_id[:64]!r}")
        self._callers.forget(token_id)


async def _add_token(
    connection: Connection, player_id: str, label: str, scopes: Sequence[str], seconds: int | None
) -> tuple[messages.Token, str]:
    if "\0" in label:
        raise PlatformError.malformed("label", "holds a NUL")
    secret = new_secret()
    lifetime = None if seconds is None else timedelta(seconds=seconds)
    token = await _one(
        connection, _ADD_TOKEN, [new_id(), player_id, digest_of_secret(secret), label, list(scopes), lifetime]
    )
    return msgspec.convert(token, messages.Token), secret


async def _one(connection: Connection, statement: LiteralString, parameters: list[Any]) -> dict[str, Any]:
    row = await row_of(connection, statement, parameters)
    if row is None:
        raise RuntimeError("an insert gave no row")
    return row


PLAYER_COLUMNS: Final[LiteralString] = """\
player_id, name, is_bot, (extract(epoch from players.created_at) * 1000)::bigint as created_at_ms"""

_TOKEN_COLUMNS: Final[LiteralString] = """\
token_id, label, scopes, (extract(epoch from created_at) * 1000)::bigint as created_at_ms,
    (extract(epoch from expires_at) * 1000)::bigint as expires_at_ms"""

_ADD_PLAYER: Final[LiteralString] = f"""
insert into lobby.players (player_id, name, is_bot) values (%s, %s, %s) returning {PLAYER_COLUMNS}"""

_ADD_NAME_KEYS: Final[LiteralString] = """
insert into lobby.name_keys (player_id, name_key) select %s, unnest(%s::text[])"""

_GET_PLAYER: Final[LiteralString] = f"select {PLAYER_COLUMNS} from lobby.players where player_id = %s"

_LOCK_PLAYER: Final[LiteralString] = "select from lobby.players where player_id = %s for update"

_ADD_TOKEN: Final[LiteralString] = f"""
insert into lobby.tokens (token_id, player_id, digest, label, scopes, expires_at)
values (%s, %s, %s, %s, %s, clock_timestamp() + %s) returning {_TOKEN_COLUMNS}"""

_LIST_TOKENS: Final[LiteralString] = f"""
select {_TOKEN_COLUMNS} from lobby.tokens
where player_id = %s and (expires_at is null or expires_at > clock_timestamp())
order by created_at, token_id"""

_REVOKE_TOKEN: Final[LiteralString] = """
delete from lobby.tokens where token_id = %(token_id)s and (%(owner)s::text is null or player_id = %(owner)s)
returning token_id"""
