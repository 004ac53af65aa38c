"""One error for all edges, and the one table that says what each reason is on gRPC and on REST.

Whatever a service raises on purpose carries a `reason`, a name of `ErrorReason` in the contracts.
`to_platform_error` brings all of them to `PlatformError`; `kit.rpc` and `kit.rest` put that on the wire, and
`kit.rpc` reads it back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from grpc import StatusCode

from baohuang import BaohuangError, Reason
from baohuang.rpc.codec import CodecError

# gRPC carries errors in headers, of which clients take 8 KB: a message percent-encoded, and again with all
# the rest in base64. Longer texts are cut.
MOST_MESSAGE_BYTES: Final = 1_000
MOST_DETAIL_BYTES: Final = 2_000
"""Of all details and violations together."""


class Status(NamedTuple):
    """What a reason is on the wire. `is_retryable`: the same request may succeed later as it stands."""

    grpc: StatusCode
    http: HTTPStatus
    is_retryable: bool = False


class Violation(NamedTuple):
    """A field of the request that is not as the contract says; `field` is its path, `actions[0].cards`."""

    field: str
    problem: str


class PlatformError(Exception):
    """A refusal or failure as clients see it. Raises `ValueError` for a reason unknown to the contracts.

    `details` are texts by name, `clause` the rule that was broken ("" where none was).
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        clause: str = "",
        details: Mapping[str, object] | None = None,
        violations: tuple[Violation, ...] = (),
    ) -> None:
        if reason not in STATUSES:
            raise ValueError(f"{reason!r} is no reason of the contracts")
        super().__init__(message)
        self.reason = str(reason)
        self.message = _cut(message, MOST_MESSAGE_BYTES)
        self.clause = clause
        texts = [(name, _text(value)) for name, value in (details or {}).items()]
        within = _within(MOST_DETAIL_BYTES, [*violations, *texts])
        self.violations = tuple([Violation(*pair) for pair in within[: len(violations)]])
        self.details: Mapping[str, str] = dict(within[len(violations) :])

    def __str__(self) -> str:
        where = f" [{self.clause}]" if self.clause else ""
        return f"{self.reason}{where}: {self.message}"

    @property
    def status(self) -> Status:
        """What this is on the wire."""
        return STATUSES[self.reason]

    @property
    def is_retryable(self) -> bool:
        """Whether the same request, with the same command id, may succeed later."""
        return self.status.is_retryable

    @classmethod
    def malformed(cls, field: str, problem: str) -> PlatformError:
        """A request whose `field` is not as the contract says."""
        return cls("MALFORMED_REQUEST", f"{field}: {problem}", violations=(Violation(field, problem),))

    def at(self, field: str) -> PlatformError:
        """This error with the request's field that it comes from."""
        return PlatformError(
            self.reason,
            self.message,
            clause=self.clause,
            details=self.details,
            violations=(*self.violations, Violation(field, self.message)),
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, most_bytes: int) -> str:
    return text.encode(errors="replace")[:most_bytes].decode(errors="ignore")


