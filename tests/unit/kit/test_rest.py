"""The same errors over HTTP."""

from collections.abc import Iterator

import grpc.aio
import msgspec
import pytest
from litestar import Litestar, get, post
from litestar.params import FromPath, JSONBody
from litestar.testing import TestClient

from baohuang import Reason, RuleError
from services.kit.errors import PlatformError
from services.kit.rest import EXCEPTION_HANDLERS, PROBLEM, decode_json
from services.kit.rpc import status_of
from services.kit.web import metrics_route

ERRORS: dict[str, Exception] = {
    "rule": RuleError(Reason.DOES_NOT_BEAT, "too low", clause="R4.1", cards="7c"),
    "conflict": PlatformError("VERSION_CONFLICT", "stale", details={"version": 9}),
    "away": PlatformError("STORE_UNAVAILABLE", "later"),
    "fault": KeyError("secret"),
}


@get("/raise/{name:str}", sync_to_thread=False)
def raising(name: FromPath[str]) -> None:
    raise ERRORS[name]


@get("/engine", sync_to_thread=False)
def from_engine() -> None:
    status = status_of(PlatformError("NOT_YOUR_TURN", "wait", clause="R3.3"))
    raise grpc.aio.AioRpcError(
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(("grpc-status-details-bin", status.SerializeToString())),
        details="wait",
    )


@post("/number")
async def number(data: JSONBody[dict[str, int]]) -> None: ...


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = Litestar(
        [raising, from_engine, number, metrics_route],
        exception_handlers=EXCEPTION_HANDLERS,
        openapi_config=None,
        request_max_body_size=100,
    )
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("rule", 422, "DOES_NOT_BEAT"),
        ("conflict", 409, "VERSION_CONFLICT"),
        ("away", 503, "STORE_UNAVAILABLE"),
        ("fault", 500, "INTERNAL"),
    ],
)
def test_errors_leave_as_problems(name: str, status: int, reason: str, client: TestClient) -> None:
    answer = client.get(f"/raise/{name}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == PROBLEM
    assert (answer.json()["reason"], answer.json()["status"]) == (reason, status)
    assert "secret" not in answer.text
    assert ("retry-after" in answer.headers) is (name == "away")


def test_clause_and_details_are_told(client: TestClient) -> None:
    problem = client.get("/raise/rule").json()
    assert (problem["clause"], problem["details"]) == ("R4.1", {"cards": "7c"})


def test_errors_of_the_engine_pass_through(client: TestClient) -> None:
    answer = client.get("/engine")
    assert (answer.status_code, answer.json()["reason"], answer.json()["clause"]) == (
        422,
        "NOT_YOUR_TURN",
        "R3.3",
    )


def test_errors_of_the_framework_have_reasons_too(client: TestClient) -> None:
    missing = client.get("/nothing")
    assert (missing.status_code, missing.json()["reason"]) == (404, "NOT_FOUND")
    malformed = client.post("/number", json={"x": "y"})
    assert (malformed.status_code, malformed.json()["reason"]) == (400, "MALFORMED_REQUEST")
    assert malformed.json()["violations"]
    wrong = client.post("/metrics")
    assert (wrong.status_code, wrong.json()["reason"]) == (405, "MALFORMED_REQUEST")
    assert "GET" in wrong.headers["Allow"]
    large = client.post("/number", json={"x" * 200: 1})
    assert (large.status_code, large.json()["reason"]) == (413, "REQUEST_TOO_LARGE")


class Thing(msgspec.Struct, forbid_unknown_fields=True):
    count: int
    parts: list["Thing"] = []


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b'{"count": "1"}', "count"),
        (b'{"count": 1.5}', "count"),
        (b'{"count": 1, "parts": [{"count": null}]}', "parts[0].count"),
        (b'{"count": 1, "size": 2}', "size"),
        (b'{"count": 1, "parts": [{"count": 1, "size": 2}]}', "parts[0].size"),
        (b"{}", "count"),
        (b"[]", "body"),
        (b"null", "body"),
        (b"", "body"),
        (b'{"count"', "body"),
        (b"\xff", "body"),
        (b'{"parts": ' + b"[" * 100_000, "parts[0]"),
    ],
)
def test_what_is_wrong_with_a_body_is_told_with_its_place(content: bytes, field: str) -> None:
    with pytest.raises(PlatformError) as refused:
        decode_json(content, Thing)
    assert refused.value.reason == "MALFORMED_REQUEST"
    assert refused.value.violations[0].field == field


def test_a_whole_number_may_be_written_with_a_point() -> None:
    # As in JSON Schema.
    assert decode_json(b'{"count": 3.0, "parts": [{"count": 4}]}', Thing) == Thing(3, [Thing(4)])


def test_metrics(client: TestClient) -> None:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "baohuang_errors_total" in answer.text
