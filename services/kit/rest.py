"""The REST edge (Litestar): the same errors as problem+json, in answers and in the OpenAPI document."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final

import grpc.aio
import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, InternalServerException, ValidationException
from litestar.openapi.datastructures import ResponseSpec

from services.kit.errors import PlatformError, Violation, to_platform_error
from services.kit.rpc import error_from_rpc, note_error

PROBLEM: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 1
"""When to try again, where nothing says more."""
BODY_SECONDS: Final = 10.0
"""How long a client may take to send a request's body."""

_REASON_OF_STATUS: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "UNAUTHENTICATED",
    HTTPStatus.FORBIDDEN: "FORBIDDEN",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "REQUEST_TOO_LARGE",
    HTTPStatus.TOO_MANY_REQUESTS: "RATE_LIMITED",
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
        headers["Retry-After"] = error.details.get("seconds", str(RETRY_AFTER_SECONDS))
    problem = problem_of(error, status)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
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
    """A request whose JSON is read strictly, as the type of its handler's `data` says."""

    async def body(self) -> bytes:
        """The body. Raises PlatformError for one that breaks off or does not come."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await super().body()
        except TimeoutError as error:
            raise PlatformError.malformed("body", f"did not arrive within {BODY_SECONDS:.0f} s") from error
        except InternalServerException as error:
            # What the framework makes of a client that goes away in the middle.
            raise PlatformError.malformed("body", "broke off") from error

    async def json(self) -> Any:
        """The body as the handler wants it. Raises PlatformError (MALFORMED_REQUEST) with the place."""
        field = self.route_handler.parsed_data_field
        return decode_json(await self.body(), Any if field is None else field.annotation)


def decode_json(content: bytes, kind: Any) -> Any:
    """A value of `kind` from JSON, in which a number is no text. Raises PlatformError with the place."""
    try:
        try:
            return msgspec.json.decode(content, type=kind, strict=True)
        except msgspec.ValidationError as error:
            if "got `float`" not in str(error):
                raise
            # To JSON Schema, and so to our document, 30.0 is a whole number.
            return msgspec.convert(_whole(msgspec.json.decode(content)), kind, strict=True)
    except msgspec.ValidationError as error:
        raise PlatformError.malformed(*_place_in_body(str(error))) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PlatformError.malformed("body", f"is no JSON: {error}") from error
    except RecursionError as error:
        raise PlatformError.malformed("body", "nested too deeply") from error


def _whole(value: Any) -> Any:
    """The value with whole numbers for those floats that are."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    return value


_PLACE: Final = re.compile(r"(?P<problem>.*?)(?: - at `(?:key in )?\$\.?(?P<place>.*)`)?", re.DOTALL)
_FIELD: Final = re.compile(r"Object (?:contains unknown|missing required) field `(?P<field>[^`]*)`")


def _place_in_body(message: str) -> tuple[str, str]:
    """The field that a message of the decoder is about, and what it says."""
    found = _PLACE.fullmatch(message)
    problem, place = (message, None) if found is None else (found["problem"], found["place"])
    named = _FIELD.match(problem)
    parts = [place or "", named["field"] if named else ""]
    field = ".".join([part.replace("[...]", "[]") for part in parts if part])
    return field or "body", problem


def _handle(request: Request[Any, Any, Any], raised: Exception) -> Response[Problem]:
    status = None
    headers: Mapping[str, str] = {}
    if isinstance(raised, grpc.aio.AioRpcError):
        error = error_from_rpc(raised)
    elif isinstance(raised, HTTPException) and raised.status_code != HTTPStatus.INTERNAL_SERVER_ERROR:
        error, status = _from_litestar(request, raised), raised.status_code
        headers = raised.headers or {}  # a 405 must say what is allowed
    else:
        error = to_platform_error(raised)
    note_error(error, raised)
    return problem_response(error, status, headers)


def _from_litestar(request: Request[Any, Any, Any], raised: HTTPException) -> PlatformError:
    violations: tuple[Violation, ...] = ()
    detail = raised.detail
    if isinstance(raised, ValidationException) and isinstance(raised.extra, list):
        violations = tuple(
            [
                Violation(_parameter(request, str(each.get("key", ""))), str(each.get("message", "")))
                for each in raised.extra
            ]
        )
        detail = "; ".join([f"{field}: {problem}" for field, problem in violations]) or detail
    reason = _REASON_OF_STATUS.get(raised.status_code, "MALFORMED_REQUEST")
    return PlatformError(reason, detail, violations=violations)


def _parameter(request: Request[Any, Any, Any], name: str) -> str:
    """What clients call a handler's parameter."""
    if name == "data":
        return "body"
    try:
        field = request.route_handler.parsed_fn_signature.parameters[name]
    except (AttributeError, KeyError):
        return name
    return getattr(field.kwarg_definition, "name", None) or name


EXCEPTION_HANDLERS: Final[
    dict[int | type[Exception], Callable[[Request[Any, Any, Any], Any], Response[Any]]]
] = {
    HTTPException: _handle,
    Exception: _handle,
}
"""For `Litestar(exception_handlers=...)`: every error leaves as problem+json with its reason."""