def _within(most_bytes: int, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first pairs that have room, each with a second text of a quarter of it at most."""
    kept = []
    for name, text in pairs:
        cut = _cut(text, MOST_DETAIL_BYTES // 4)
        most_bytes -= len(name.encode(errors="replace")) + len(cut.encode())
        if most_bytes < 0:
            break
        kept.append((name, cut))
    return kept


def to_platform_error(error: BaseException) -> PlatformError:
    """The error as clients may see it; one that nobody foresaw becomes INTERNAL and tells nothing."""
    if isinstance(error, PlatformError):
        return error
    if isinstance(error, CodecError):
        return PlatformError.malformed(error.field, error.problem)
    if isinstance(error, BaohuangError):
        return PlatformError(error.reason, error.message, clause=error.clause, details=error.details)
    reason = getattr(error, "reason", None)
    if not isinstance(reason, str) or reason not in STATUSES:
        return PlatformError("INTERNAL", "an internal error; it was logged")
    if reason == "STORE_UNAVAILABLE":
        # What the database said is for the log, not for clients.
        return PlatformError(reason, "the event store cannot answer now; try again with the same command id")
    return PlatformError(reason, str(error))


_MALFORMED: Final = Status(StatusCode.INVALID_ARGUMENT, HTTPStatus.BAD_REQUEST)
_AGAINST_THE_RULES: Final = Status(StatusCode.FAILED_PRECONDITION, HTTPStatus.UNPROCESSABLE_ENTITY)
_NOT_FOUND: Final = Status(StatusCode.NOT_FOUND, HTTPStatus.NOT_FOUND)
_EXISTS: Final = Status(StatusCode.ALREADY_EXISTS, HTTPStatus.CONFLICT)
_WRONG_PHASE: Final = Status(StatusCode.FAILED_PRECONDITION, HTTPStatus.CONFLICT)
_UNAVAILABLE: Final = Status(StatusCode.UNAVAILABLE, HTTPStatus.SERVICE_UNAVAILABLE, is_retryable=True)

_MALFORMED_BY_LIBRARY: Final = (
    Reason.MALFORMED_CARD,
    Reason.MALFORMED_ACTION,
    Reason.UNKNOWN_PRESET,
    Reason.UNKNOWN_OPTION,
    Reason.BAD_OPTION_VALUE,
    Reason.OPTIONS_CONFLICT,
    Reason.BAD_DEAL,
    Reason.BAD_SEED,
    Reason.BAD_SEAT,
    Reason.BAD_RECORD,
    Reason.UNKNOWN_BOT,
)

STATUSES: Final[Mapping[str, Status]] = {
    **{str(reason): _AGAINST_THE_RULES for reason in Reason},
    **{str(reason): _MALFORMED for reason in _MALFORMED_BY_LIBRARY},
    "MALFORMED_REQUEST": _MALFORMED,
    "REQUEST_TOO_LARGE": Status(StatusCode.RESOURCE_EXHAUSTED, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    "UNAUTHENTICATED": Status(StatusCode.UNAUTHENTICATED, HTTPStatus.UNAUTHORIZED),
    "FORBIDDEN": Status(StatusCode.PERMISSION_DENIED, HTTPStatus.FORBIDDEN),
    "NOT_FOUND": _NOT_FOUND,
    "GAME_NOT_FOUND": _NOT_FOUND,
    "TABLE_NOT_FOUND": _NOT_FOUND,
    "PLAYER_NOT_FOUND": _NOT_FOUND,
    "TOKEN_NOT_FOUND": _NOT_FOUND,
    "TICKET_NOT_FOUND": _NOT_FOUND,
    "BAD_NAME": _MALFORMED,
    "NAME_TAKEN": _EXISTS,
    "SEAT_TAKEN": _WRONG_PHASE,
    "TABLE_FULL": _WRONG_PHASE,
    "ALREADY_SEATED": _WRONG_PHASE,
    "NOT_SEATED": _WRONG_PHASE,
    "WRONG_PHASE": _WRONG_PHASE,
    "BOTS_NOT_ALLOWED": _WRONG_PHASE,
    "TOO_MANY": _WRONG_PHASE,
    "RATE_LIMITED": Status(StatusCode.RESOURCE_EXHAUSTED, HTTPStatus.TOO_MANY_REQUESTS, is_retryable=True),
    "READER_TOO_SLOW": _UNAVAILABLE,
    "GAME_EXISTS": _EXISTS,
    "COMMAND_REUSED": _EXISTS,
    "VERSION_CONFLICT": Status(StatusCode.ABORTED, HTTPStatus.CONFLICT),
    "DEADLINE_EXCEEDED": Status(StatusCode.DEADLINE_EXCEEDED, HTTPStatus.GATEWAY_TIMEOUT, is_retryable=True),
    "STORE_UNAVAILABLE": _UNAVAILABLE,
    "SERVICE_UNAVAILABLE": _UNAVAILABLE,
    "INTERNAL": Status(StatusCode.INTERNAL, HTTPStatus.INTERNAL_SERVER_ERROR),
}
"""All reasons of the contracts."""
