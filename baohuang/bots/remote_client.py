"""The lobby as a program calls it over gRPC: calls that are tried again, errors with their reasons.

Needs `pip install "baohuang[rpc]"`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from baohuang.rpc.lobby.v1 import games_pb2_grpc, matches_pb2_grpc, players_pb2_grpc, tables_pb2_grpc

CALL_SECONDS: Final = 10.0
"""How long one try of a call may take."""
SILENCE_SECONDS: Final = 25.0
"""A stream that says nothing for so long, not even that it lives (every 7 s), is opened anew."""
_LONGEST_WAIT_SECONDS: Final = 5.0

_OPTIONS: Final = (
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # Found dead after half a minute, where the other end is gone without a word.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)
_RETRYABLE: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
    }
)


class RemoteError(Exception):
    """The lobby refused a call, or could not be reached.

    `reason` is that of the contracts, or the name of gRPC's code where there is none; `clause` the rule that
    was broken. `is_retryable`: the same call may succeed later.
    """

    def __init__(
        self, reason: str, message: str, *, clause: str, details: Mapping[str, str], is_retryable: bool
    ) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.clause = clause
        self.details = details
        self.is_retryable = is_retryable

    @property
    def wait_seconds(self) -> float | None:
        """After how long to try again, where the lobby said so."""
        seconds = self.details.get("seconds", "")
        return float(seconds) if self.reason == "RATE_LIMITED" and seconds.isdecimal() else None


class LobbyClient:
    """A player's connection to a lobby, `HOST:PORT`, or `grpcs://HOST:PORT` for TLS.

    Make it inside the running event loop; used as an asynchronous context manager. The services are
    `players`, `tables`, `matches` and `games`, stubs of the contracts to be called by `call` and `stream`.
    """

    def __init__(self, server: str, token: str | None = None) -> None:
        scheme, _, target = server.rpartition("://")
        if scheme == "grpcs":
            self._channel = grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(), _OPTIONS)
        else:
            self._channel = grpc.aio.insecure_channel(target, _OPTIONS)
        self._metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        self.players = players_pb2_grpc.PlayerServiceStub(self._channel)
        self.tables = tables_pb2_grpc.TableServiceStub(self._channel)
        self.matches = matches_pb2_grpc.MatchServiceStub(self._channel)
        self.games = games_pb2_grpc.GameServiceStub(self._channel)

    async def __aenter__(self) -> LobbyClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close()

    async def call(self, method: Any, request: Any, *, tries: int | None = None) -> Any:
        """The answer to a call, tried again for as long as that may help, or `tries` times.

        A command must have a `command_id`, so that it is done once. Raises `RemoteError`.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                return await method(request, metadata=self._metadata, timeout=CALL_SECONDS)
            except grpc.aio.AioRpcError as raised:
                error = remote_error(raised)
                if not error.is_retryable or attempt == tries:
                    raise error from raised
            await asyncio.sleep(error.wait_seconds or wait_seconds(attempt))

    async def stream(self, method: Any, request: Any) -> AsyncGenerator[Any, None]:
        """The messages of one stream until it ends or breaks off. Raises `RemoteError`."""
        call = method(request, metadata=self._metadata)
        try:
            while True:
                try:
                    async with asyncio.timeout(SILENCE_SECONDS):
                        message = await call.read()
                except TimeoutError as raised:
                    raise RemoteError(
                        "DEADLINE_EXCEEDED",
                        "the stream fell silent",
                        clause="",
                        details={},
                        is_retryable=True,
                    ) from raised
                except grpc.aio.AioRpcError as raised:
                    raise remote_error(raised) from raised
                if message is grpc.aio.EOF:
                    return
                yield message
        finally:
            call.cancel()


def wait_seconds(attempt: int) -> float:
    """How long to wait after so many failed tries; never the same for all who wait."""
    longest = min(0.1 * 2.0 ** min(attempt, 8), _LONGEST_WAIT_SECONDS)
    return longest * random.uniform(0.5, 1.0)


def remote_error(raised: grpc.aio.AioRpcError) -> RemoteError:
    """What the lobby meant by a failed call."""
    info = _info_of(raised)
    details = dict(info.metadata)
    return RemoteError(
        info.reason or raised.code().name,
        raised.details() or "",
        clause=details.pop("clause", ""),
        details=details,
        is_retryable=raised.code() in _RETRYABLE or info.reason == "RATE_LIMITED",
    )


def _info_of(raised: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    info = error_details_pb2.ErrorInfo()
    for key, value in raised.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            try:
                status = status_pb2.Status.FromString(value)
            except DecodeError:
                continue
            for detail in status.details:
                if detail.Unpack(info):
                    return info
    return info
