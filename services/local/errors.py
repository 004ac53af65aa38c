"""Why a local server could not be started or stopped."""

from __future__ import annotations

import errno
from enum import StrEnum


class LocalServerReason(StrEnum):
    """Stable reasons of a `LocalServerError`, for programs that want to tell them apart."""

    BINARIES_MISSING = "BINARIES_MISSING"
    PORT_IN_USE = "PORT_IN_USE"
    DISK_FULL = "DISK_FULL"
    WRONG_OWNER = "WRONG_OWNER"
    UNREACHABLE_FOLDER = "UNREACHABLE_FOLDER"
    VERSION_MISMATCH = "VERSION_MISMATCH"
    ALREADY_RUNNING = "ALREADY_RUNNING"
    NOT_RUNNING = "NOT_RUNNING"
    START_FAILED = "START_FAILED"
    STOP_FAILED = "STOP_FAILED"


class LocalServerError(RuntimeError):
    """A local server could not be started or stopped; `reason` is stable, the text is for people."""

    def __init__(self, reason: LocalServerReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def os_error(error: OSError, doing: str) -> LocalServerError:
    """The typed error for a failed file operation; `doing` says what was being done."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return LocalServerError(LocalServerReason.DISK_FULL, f"{doing}: the disk is full ({error})")
    if error.errno in (errno.EACCES, errno.EPERM):
        return LocalServerError(LocalServerReason.WRONG_OWNER, f"{doing}: not allowed ({error})")
    return LocalServerError(LocalServerReason.START_FAILED, f"{doing}: {error}")
