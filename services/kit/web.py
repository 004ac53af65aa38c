"""Web applications of ours, with health, metrics and one form of errors, and the server that runs them."""

from __future__ import annotations

import asyncio
import contextlib
import re
import resource
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import structlog
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar import HttpMethod, Litestar, MediaType, Response, get
from litestar.datastructures import Headers, MutableScopeHeaders
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
from services.kit.ids import new_id
from services.kit.rest import EXCEPTION_HANDLERS, BodyRequest

_MOST_BODY_BYTES: Final = 64 * 1024
_METHODS: Final = frozenset(HttpMethod)
MOST_CONNECTIONS: Final = 20_000
"""Of one server at once; each stream holds one."""
_BACKLOG: Final = 1_024
REQUEST_ID: Final = "X-Request-Id"
_REQUEST_ID: Final = re.compile("[!-~]{1,64}")

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
        middleware=[_named, _timed],
        before_send=[*before_send, _count, _tell_request_id, _tell_methods],
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
    # As a header: to a media type of text the framework adds a charset of its own.
    return Response(metrics.render_metrics(), headers={"content-type": metrics.CONTENT_TYPE})


def _let_go() -> None:
    """Nothing to end."""


async def serve_app(
    app: Litestar, host: str, port: int, stop: asyncio.Event, drain: Callable[[], None] = _let_go
) -> None:
    """Serve an application until `stop`; port 0: a free one. `drain` ends the streams that it waits for.

    Raises OSError if the port is taken, RuntimeError if the server ends by itself.
    """
    with held_port(host, port) as held:
        await _serve(app, host, held, stop, drain)


async def _serve(app: Litestar, host: str, port: int, stop: asyncio.Event, drain: Callable[[], None]) -> None:
    _allow_open_files(MOST_CONNECTIONS + 1_000)
    # In this process and on this loop: a process of its own would outlive a killed parent.
    server = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        websockets=False,
        backlog=_BACKLOG,
        # Of connections at once: with the server's own 128, a stream too many would stop everything else.
        backpressure=MOST_CONNECTIONS,
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
    drain()
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


def _allow_open_files(count: int) -> None:
    """Let this process open as many files as connections need, where the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _count(message: Message, scope: Scope) -> None:
    """A hook and no middleware, which addresses that nothing answers would not reach."""
    if message["type"] == "http.response.start":
        metrics.REQUESTS.labels("http", _route_of(scope), str(message["status"])).inc()


def _named(app: ASGIApp) -> ASGIApp:
    """Puts the request's id on all logs within."""

    async def named(scope: Scope, receive: Receive, send: Send) -> None:
        with structlog.contextvars.bound_contextvars(request_id=request_id_of(scope)):
            await app(scope, receive, send)

    return named


def request_id_of(scope: Scope) -> str:
    """The id that the client gave its request (1 to 64 visible ASCII characters), else one of ours."""
    state = scope["state"]
    if "request_id" not in state:
        given = Headers.from_scope(scope).get(REQUEST_ID, "")
        state["request_id"] = given if _REQUEST_ID.fullmatch(given) else new_id()
    return str(state["request_id"])


async def _tell_request_id(message: Message, scope: Scope) -> None:
    if message["type"] == "http.response.start":
        MutableScopeHeaders.from_message(message)[REQUEST_ID] = request_id_of(scope)


async def _tell_methods(message: Message, scope: Scope) -> None:
    """The framework's own answer to OPTIONS names only some of an address' methods."""
    if message["type"] != "http.response.start" or scope.get("method") != "OPTIONS":
        return
    headers = MutableScopeHeaders.from_message(message)
    if "Allow" in headers:
        template = scope.get("path_template")
        routes = [route for route in scope["litestar_app"].routes if route.path_format == template]
        methods = {str(method) for route in routes for method in getattr(route, "methods", ())}
        headers["Allow"] = ", ".join(sorted(methods))


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
