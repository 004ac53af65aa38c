"""What every web application of ours has: health, metrics, and counts that clients cannot make grow."""

from collections.abc import AsyncIterator

import pytest
from litestar import Litestar, get
from litestar.params import FromPath
from litestar.testing import AsyncTestClient

from services.eventstore import MigrationError
from services.kit.web import make_app, make_health_app

Client = AsyncTestClient[Litestar]


@get("/things/{name:str}", sync_to_thread=False)
def thing(name: FromPath[str]) -> str:
    return name


async def works() -> None: ...


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with AsyncTestClient(make_app([thing], works, openapi_config=None)) as opened:
        yield opened


async def test_a_process_that_can_work_is_live_and_ready(client: Client) -> None:
    assert (await client.get("/health/live")).json() == {"status": "live"}
    assert (await client.get("/health/ready")).json() == {"status": "ready"}


@pytest.mark.parametrize(
    ("fault", "reason"), [(MigrationError("no tables"), "MIGRATION_ERROR"), (OSError("away"), "INTERNAL")]
)
async def test_a_process_that_cannot_work_is_live_but_not_ready(fault: Exception, reason: str) -> None:
    async def fails() -> None:
        raise fault

    async with AsyncTestClient(make_health_app(fails)) as client:
        answer = await client.get("/health/ready")
        assert (answer.status_code, answer.json()) == (503, {"status": "not ready", "reason": reason})
        assert (await client.get("/health/live")).status_code == 200


async def test_metrics_name_their_format_once(client: Client) -> None:
    answer = await client.get("/metrics")
    assert answer.headers.get_list("content-type") == ["text/plain; version=1.0.0; charset=utf-8"]


async def test_requests_are_counted_by_the_form_of_their_address(client: Client) -> None:
    for address in ("/things/1", "/things/2", "/elsewhere/1"):
        await client.get(address)
    await client.request("BREW", "/things/1")
    counted = (await client.get("/metrics")).text
    for code, method in (("200", "GET /things/{name}"), ("404", "none"), ("405", "none")):
        assert f'baohuang_requests_total{{code="{code}",method="{method}",protocol="http"}}' in counted
    assert "BREW" not in counted
    assert "elsewhere" not in counted
    assert 'baohuang_request_seconds_count{method="GET /things/{name}",protocol="http"}' in counted
