"""The REST edge (Litestar): the same errors as problem+json, and `/metrics`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

import grpc.aio
from litestar import MediaType, Request, Response, get
from litestar.exceptions import HTTPException, ValidationException

from services.kit import metrics
from services.kit.errors import PlatformError, Violation, to_platform_error
from services.kit.rpc import error_from_rpc, note_error

PROBLEM: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 1

_REASON_OF_STATUS: Final = {
    HTTPStatus.UNAUTHORIZED: "UNAUTHENTICATED",
    HTTPStatus.FORBIDDEN: "FORBIDDEN",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "REQUEST_TOO_LARGE",
    HTTPStatus.SERVICE_UNAVAILABLE: "SERVICE_UNAVAILABLE",
}


def problem_body(error: PlatformError, status: int | None = None) -> dict[str, Any]:
    """The body of RFC 9457: with `reason`; `clause`, `details`, `violations` where it has any."""
    http = error.status.http
    body: dict[str, Any] = {
        "type": f"urn:baohuang:{error.reason.lower().replace('_', '-')}",
        "title": error.reason.replace("_", " ").capitalize(),
        "status": http.value if status is None else status,
        "reason": error.reason,
        "detail": error.message,
    }
    if error.clause:
        body["clause"] = error.clause
    if error.details:
        body["details"] = dict(error.details)
    if error.violations:
        body["violations"] = [violation._asdict() for violation in error.violations]
    return body


def problem_response(
    error: PlatformError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response[dict[str, Any]]:
    """The answer to a request that ended in this error; `status` overrides the reason's own."""
    headers = dict(headers or {})
    if error.is_retryable:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    code = error.status.http.value if status is None else status
    return Response(problem_body(error, status), status_code=code, headers=headers, media_type=PROBLEM)


def _handle(_: Request[Any, Any, Any], raised: Exception) -> Response[dict[str, Any]]:
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
    known = [status for status in _REASON_OF_STATUS if status == raised.status_code]
    violations: tuple[Violation, ...] = ()
    if isinstance(raised, ValidationException) and isinstance(raised.extra, list):
        violations = tuple(
            [Violation(str(each.get("key", "")), str(each.get("message", ""))) for each in raised.extra]
        )
    reason = _REASON_OF_STATUS[known[0]] if known else "MALFORMED_REQUEST"
    return PlatformError(reason, raised.detail, violations=violations)


EXCEPTION_HANDLERS: Final[
    dict[int | type[Exception], Callable[[Request[Any, Any, Any], Any], Response[Any]]]
] = {
    HTTPException: _handle,
    Exception: _handle,
}
"""For `Litestar(exception_handlers=...)`: every error leaves as problem+json with its reason."""


@get("/metrics", media_type=MediaType.TEXT, include_in_schema=False, sync_to_thread=False)
def metrics_route() -> Response[bytes]:
    """This process's metrics for Prometheus."""
    return Response(metrics.render_metrics(), media_type=metrics.CONTENT_TYPE)
