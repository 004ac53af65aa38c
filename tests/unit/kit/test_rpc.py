"""Errors over a real gRPC connection, and back."""

from collections.abc import AsyncIterator

import grpc
import grpc.aio
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import REGISTRY

from baohuang import Reason, RuleError
from baohuang.rpc.engine.v1 import engine_pb2, engine_pb2_grpc
from services.kit.errors import STATUSES, PlatformError, Violation
from services.kit.health import Health
from services.kit.rpc import MOST_MESSAGE_BYTES, Interceptor, connect, error_from_rpc


class Raising(engine_pb2_grpc.EngineServiceServicer):
    """Ends each call with the error that the test asked for."""

    error: BaseException = KeyError("secret")

    async def GetView(self, request, context):
        raise self.error

    async def Deal(self, request, context):
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "by hand")


@pytest.fixture
async def raising() -> AsyncIterator[tuple[Raising, engine_pb2_grpc.EngineServiceStub]]:
    servicer = Raising()
    server = grpc.aio.server(
        interceptors=[Interceptor()], options=[("grpc.max_receive_message_length", MOST_MESSAGE_BYTES)]
    )
    engine_pb2_grpc.add_EngineServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield servicer, engine_pb2_grpc.EngineServiceStub(channel)
    await server.stop(None)


async def told(stub: engine_pb2_grpc.EngineServiceStub) -> PlatformError:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await stub.GetView(engine_pb2.GetViewRequest(game_id="g1"))
    error = error_from_rpc(failed.value)
    assert failed.value.code() is error.status.grpc
    return error


@pytest.mark.parametrize("reason", STATUSES)
async def test_every_reason_comes_over_whole(reason: str, raising) -> None:
    servicer, stub = raising
    servicer.error = sent = PlatformError(
        reason,
        "不能 beat this",
        clause="R4.1",
        details={"version": 7, "cards": "7c"},
        violations=(Violation("action.cards", "too low"),),
    )
    error = await told(stub)
    assert (error.reason, error.message, error.clause) == (reason, sent.message, "R4.1")
    assert error.details == {"version": "7", "cards": "7c"}
    assert error.violations == sent.violations
    assert error.is_retryable is sent.is_retryable


async def test_long_errors_fit_into_the_headers(raising) -> None:
    servicer, stub = raising
    servicer.error = RuleError(
        Reason.NOT_A_PLAY, "保" * 5000, clause="R3.1", **{c: c * 999 for c in "保皇游戏"}
    )
    error = await told(stub)
    assert error.reason == "NOT_A_PLAY"
    assert len(error.message) == 333


async def test_faults_of_ours_tell_nothing(raising) -> None:
    servicer, stub = raising
    servicer.error = KeyError("secret")
    error = await told(stub)
    assert error.reason == "INTERNAL"
    assert "secret" not in repr(error)


async def test_a_call_that_was_ended_by_hand_passes(raising) -> None:
    _, stub = raising
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await stub.Deal(engine_pb2.DealRequest())
    assert failed.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert error_from_rpc(failed.value).reason == "INTERNAL"


async def test_a_large_request_is_refused(raising) -> None:
    _, stub = raising
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await stub.CheckRecord(engine_pb2.CheckRecordRequest(record="x" * (MOST_MESSAGE_BYTES + 1)))
    assert error_from_rpc(failed.value).reason == "REQUEST_TOO_LARGE"


class Echo(grpc.GenericRpcHandler):
    """A method of each kind; requests are texts of protobuf's, answers say how many came."""

    def service(self, details):
        make = {
            "/e.E/OneToOne": (grpc.unary_unary_rpc_method_handler, self.one),
            "/e.E/OneToMany": (grpc.unary_stream_rpc_method_handler, self.one_to_many),
            "/e.E/ManyToOne": (grpc.stream_unary_rpc_method_handler, self.many),
            "/e.E/ManyToMany": (grpc.stream_stream_rpc_method_handler, self.many_to_many),
            "/e.E/ManyToWritten": (grpc.stream_stream_rpc_method_handler, self.written),
        }[details.method]
        return make[0](
            make[1],
            request_deserializer=StringValue.FromString,
            response_serializer=StringValue.SerializeToString,
        )

    async def one(self, request, context):
        return request

    async def one_to_many(self, request, context):
        yield request

    async def many(self, requests, context):
        return StringValue(value="".join([request.value async for request in requests]))

    async def many_to_many(self, requests, context):
        async for request in requests:
            yield request

    async def written(self, requests, context):
        async for request in requests:
            await context.write(request)


