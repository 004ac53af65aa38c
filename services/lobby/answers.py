"""First answers: what came of a request stays what came of it, however often it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, LiteralString, TypeVar

import msgspec

from services.eventstore import Connection, Pool
from services.kit.errors import PlatformError, Violation
from services.lobby.database import lock, row_of, transaction

Answer = TypeVar("Answer")

KEPT_SECONDS: Final = 86_400
# Whoever may not do something today may be allowed to tomorrow.
_NOT_FINAL: Final = frozenset({"INTERNAL", "UNAUTHENTICATED", "FORBIDDEN"})


class _Refusal(msgspec.Struct, frozen=True):
    reason: str
    message: str
    clause: str
    details: dict[str, str]
    violations: list[tuple[str, str]]


async def once(
    pool: Pool,
    player_id: str,
    key: str | None,
    request: tuple[Any, ...],
    kind: type[Answer],
    execute: Callable[[Connection], Awaitable[Answer]],
) -> Answer:
    """Execute a request in one transaction, or give what came of it under the same key before.

    `request` is its whole content, its name first. Without a key it is executed each time. Raises what
    `execute` raises; PlatformError (COMMAND_REUSED) for a key of another request; StoreUnavailable.
    """
    if key is None:
        async with transaction(pool) as connection:
            return await execute(connection)
    digest = digest_of(request)
    refusal: PlatformError | None = None
    async with transaction(pool) as connection:
        await lock(connection, "answer", player_id, key)
        row = await row_of(connection, _FIND, [player_id, key])
        if row is not None:
            return _first_answer(row, key, digest, kind)
        try:
            async with connection.transaction():
                answer = await execute(connection)
        except PlatformError as error:
            if not is_final(error):
                raise
            refusal = error
            await keep_refusal(connection, player_id, key, digest, error)
        else:
            await connection.execute(_KEEP, [player_id, key, digest, msgspec.json.encode(answer), False])
            return answer
    raise refusal


async def first_refusal(connection: Connection, player_id: str, key: str, digest: bytes) -> None:
    """Raise what a request was refused with before, if it was; COMMAND_REUSED for a key of another one."""
    row = await row_of(connection, _FIND, [player_id, key])
    if row is not None:
        _first_answer(row, key, digest, Any)


async def keep_refusal(
    connection: Connection, player_id: str, key: str, digest: bytes, error: PlatformError
) -> None:
    """Keep a final refusal as the first answer, unless there is one."""
    refusal = _Refusal(
        error.reason,
        error.message,
        error.clause,
        dict(error.details),
        [(field, problem) for field, problem in error.violations],
    )
    await connection.execute(_KEEP, [player_id, key, digest, msgspec.json.encode(refusal), True])


def is_final(error: PlatformError) -> bool:
    """Whether the same request can be told the same for ever."""
    return not error.is_retryable and error.reason not in _NOT_FINAL


def digest_of(request: tuple[Any, ...]) -> bytes:
    """Tells a request from others."""
    return hashlib.sha256(msgspec.json.encode(request, order="deterministic")).digest()


def reused(key: str) -> PlatformError:
    """The refusal of a key that belongs to another request."""
    message = f"the key {key!r} is that of another request"
    return PlatformError("COMMAND_REUSED", message).at("Idempotency-Key")


def _first_answer(row: dict[str, Any], key: str, digest: bytes, kind: type[Answer]) -> Answer:
    if row["digest"] != digest:
        raise reused(key)
    if row["is_refusal"]:
        refusal = msgspec.json.decode(row["answer"], type=_Refusal)
        raise PlatformError(
            refusal.reason,
            refusal.message,
            clause=refusal.clause,
            details=refusal.details,
            violations=tuple([Violation(*each) for each in refusal.violations]),
        )
    return msgspec.json.decode(row["answer"], type=kind)


_FIND: Final[LiteralString] = """
select digest, answer, is_refusal from lobby.answers where player_id = %s and key = %s"""

_KEEP: Final[LiteralString] = """
insert into lobby.answers (player_id, key, digest, answer, is_refusal) values (%s, %s, %s, %s, %s)
on conflict (player_id, key) do nothing"""
