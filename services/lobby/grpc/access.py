"""Who calls over gRPC, and what all methods share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import unquote

import grpc.aio
import msgspec
import structlog

from services.kit.errors import PlatformError
from services.kit.ids import new_id
from services.kit.rest import decode_json
from services.lobby.application import Lobby
from services.lobby.callers import Caller, unauthenticated

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Body = TypeVar("Body")

REQUEST_ID: Final = "x-request-id"
_VISIBLE: Final = re.compile("[!-~]{1,64}")
_BEARER: Final = "Bearer "
_PEER: Final = re.compile(r"ipv[46]:(?P<host>.*):\d+")


class Access:
    """Tells who calls. Methods raise PlatformError (UNAUTHENTICATED, RATE_LIMITED), StoreUnavailable."""

    def __init__(self, lobby: Lobby, proxies: int = 0) -> None:
        self.lobby = lobby
        self._proxies = proxies

    async def caller(self, context: Context) -> Caller:
        """Who calls."""
        caller = await self.guest(context)
        if caller is None:
            raise unauthenticated("this takes a token: metadata `authorization: Bearer TOKEN`")
        return caller

    async def guest(self, context: Context) -> Caller | None:
        """Who calls, None for somebody without a token."""
        metadata = await self.begin(context)
        address = self.address(context, metadata)
        secret = secret_of(metadata)
        if secret is None:
            await self.lobby.limits.take("public", address)
            return None
        return await self.lobby.caller(secret, address)

    async def begin(self, context: Context) -> Mapping[str, str]:
        """Tell the caller his call's id, his own if he gave one; gives his metadata."""
        metadata = texts_of(context)
        given = metadata.get(REQUEST_ID, "")
        request_id = given if _VISIBLE.fullmatch(given) else new_id()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        await context.send_initial_metadata(((REQUEST_ID, request_id),))
        return metadata

    def address(self, context: Context, metadata: Mapping[str, str]) -> str:
        """Where a call comes from, behind so many proxies of ours that add to x-forwarded-for."""
        hops = [hop.strip() for hop in metadata.get("x-forwarded-for", "").split(",")]
        if self._proxies and len(hops) >= self._proxies and hops[-self._proxies]:
            return hops[-self._proxies]
        found = _PEER.fullmatch(context.peer() or "")
        return unquote(found["host"]).strip("[]") if found else "unknown"


def texts_of(context: Context) -> dict[str, str]:
    """The metadata that are text; of a name given twice the last one."""
    return {name: value for name, value in context.invocation_metadata() or () if isinstance(value, str)}


def secret_of(metadata: Mapping[str, str]) -> str | None:
    """The secret that a call carries. Raises PlatformError (UNAUTHENTICATED) for another scheme."""
    header = metadata.get("authorization")
    if header is None:
        return None
    if not header.startswith(_BEARER):
        raise unauthenticated("authorization is `Bearer TOKEN`")
    return header.removeprefix(_BEARER).strip()


def body(kind: type[Body], fields: Mapping[str, Any]) -> Body:
    """A request's fields as the body that REST reads, by the same rules. Raises PlatformError."""
    return decode_json(msgspec.json.encode(fields), kind)  # type: ignore[no-any-return]


def key_of(command_id: str) -> str | None:
    """The idempotency key that a command id is; none if it is empty. Raises PlatformError."""
    if not command_id:
        return None
    if _VISIBLE.fullmatch(command_id) is None:
        raise PlatformError.malformed("command_id", "1 to 64 visible ASCII characters")
    return command_id


def seat_of(number: int) -> int:
    """A seat of a request. Raises PlatformError (MALFORMED_REQUEST)."""
    if not 0 <= number <= 4:
        raise PlatformError.malformed("seat", f"there is no seat {number}; seats are 0 to 4")
    return number
