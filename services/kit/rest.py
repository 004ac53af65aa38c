"""The REST edge (Litestar): the same errors as problem+json, in answers and in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final

import grpc.aio
import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi.datastructures import ResponseSpec

from services.kit.errors import PlatformError, Violation, to_platform_error
from services.kit.rpc import error_from_rpc, note_error

PROBLEM: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 1

_REASON_OF_STATUS: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "UNAUTHENTICATED",
    HTTPStatus.FORBIDDEN: "FORBIDDEN",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "REQUEST_TOO_LARGE",
    HTTPStatus.SERVICE_UNAVAILABLE: "SERVICE_UNAVAILABLE",
}


class FieldViolation(msgspec.Struct, frozen=True):
    """One thing that is wrong with a request, and where in it."""

    field: str
    problem: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request was refused (RFC 9457). Programs compare `reason`; `clause` is the rule behind it."""

    type: str
    title: str
    status: int
    reason: Annotated[str, msgspec.Meta(examples=["UNKNOWN_PRESET"])]
    detail: str
    clause: str = ""
    details: dict[str, str] = {}
    violations: list[FieldViolation] = []


def problem_of(error: PlatformError, status: int | None = None) -> Problem:
    """The body of the answer to a request that ended in this error; `status` overrides the reason's own."""
    return Problem(
        type=f"urn:baohuang:{error.reason.lower().replace('_', '-')}",
        title=error.reason.replace("_", " ").capitalize(),
        status=error.status.http.value if status is None else status,
        reason=error.reason,
        detail=error.message,
        clause=error.clause,
        details=dict(error.details),
        violations=[FieldViolation(*violation) for violation in error.violations],
    )


def problem_response(
    error: PlatformError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response[Problem]:
    """The answer to a request that ended in this error; `status` overrides the reason's own."""
    headers = dict(headers or {})
    if error.is_retryable:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    problem = problem_of(error, status)
    return Response(problem, status_code=problem.status, headers=headers, media_type=PROBLEM)


def refusals(*statuses: HTTPStatus) -> dict[int, ResponseSpec]:
    """What an operation documents of its refusals; any may find what it depends on away."""
    return {
        status.value: ResponseSpec(
            Problem, description=status.phrase, media_type=PROBLEM, generate_examples=False
        )
        for status in (*statuses, HTTPStatus.SERVICE_UNAVAILABLE)
    }


class BodyRequest(Request[Any, Any, Any]):
    """A request whose JSON is refused like any malformed one if it is nested too deeply to be read."""

    async def json(self) -> Any:
        """The body as plain values. Raises PlatformError, or the framework's error for what is no JSON."""
        try:
            return await super().json()
        except RecursionError as error:
            raise PlatformError.malformed("body", "nested too deeply") from error


def _handle(_: Request[Any, Any, Any], raised: Exception) -> Response[Problem]:
    status = None
    headers: Mapping[str, str] = {}
    if isinstance(raised, grpc.aio.AioRpcError):
        error = error_from_rpc(raised)
    elif isinstance(raised, HTTPException) and raised.status_code != HTTPStatus.INTERNAL_SERVER_ERROR:
        error, status = _from_litestar(raised), raised.status_code
        headers = raised.headers or {}  # a 405 must say what is allowed
    else:
        error = to_platform_error(raised)
    note_error(error, raised)
    return problem_response(error, status, headers)


def _from_litestar(raised: HTTPException) -> PlatformError:
    violations: tuple[Violation, ...] = ()
    if isinstance(raised, ValidationException) and isinstance(raised.extra, list):
        violations = tuple(
            [Violation(str(each.get("key", "")), str(each.get("message", ""))) for each in raised.extra]
        )
    reason = _REASON_OF_STATUS.get(raised.status_code, "MALFORMED_REQUEST")
    return PlatformError(reason, raised.detail, violations=violations)


EXCEPTION_HANDLERS: Final[
    dict[int | type[Exception], Callable[[Request[Any, Any, Any], Any], Response[Any]]]
] = {
    HTTPException: _handle,
    Exception: _handle,
}
"""For `Litestar(exception_handlers=...)`: every error leaves as problem+json with its reason."""
