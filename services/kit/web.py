"""Web applications of ours, with health, metrics and one form of errors, and the server that runs them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import structlog
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar import HttpMethod, Litestar, MediaType, Response, get
from litestar.types import (
    ASGIApp,
    BeforeMessageSendHookHandler,
    ControllerRouterHandler,
    ExceptionHandlersMap,
    Message,
    Receive,
    Scope,
    Send,
)

from services.kit import metrics
from services.kit.health import Probe
from services.kit.rest import EXCEPTION_HANDLERS, BodyRequest

_MOST_BODY_BYTES: Final = 64 * 1024
_METHODS: Final = frozenset(HttpMethod)

_log = structlog.get_logger(__name__)


def make_app(
    handlers: Sequence[ControllerRouterHandler],
    probe: Probe,
    *,
    exception_handlers: ExceptionHandlersMap = EXCEPTION_HANDLERS,
    before_send: Sequence[BeforeMessageSendHookHandler] = (),
    **options: Any,
) -> Litestar:
    """An application with these handlers, and with /health/live, /health/ready (asks `probe`) and /metrics.

    `options` are Litestar's own.
    """

    @get("/health/live", include_in_schema=False, sync_to_thread=False)
    def live() -> dict[str, str]:
        return {"status": "live"}

    @get("/health/ready", include_in_schema=False)
    async def ready() -> Response[dict[str, str]]:
        try:
            await probe()
        except Exception as error:  # noqa: BLE001 (whatever the dependency raises, it does not answer)
            _log.warning("not ready", cause=str(error) or type(error).__name__)
            reason = str(getattr(error, "reason", "INTERNAL"))
            return Response({"status": "not ready", "reason": reason}, status_code=503)
        return Response({"status": "ready"}, status_code=200)

    return Litestar(
        route_handlers=[*handlers, live, ready, metrics_route],
        middleware=[_timed],
        before_send=[*before_send, _count],
        exception_handlers=exception_handlers,
        request_class=BodyRequest,
        request_max_body_size=_MOST_BODY_BYTES,
        # Errors are logged where they are turned into answers; the framework would log every refusal with a
        # traceback.
        logging_config=None,
        **options,
    )


def make_health_app(probe: Probe) -> Litestar:
    """Health and metrics alone, for processes that serve nothing else."""
    return make_app([], probe, openapi_config=None)


@get("/metrics", media_type=MediaType.TEXT, include_in_schema=False, sync_to_thread=False)
def metrics_route() -> Response[bytes]:
    """This process's metrics for Prometheus."""
    return Response(metrics.render_metrics(), media_type=metrics.CONTENT_TYPE)


async def serve_app(app: Litestar, host: str, port: int, stop: asyncio.Event) -> None:
    """Serve an application until `stop`; port 0: a free one.

    Raises OSError if the port is taken, RuntimeError if the server ends by itself.
    """
    with held_port(host, port) as held:
        await _serve(app, host, held, stop)


async def _serve(app: Litestar, host: str, port: int, stop: asyncio.Event) -> None:
    # In this process and on this loop: a process of its own would outlive a killed parent.
    server = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.error,
        # To the root logger, like everybody's.
        log_dictconfig={"loggers": {"_granian": {"propagate": True}}},
    )
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    _log.info("serving", address=f"http://{host}:{port}")
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if serving.done():
        await serving
        raise RuntimeError(f"the web server on port {port} ended by itself")
    server.stop()  # type: ignore[no-untyped-call]  # granian leaves it unannotated
    await serving


@contextlib.contextmanager
def held_port(host: str, port: int) -> Iterator[int]:
    """A port on which only this process will listen: `port`, or a free one for 0.

    Without this two servers would share a port, and the kernel could give a free one to a connection before
    the server has it. Raises OSError if the port is taken.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as holder:
        # With this the server may listen beside the holder, which never does; connections of a predecessor
        # that are still winding down do not make the port taken.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((host, port))
        yield int(holder.getsockname()[1])


async def _count(message: Message, scope: Scope) -> None:
    """A hook and no middleware, which addresses that nothing answers would not reach."""
    if message["type"] == "http.response.start":
        metrics.REQUESTS.labels("http", _route_of(scope), str(message["status"])).inc()


def _timed(app: ASGIApp) -> ASGIApp:
    """Takes the time to the beginning of the answer: a stream may go on for hours."""

    async def timed(scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.perf_counter() - started
                metrics.REQUEST_SECONDS.labels("http", _route_of(scope)).observe(seconds)
            await send(message)

        await app(scope, receive, note)

    return timed


def _route_of(scope: Scope) -> str:
    """The method and the form of the address, of which there are few: clients must not be able to add any."""
    method, template = scope.get("method"), scope.get("path_template")
    return f"{method} {template}" if method in _METHODS and template is not None else "none"
