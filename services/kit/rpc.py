"""The gRPC edge: errors on the wire and back, a server interceptor that counts and logs, channels."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final, NoReturn, Protocol, TypeAlias

import grpc
import grpc.aio
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from prometheus_client import Counter

from services.kit import metrics
from services.kit.errors import STATUSES, PlatformError, Violation, to_platform_error

DOMAIN: Final = "baohuang"
"""`ErrorInfo.domain` of every error of ours."""
MOST_MESSAGE_BYTES: Final = 1 << 20
"""The largest request that a server of ours takes."""

SERVER_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MOST_MESSAGE_BYTES),
    # Else a second server could share the port unseen.
    ("grpc.so_reuseport", 0),
    # A connection whose other end is gone without a word is found so, and its streams end.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)
"""Of servers of ours, where they want nothing else."""
CHANNEL_OPTIONS: Final = (
    (
        "grpc.service_config",
        json.dumps(
            {
                "loadBalancingConfig": [{"round_robin": {}}],
                "methodConfig": [
                    {
                        "name": [{}],
                        "retryPolicy": {
                            "maxAttempts": 4,
                            "initialBackoff": "0.1s",
                            "maxBackoff": "1s",
                            "backoffMultiplier": 2,
                            "retryableStatusCodes": ["UNAVAILABLE"],
                        },
                    }
                ],
            }
        ),
    ),
    ("grpc.max_receive_message_length", 4 * MOST_MESSAGE_BYTES),
)
"""Of channels to services of ours, asynchronous or blocking: over all replicas, UNAVAILABLE tried again."""

_DETAILS_KEY: Final = "grpc-status-details-bin"
_REASON_OF_CODE: Final = {
    grpc.StatusCode.UNAVAILABLE: "SERVICE_UNAVAILABLE",
    grpc.StatusCode.CANCELLED: "SERVICE_UNAVAILABLE",
    grpc.StatusCode.DEADLINE_EXCEEDED: "DEADLINE_EXCEEDED",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "REQUEST_TOO_LARGE",
    grpc.StatusCode.INVALID_ARGUMENT: "MALFORMED_REQUEST",
    grpc.StatusCode.NOT_FOUND: "NOT_FOUND",
}

_log = structlog.get_logger(__name__)


def status_of(error: PlatformError) -> status_pb2.Status:
    """The rich status of an error: `ErrorInfo` (reason, clause, details) and for bad fields `BadRequest`."""
    metadata = dict(error.details)
    if error.clause:
        metadata["clause"] = error.clause
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata)
    details = [_packed(info)]
    if error.violations:
        fields = [
            error_details_pb2.BadRequest.FieldViolation(field=field, description=problem)
            for field, problem in error.violations
        ]
        details.append(_packed(error_details_pb2.BadRequest(field_violations=fields)))
    return status_pb2.Status(code=error.status.grpc.value[0], message=error.message, details=details)


def _packed(message: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed


async def abort(context: grpc.aio.ServicerContext[Any, Any], error: PlatformError) -> NoReturn:
    """Ends the call with this error."""
    status = status_of(error)
    await context.abort(
        error.status.grpc, status.message, trailing_metadata=((_DETAILS_KEY, status.SerializeToString()),)
    )


class FailedCall(Protocol):
    """What the errors of asynchronous and of blocking calls have in common."""

    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None: ...


def error_from_rpc(error: grpc.aio.AioRpcError | FailedCall) -> PlatformError:
    """What a server of ours meant by a failed call; for a failure of the transport the reason that fits."""
    status = _status_from(error)
    if status is not None:
        info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        for detail in status.details:
            if not detail.Unpack(info):
                detail.Unpack(bad_request)
        if info.reason in STATUSES:
            details = dict(info.metadata)
            return PlatformError(
                info.reason,
                status.message,
                clause=details.pop("clause", ""),
                details=details,
                violations=tuple(
                    [Violation(field.field, field.description) for field in bad_request.field_violations]
                ),
            )
    return PlatformError(_REASON_OF_CODE.get(error.code(), "INTERNAL"), error.details() or error.code().name)


def _status_from(error: grpc.aio.AioRpcError | FailedCall) -> status_pb2.Status | None:
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                return None
    return None


_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_ID_FIELDS: Final = ("game_id", "command_id")


class Interceptor(grpc.aio.ServerInterceptor):
    """Turns what methods raise into errors on the wire; counts and times them; binds ids for logs."""

    def __init__(self) -> None:
        self._wrapped: dict[str, _Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> _Handler | None:
        """The handler, wrapped."""
        path = str(handler_call_details.method)
        if path not in self._wrapped:
            handler = await continuation(handler_call_details)
            if handler is None:
                return None
            self._wrapped[path] = _wrapped(path.rpartition("/")[2], handler)
        return self._wrapped[path]


def _wrapped(name: str, handler: _Handler) -> _Handler:
    kinds = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
    kind, method = next((kind, method) for kind in kinds if (method := getattr(handler, kind)) is not None)
    call = _Call(name, method, is_unary=kind == "unary_unary", reads_stream=kind.startswith("stream"))
    make: Callable[..., _Handler] = getattr(grpc, f"{kind}_rpc_method_handler")
    return make(
        call.generate if inspect.isasyncgenfunction(method) else call.answer,
        request_deserializer=_tolerant(handler.request_deserializer),
        response_serializer=handler.response_serializer,
    )


class _Unreadable:
    """Stands for a request whose bytes are no message of its type."""


def _tolerant(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """A deserializer that never fails: for bytes that it cannot read gRPC would answer UNKNOWN by itself."""
    if deserialize is None:
        return None

    def read(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return _Unreadable()

    return read


def _check_readable(request: Any) -> None:
    if type(request) is _Unreadable:
        raise PlatformError("MALFORMED_REQUEST", "these bytes are no message of the method's request type")


async def _readable(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        _check_readable(request)
        yield request


class _Call:
    """A method as the interceptor has it called. Little more than the method itself runs in each move."""

    def __init__(
        self, name: str, method: Callable[[Any, _Context], Any], *, is_unary: bool, reads_stream: bool
    ) -> None:
        self._name, self._method, self._reads_stream = name, method, reads_stream
        self._succeeded = metrics.REQUESTS.labels("grpc", name, "OK")
        # A stream lasts as long as its client likes.
        self._seconds = metrics.REQUEST_SECONDS.labels("grpc", name) if is_unary else None

    async def answer(self, request: Any, context: _Context) -> Any:
        started = time.perf_counter()
        try:
            answer = await self._method(self._begun(request), context)
        except BaseException as raised:  # noqa: BLE001 (the edge: each becomes an error on the wire)
            await self._end_failed(raised, context, started)
        self._note_end(self._succeeded, started)
        return answer

    async def generate(self, request: Any, context: _Context) -> AsyncIterator[Any]:
        started = time.perf_counter()
        try:
            async for answer in self._method(self._begun(request), context):
                yield answer
        except BaseException as raised:  # noqa: BLE001
            await self._end_failed(raised, context, started)
        self._note_end(self._succeeded, started)

    def _begun(self, request: Any) -> Any:
        """The request, or the stream of them, as the method gets it."""
        # Every call is a task of its own, and so are its logs' ids: there is nothing to undo.
        ids = {key: getattr(request, key) for key in _ID_FIELDS if hasattr(request, key)}
        structlog.contextvars.bind_contextvars(method=self._name, **ids)
        if self._reads_stream:
            return _readable(request)
        _check_readable(request)
        return request

    async def _end_failed(self, raised: BaseException, context: _Context, started: float) -> NoReturn:
        error = None
        if isinstance(raised, asyncio.CancelledError):
            code = "DEADLINE_EXCEEDED" if context.time_remaining() == 0 else "CANCELLED"
        elif isinstance(raised, grpc.aio.AbortError):
            code = context.code().name
        elif isinstance(raised, Exception):
            error = to_platform_error(raised)
            code = error.status.grpc.name
            note_error(error, raised)
        else:  # the end of the process, or of a stream that nobody reads any more
            code = "CANCELLED"
        self._note_end(metrics.REQUESTS.labels("grpc", self._name, code), started)
        if error is None:
            raise raised
        await abort(context, error)

    def _note_end(self, counter: Counter, started: float) -> None:
        counter.inc()
        if self._seconds is not None:
            self._seconds.observe(time.perf_counter() - started)


def note_error(error: PlatformError, raised: BaseException) -> None:
    """Counts an error by its reason, and logs it: with its traceback where it is a fault of ours."""
    metrics.ERRORS.labels(error.reason).inc()
    if error.reason == "INTERNAL":
        _log.error("internal error", exc_info=raised)
    elif error.is_retryable:
        _log.warning("failed for now", reason=error.reason, cause=str(raised))
    else:
        _log.debug("refused", reason=error.reason, message=error.message)


def connect(target: str) -> grpc.aio.Channel:
    """A channel to a service of ours, over all its replicas. Make it after forks, inside the event loop.

    Calls that end in UNAVAILABLE are tried again: commands carry ids, so that none is done twice.
    """
    return grpc.aio.insecure_channel(target, options=CHANNEL_OPTIONS)