GOOD = StringValue(value="well").SerializeToString()


async def listen(call, heard: list[bytes]) -> None:
    if isinstance(call, grpc.aio.UnaryUnaryCall | grpc.aio.StreamUnaryCall):
        heard.append(await call)
    else:
        async for answer in call:
            heard.append(answer)  # noqa: PERF401 (what came before the error counts)


@pytest.mark.parametrize("first", [[], [GOOD]], ids=["at once", "after a good one"])
@pytest.mark.parametrize("junk", [b"\xff", b"\x0a\x05ab", b"\x0a\x02\xff\xfe"], ids=["tag", "cut", "no text"])
@pytest.mark.parametrize("name", ["OneToOne", "OneToMany", "ManyToOne", "ManyToMany", "ManyToWritten"])
async def test_bytes_that_are_no_message(name: str, junk: bytes, first: list[bytes]) -> None:
    server = grpc.aio.server(interceptors=[Interceptor()])
    server.add_generic_rpc_handlers([Echo()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        shape = name.replace("One", "unary").replace("Many", "stream").replace("Written", "stream")
        method = getattr(channel, shape.replace("To", "_"))(f"/e.E/{name}")
        heard: list[bytes] = []
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await listen(method(iter([*first, junk])) if name.startswith("Many") else method(junk), heard)
        assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert error_from_rpc(failed.value).reason == "MALFORMED_REQUEST"
        assert heard == (first if name in ("ManyToMany", "ManyToWritten") else [])
    await server.stop(None)


async def test_nobody_there() -> None:
    async with grpc.aio.insecure_channel("127.0.0.1:1") as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await engine_pb2_grpc.EngineServiceStub(channel).Deal(engine_pb2.DealRequest())
    error = error_from_rpc(failed.value)
    assert error.reason == "SERVICE_UNAVAILABLE"
    assert error.is_retryable


def test_details_that_are_none_of_ours() -> None:
    for metadata in [(), (("grpc-status-details-bin", b"\xff\xff"),), (("grpc-status-details-bin", b""),)]:
        failed = grpc.aio.AioRpcError(
            grpc.StatusCode.NOT_FOUND, grpc.aio.Metadata(), grpc.aio.Metadata(*metadata), details="what?"
        )
        assert (error_from_rpc(failed).reason, error_from_rpc(failed).message) == ("NOT_FOUND", "what?")


async def test_requests_and_errors_are_counted(raising) -> None:
    servicer, stub = raising
    servicer.error = PlatformError("GAME_NOT_FOUND", "no game")

    def counted() -> tuple[float, float, float]:
        labels = {"protocol": "grpc", "method": "GetView"}
        return (
            REGISTRY.get_sample_value("baohuang_requests_total", {**labels, "code": "NOT_FOUND"}) or 0,
            REGISTRY.get_sample_value("baohuang_errors_total", {"reason": "GAME_NOT_FOUND"}) or 0,
            REGISTRY.get_sample_value("baohuang_request_seconds_count", labels) or 0,
        )

    before = counted()
    await told(stub)
    assert counted() == tuple(number + 1 for number in before)


async def test_health_follows_its_probe() -> None:
    is_well = True

    async def probe() -> None:
        if not is_well:
            raise ConnectionError("away")

    health = Health(probe, ["a.Service"], interval_seconds=0.01)
    server = grpc.aio.server(interceptors=[Interceptor()])
    health_pb2_grpc.add_HealthServicer_to_server(health.servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    serving, not_serving = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
    async with connect(f"127.0.0.1:{port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        async with health.watching():
            watch = aiter(stub.Watch(health_pb2.HealthCheckRequest(service="a.Service")))
            assert (await anext(watch)).status == serving
            is_well = False
            assert (await anext(watch)).status == not_serving
            assert (await stub.Check(health_pb2.HealthCheckRequest())).status == not_serving
            is_well = True
            assert (await anext(watch)).status == serving
        assert (await anext(watch)).status == not_serving
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stub.Check(health_pb2.HealthCheckRequest(service="unknown"))
        assert failed.value.code() is grpc.StatusCode.NOT_FOUND
    await server.stop(None)
