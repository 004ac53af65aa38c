"""Who calls over HTTP, and what all operations share."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.di import NamedDependency, Provide
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import SecurityScheme
from litestar.params import HeaderParameter

from services.kit.rest import refusals
from services.lobby.application import Lobby
from services.lobby.callers import Caller, unauthenticated

Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        min_length=1,
        max_length=64,
        pattern=r"^[!-~]+$",
        description="Makes a request safe to send again for a day: the same key and request give the first "
        "answer, a final refusal too.",
    ),
]
LobbyDependency = NamedDependency[Lobby]
CallerDependency = NamedDependency[Caller]
GuestDependency = NamedDependency[Caller | None]

SCHEME: Final = "token"
TOKEN: Final[list[dict[str, list[str]]]] = [{SCHEME: []}]
"""`security` of operations that need a token."""
NO_TOKEN: Final[list[dict[str, list[str]]]] = [{}, {SCHEME: []}]
"""`security` of those that need none, but show more to whoever has one."""
SECURITY_SCHEME: Final = SecurityScheme(
    type="http", scheme="bearer", description="`secret` of a token: `Authorization: Bearer bh_…`"
)
_BEARER: Final = "Bearer "


def answers(*statuses: HTTPStatus, guest: bool = False) -> dict[int, ResponseSpec]:
    """The refusals that an operation documents, with those of all operations."""
    every = [HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS]
    if not guest:
        every.append(HTTPStatus.FORBIDDEN)
    return refusals(*sorted({*every, *statuses}))


def secret_of(request: Request[Any, Any, Any]) -> str | None:
    """The secret that a request carries. Raises PlatformError (UNAUTHENTICATED) for another scheme."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    if not header.startswith(_BEARER):
        raise unauthenticated("Authorization is `Bearer TOKEN`")
    return header.removeprefix(_BEARER).strip()


def address_of(request: Request[Any, Any, Any], proxies: int) -> str:
    """Where a request comes from, behind so many proxies of ours that add to X-Forwarded-For."""
    if proxies:
        hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")]
        if len(hops) >= proxies and hops[-proxies]:
            return hops[-proxies]
    return request.client.host if request.client else "unknown"


async def provide_lobby(state: State) -> Lobby:
    """The application."""
    lobby: Lobby = state.lobby
    return lobby


async def provide_caller(request: Request[Any, Any, Any], state: State) -> Caller:
    """Who calls. Raises PlatformError (UNAUTHENTICATED, RATE_LIMITED)."""
    caller = await provide_guest(request, state)
    if caller is None:
        raise unauthenticated("this takes a token: `Authorization: Bearer TOKEN`")
    return caller


async def provide_guest(request: Request[Any, Any, Any], state: State) -> Caller | None:
    """Who calls, None for somebody without a token. Raises PlatformError (UNAUTHENTICATED, RATE_LIMITED)."""
    lobby: Lobby = state.lobby
    secret = secret_of(request)
    address = address_of(request, state.proxies)
    if secret is None:
        await lobby.limits.take("public", address)
        return None
    return await lobby.caller(secret, address)


DEPENDENCIES: Final = {
    "lobby": Provide(provide_lobby),
    "caller": Provide(provide_caller),
    "guest": Provide(provide_guest),
}
