"""The server around the methods: health, reflection, ids of requests, limits, addresses."""

import grpc.aio
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from services.lobby.application import Lobby
from services.lobby.grpc.access import Access
from services.lobby.grpc.server import SERVICES, serving
from services.lobby.limits import Limits
from tests.integration.lobby.wire.conftest import Caller, refused

RULES = {"preset": "marked-guard"}


async def test_it_says_that_it_serves_and_what(wire):
    health = HealthStub(wire.channel)
    for service in ("", *SERVICES):
        answer = await health.Check(HealthCheckRequest(service=service))
        assert answer.status == HealthCheckResponse.SERVING
    stub = reflection_pb2_grpc.ServerReflectionStub(wire.channel)
    call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    answer = await call.read()
    assert {service.name for service in answer.list_services_response.service} >= set(SERVICES)
    call.cancel()


async def test_every_call_has_an_id_the_caller_s_if_he_gave_one(wire):
    method, request = wire.caller(None).method("Table", "ListTables")
    own, given, bad = method(request()), None, None
    given = method(request(), metadata=(("x-request-id", "mine-1"),))
    bad = method(request(), metadata=(("x-request-id", "y" * 65),))
    ids = [dict(await call.initial_metadata())["x-request-id"] for call in (own, given, bad)]
    assert len(ids[0]) == 26
    assert ids[1] == "mine-1"
    assert len(ids[2]) == 26
    failed = wire.caller(None).method("Game", "WatchMyGames")
    call = failed[0](failed[1](), metadata=(("x-request-id", "mine-2"),))
    assert dict(await call.initial_metadata())["x-request-id"] == "mine-2"


async def test_a_revoked_token_opens_nothing(wire):
    player = await wire.player()
    added = await player.call("Player", "CreateToken", label="other")
    other = wire.caller(added.secret)
    assert (await other.call("Player", "GetPlayer")).player.player_id
    await player.call("Player", "RevokeToken", token_id=added.token.token_id)
    assert (await refused(other.call("Player", "GetPlayer"))).reason == "UNAUTHENTICATED"


async def test_too_many_calls_are_told_the_limit_and_the_seconds(scene, valkey):
    async with Limits(valkey.url, 1) as limits:
        lobby = Lobby(scene.pool, scene.engine, limits)
        async with serving(lobby) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            caller = Caller(channel, None, scene.secret(await scene.player()))

            async def all_that_may():
                while True:
                    await caller.call("Player", "GetPlayer")

            error = await refused(all_that_may())
            assert (error.reason, error.details["limit"]) == ("RATE_LIMITED", "requests")
            assert int(error.details["seconds"]) >= 1
            assert error.is_retryable


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "address"),
    [
        ("ipv4:10.0.0.1:4000", "", 0, "10.0.0.1"),
        ("ipv6:%5B2001:db8::1%5D:4000", "", 0, "2001:db8::1"),
        ("ipv4:10.0.0.1:4000", "1.2.3.4", 0, "10.0.0.1"),
        ("ipv4:10.0.0.1:4000", "9.9.9.9, 1.2.3.4", 1, "1.2.3.4"),
        ("ipv4:10.0.0.1:4000", "9.9.9.9, 1.2.3.4", 2, "9.9.9.9"),
        ("ipv4:10.0.0.1:4000", "1.2.3.4", 2, "10.0.0.1"),
        ("unix:/tmp/socket", "", 0, "unknown"),
    ],
)
def test_addresses(peer, forwarded, proxies, address):
    class Context:
        def peer(self):
            return peer

    assert Access(None, proxies).address(Context(), {"x-forwarded-for": forwarded}) == address


async def test_a_taken_port_is_an_error(scene):
    lobby = scene.lobby
    async with serving(lobby) as port:
        with pytest.raises(OSError, match="in use"):
            async with serving(lobby, port=port):
                pass
