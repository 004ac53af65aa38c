"""The one map of errors: total over the contracts' reasons, and silent about what clients may not know."""

from http import HTTPStatus

import msgspec
import pytest
from grpc import StatusCode

from baohuang import CardError, Reason, RuleError, RuleSet, RuleSetError
from baohuang.rpc.codec import CodecError
from baohuang.rpc.game.v1 import error_pb2
from services.eventstore import CommandReused, NotFirstWrite, StoreUnavailable, VersionConflict
from services.kit.errors import MOST_MESSAGE_BYTES, STATUSES, PlatformError, Violation, to_platform_error
from services.kit.rest import problem_of

REASONS = {name.removeprefix("ERROR_REASON_") for name in dict(error_pb2.ErrorReason.items())}


def test_every_reason_of_the_contracts_has_a_status_and_no_other() -> None:
    assert set(STATUSES) == REASONS - {"UNSPECIFIED"}


@pytest.mark.parametrize(
    ("reason", "grpc", "http"),
    [
        (Reason.DOES_NOT_BEAT, StatusCode.FAILED_PRECONDITION, 422),
        (Reason.BAD_DEAL, StatusCode.INVALID_ARGUMENT, 400),
        ("MALFORMED_REQUEST", StatusCode.INVALID_ARGUMENT, 400),
        ("GAME_NOT_FOUND", StatusCode.NOT_FOUND, 404),
        ("VERSION_CONFLICT", StatusCode.ABORTED, 409),
        ("COMMAND_REUSED", StatusCode.ALREADY_EXISTS, 409),
        ("GAME_EXISTS", StatusCode.ALREADY_EXISTS, 409),
        ("REQUEST_TOO_LARGE", StatusCode.RESOURCE_EXHAUSTED, 413),
        ("STORE_UNAVAILABLE", StatusCode.UNAVAILABLE, 503),
    ],
)
def test_statuses(reason: str, grpc: StatusCode, http: int) -> None:
    assert STATUSES[reason][:2] == (grpc, HTTPStatus(http))


def test_only_failures_that_pass_are_retryable() -> None:
    assert {reason for reason, status in STATUSES.items() if status.is_retryable} == {
        "STORE_UNAVAILABLE",
        "SERVICE_UNAVAILABLE",
        "DEADLINE_EXCEEDED",
        "RATE_LIMITED",
        "READER_TOO_SLOW",
    }


def test_a_breach_of_the_rules_keeps_clause_and_details_as_text() -> None:
    error = to_platform_error(
        RuleError(Reason.NOT_YOUR_TURN, "not now", clause="R3.3", seat=2, to_act=[0, 4], cards="7c")
    )
    assert (error.reason, error.clause, error.message) == ("NOT_YOUR_TURN", "R3.3", "not now")
    assert error.details == {"seat": "2", "to_act": "[0, 4]", "cards": "7c"}
    assert str(error) == "NOT_YOUR_TURN [R3.3]: not now"


def test_errors_of_the_library() -> None:
    with pytest.raises(RuleSetError) as refused:
        RuleSet.preset("jiaodong", tribute=True)
    assert to_platform_error(refused.value).reason == "OPTIONS_CONFLICT"
    assert to_platform_error(CardError(Reason.MALFORMED_CARD, "no card")).reason == "MALFORMED_CARD"
    malformed = to_platform_error(CodecError(Reason.BAD_SEAT, "no seat 7", field="dues[0].giver"))
    assert malformed.reason == "MALFORMED_REQUEST"
    assert malformed.violations == (Violation("dues[0].giver", "no seat 7"),)


def test_errors_of_the_store() -> None:
    assert to_platform_error(CommandReused("g", "c")).reason == "COMMAND_REUSED"
    assert to_platform_error(VersionConflict("g", 1, 2)).reason == "VERSION_CONFLICT"
    away = to_platform_error(StoreUnavailable("connection to 10.0.0.7 failed: password"))
    assert away.reason == "STORE_UNAVAILABLE"
    assert away.is_retryable
    assert "10.0.0.7" not in away.message


@pytest.mark.parametrize("fault", [KeyError("secret"), NotFirstWrite("secret"), AssertionError("secret")])
def test_what_nobody_foresaw_tells_nothing(fault: Exception) -> None:
    error = to_platform_error(fault)
    assert error.reason == "INTERNAL"
    assert "secret" not in str(error)


def test_an_error_of_ours_stays_what_it_is() -> None:
    error = PlatformError("GAME_NOT_FOUND", "no game x")
    assert to_platform_error(error) is error


def test_unknown_reasons_are_refused() -> None:
    with pytest.raises(ValueError, match="SOMETHING"):
        PlatformError("SOMETHING", "x")


def test_texts_are_bounded() -> None:
    error = PlatformError(
        "BAD_DEAL",
        "x" * 5000,
        details={str(number): "y" * 5000 for number in range(99)},
        violations=(Violation("field", "保" * 5000),),
    )
    assert len(error.message) == MOST_MESSAGE_BYTES
    assert error.violations == (Violation("field", "保" * 166),)
    assert list(error.details) == ["0", "1"]
    assert set(map(len, error.details.values())) == {500}


def test_problem() -> None:
    error = PlatformError("DOES_NOT_BEAT", "7c does not beat 8c", clause="R4.1", details={"cards": "7c"}).at(
        "action"
    )
    assert msgspec.to_builtins(problem_of(error)) == {
        "type": "urn:baohuang:does-not-beat",
        "title": "Does not beat",
        "status": 422,
        "reason": "DOES_NOT_BEAT",
        "detail": "7c does not beat 8c",
        "clause": "R4.1",
        "details": {"cards": "7c"},
        "violations": [{"field": "action", "problem": "7c does not beat 8c"}],
    }
