"""How much a client may ask for, counted in a real Valkey over several servers."""

import secrets

import pytest

from services.kit.errors import PlatformError
from services.lobby import limits
from services.lobby.limits import Limit, Limits
from services.local.ports import free_port


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(limits, "LIMITS", {"things": Limit(per_minute=1, burst=3)})


async def test_a_burst_is_let_through_and_no_more_whichever_server_counts(valkey):
    who = secrets.token_hex(8)
    async with Limits(valkey.url) as one, Limits(valkey.url) as other:
        for server in (one, other, one):
            await server.take("things", who)
        with pytest.raises(PlatformError) as refused:
            await other.take("things", who)
        await one.take("things", "somebody else " + who)
    error = refused.value
    assert (error.reason, error.details["limit"]) == ("RATE_LIMITED", "things")
    assert 1 <= int(error.details["seconds"]) <= 60
    assert error.is_retryable


async def test_what_was_refused_does_not_count(valkey):
    who = secrets.token_hex(8)
    async with Limits(valkey.url) as server:
        for _ in range(3):
            await server.take("things", who)
        waits = set()
        for _ in range(5):
            with pytest.raises(PlatformError) as refused:
                await server.take("things", who)
            waits.add(refused.value.details["seconds"])
    assert max(map(int, waits)) <= 60


async def test_a_factor_widens_limits_and_zero_lifts_them(valkey):
    who = secrets.token_hex(8)
    async with Limits(valkey.url, 4) as wide, Limits(valkey.url, 0) as none:
        for _ in range(12):
            await wide.take("things", who)
        with pytest.raises(PlatformError, match="RATE_LIMITED"):
            await wide.take("things", who)
        await none.take("things", who)


async def test_without_valkey_everything_is_let_through():
    async with Limits(f"redis://127.0.0.1:{free_port()}/0") as server:
        for _ in range(10):
            await server.take("things", "anybody")
