"""What every process is told by its environment: addresses, ports, how to log."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, Self, get_args
from urllib.parse import urlsplit

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["console", "json"]

_PREFIX = "BAOHUANG_"


class SettingError(ValueError):
    """A setting is missing or cannot be used; the text names its environment variable."""

    def __init__(self, variable: str, problem: str) -> None:
        super().__init__(f"{variable} {problem}")
        self.variable = variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A field `name` is read from the variable `BAOHUANG_NAME`; an empty address means "not set".

    A process asks for the addresses that it needs with `require`, so that one that is missing is named at the
    start and not at the first use.
    """

    database_url: str = ""
    valkey_url: str = ""
    broker_url: str = ""  # empty: the same as valkey_url
    engine_target: str = ""  # host:port of the engine, or a gRPC name such as dns:///engine:50051
    host: str = "127.0.0.1"
    port: int = 0  # 0: a free one
    metrics_port: int = 0
    grpc_port: int = 0  # of the lobby, beside `port`
    log_level: LogLevel = "info"
    log_format: LogFormat = "console"
    database_connections: int = 10  # the most that one process keeps open
    cors_origins: str = ""  # of pages that may call the lobby, separated by commas; "*": of all
    limit_factor: int = 1  # multiplies the lobby's limits on clients; 0: no limits
    proxies: int = 0  # how many in front of the lobby add to X-Forwarded-For

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """The settings of this process. Raises SettingError for the first value that cannot be used."""
        source = os.environ if environment is None else environment
        found: dict[str, object] = {}
        for field in fields(cls):
            variable = _PREFIX + field.name.upper()
            text = source.get(variable, "").strip()
            if text:
                found[field.name] = _parse(field.name, variable, text)
        settings = cls(**found)  # type: ignore[arg-type]  # each value was parsed by its field's own rule
        if settings.broker_url or not settings.valkey_url:
            return settings
        return cls(**(found | {"broker_url": settings.valkey_url}))  # type: ignore[arg-type]

    def require(self, *names: str) -> Self:
        """These settings, if each of the named ones has a value. Raises SettingError."""
        for name in names:
            if not getattr(self, name):
                raise SettingError(_PREFIX + name.upper(), "is not set")
        return self


_SCHEMES = {
    "database_url": ("postgresql", "postgres"),
    "valkey_url": ("redis", "rediss", "unix"),
    "broker_url": ("redis", "rediss", "amqp", "amqps"),
}


def _parse(name: str, variable: str, text: str) -> object:
    if name in _SCHEMES:
        return _parse_address(variable, text, _SCHEMES[name])
    if name in ("port", "metrics_port", "grpc_port"):
        return _parse_number(variable, text, 0, 65_535)
    if name in ("limit_factor", "proxies"):
        return _parse_number(variable, text, 0, 1_000_000)
    if name == "database_connections":
        return _parse_number(variable, text, 1, 1_000)
    if name == "log_level":
        return _parse_choice(variable, text, get_args(LogLevel))
    if name == "log_format":
        return _parse_choice(variable, text, get_args(LogFormat))
    return text


def _parse_address(variable: str, text: str, schemes: tuple[str, ...]) -> str:
    # An address may hold a password, so the message does not repeat it.
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise SettingError(variable, "is not an address") from error
    if parts.scheme not in schemes:
        raise SettingError(variable, f"must be an address that begins with {' or '.join(schemes)}://")
    return text


def _parse_number(variable: str, text: str, lowest: int, highest: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = lowest - 1
    if not lowest <= number <= highest:
        raise SettingError(variable, f"must be a whole number from {lowest} to {highest}, not {text!r}")
    return number


def _parse_choice(variable: str, text: str, choices: tuple[str, ...]) -> str:
    if text.lower() not in choices:
        raise SettingError(variable, f"must be one of {', '.join(choices)}, not {text!r}")
    return text.lower()
