"""Ports for the local platform: free ones, or fixed ones that say who holds them when they are taken."""

from __future__ import annotations

import contextlib
import errno
import socket
from pathlib import Path

from services.local.errors import LocalServerError, LocalServerReason

LOOPBACK = "127.0.0.1"

_LISTENING = "0A"


def free_port() -> int:
    """A TCP port of the loopback interface that was free a moment ago; another process may still take it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def is_port_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers set this too: connections of a predecessor in TIME_WAIT do not make a port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
        return True


class ReservedPort:
    """A loopback port that only a process of ours will get.

    The socket is bound and never listens: a server that allows address reuse may listen on the port, over its
    restarts too, and the kernel gives it to no outgoing connection meanwhile.
    """

    def __init__(self, wanted: int, purpose: str, setting: str) -> None:
        """Reserve `wanted`, or any free port for 0.

        Raises LocalServerError (PORT_IN_USE), naming the process in the way and the `setting` to change.
        """
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((LOOPBACK, wanted))
        except OSError as error:
            self._socket.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            raise LocalServerError(
                LocalServerReason.PORT_IN_USE,
                f"port {wanted}, which {purpose} is to use, is {_taken_by(wanted, error)}: end that process, "
                f"or choose another port with {setting} (0 takes a free one)",
            ) from error
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        self._socket.close()


def _taken_by(port: int, error: OSError) -> str:
    if error.errno == errno.EACCES:
        return "kept for root"
    pid = _listener_of(port)
    return (
        "taken by another user's process" if pid is None else f"taken by process {pid} ({_command_of(pid)})"
    )


def _listener_of(port: int) -> int | None:
    """The process that listens on a port of this machine, as far as we may know it; Linux only."""
    wanted = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    folder = Path("/proc")
    if not wanted or not folder.is_dir():
        return None
    for process in folder.iterdir():
        if not process.name.isdigit():
            continue
        # Processes end while we look, and those of others keep their files to themselves.
        with contextlib.suppress(OSError):
            for handle in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if str(handle.readlink()) in wanted:
                        return int(process.name)
    return None


def _listening_inodes(port: int) -> set[str]:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(fields[9])
    return inodes


def _command_of(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "it has ended meanwhile"
    command = b" ".join(words).decode(errors="replace").strip()
    return command if len(command) <= 80 else f"{command[:77]}..."
