"""The image, built and run: each process as the compose file says, as nobody, on a read-only file system.

Containers share the machine's network here, so host names and ports of the compose file give way to those on
loopback; all else is taken from it, database roles too. BAOHUANG_IMAGE_FOLDER names a folder for the image.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from psycopg.conninfo import make_conninfo

from baohuang import PRESETS
from scripts import image
from services.local.first_hands import play_first_hands
from services.local.platform import Platform
from services.local.ports import LOOPBACK, ReservedPort
from services.local.postgres import LocalPostgres
from services.local.probes import answers_http, serves_grpc
from services.local.server import Deadline
from services.local.valkey import LocalValkey

pytestmark = [pytest.mark.system, pytest.mark.prove]

COMPOSE = image.ROOT / "deploy/compose/compose.yaml"
INIT = image.ROOT / "deploy/kustomize/overlays/dev/init.sh"
PASSWORD = "apasswordofatest"
DEBIAN_PSQL = "/usr/lib/postgresql/15/bin"
PATIENCE_SECONDS = 90.0


class Containers:
    """The compose file's services that run our image. Has what `play_first_hands` wants of a platform."""

    def __init__(self, storage: image.Storage, postgres: LocalPostgres, valkey: LocalValkey) -> None:
        compose = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
        self.services: dict[str, Any] = {
            name: each for name, each in compose.items() if each["image"] == "baohuang"
        }
        self.data_dir = storage.folder
        # The runtime: crun refuses the mixture of cgroup versions that some machines have.
        self._podman = ["podman", *storage.options, "--runtime=runc", "--cgroup-manager=cgroupfs"]
        self._postgres, self._valkey = postgres, valkey
        self._reserved = {
            (name, setting): ReservedPort(0, name, "no setting")
            for name, each in self.services.items()
            for setting in each["environment"]
            if setting.endswith("_PORT")
        }
        self.lobby_url, self.replay_url = self.address("lobby"), self.address("replay")

    def port(self, name: str, setting: str = "BAOHUANG_PORT") -> int:
        return self._reserved[name, setting].number

    def address(self, name: str) -> str:
        return f"http://{LOOPBACK}:{self.port(name)}"

    def environment(self, name: str) -> dict[str, str]:
        """As in the compose file, with this machine's addresses and passwords."""
        found = {}
        for setting, value in self.services[name]["environment"].items():
            if (name, setting) in self._reserved:
                found[setting] = str(self.port(name, setting))
                continue
            text = value.replace("@postgres:5432", f"@{LOOPBACK}:{self._postgres.port}")
            text = text.replace("@valkey:6379", f"@{LOOPBACK}:{self._valkey.port}")
            text = text.replace("engine:50051", f"{LOOPBACK}:{self.port('engine')}")
            text = text.replace("0.0.0.0", LOOPBACK).replace("dns:///", "")  # noqa: S104 (is replaced)
            text = text.replace("${VALKEY_PASSWORD:?}", self._valkey.url.split("@")[0].rpartition(":")[2])
            found[setting] = re.sub(r"\$\{\w+:\?\}", PASSWORD, text)
        return found

    def run(self, name: str, *options: str, entrypoint: str = "", command: list[str] | None = None) -> str:
        """`podman run` of a service with all that shuts it in; gives what it printed."""
        service = self.services[name]
        shut_in = [
            f"--user={service['user']}",
            *(f"--tmpfs={folder}" for folder in service["tmpfs"]),
            *(f"--cap-drop={capability}" for capability in service["cap_drop"]),
            *(f"--security-opt={option.removesuffix(':true')}" for option in service["security_opt"]),
            *(f"--volume={volume}" for volume in service.get("volumes", ())),
            *(["--read-only"] if service["read_only"] else []),
            *(["--entrypoint", entrypoint] if entrypoint else []),
        ]
        environment = [f"--env={setting}={value}" for setting, value in self.environment(name).items()]
        # Limits that the runtime may set without being allowed to raise any.
        machine = ["--network=host", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]
        arguments = service["command"] if command is None else command
        return self.podman("run", *options, *machine, *shut_in, *environment, image.IMAGE, *arguments)

    def podman(self, *arguments: str) -> str:
        result = subprocess.run([*self._podman, *arguments], capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"podman {' '.join(arguments[:2])}: {result.stdout}{result.stderr}"
        return result.stdout.strip()

    def inspect(self, name: str, what: str) -> str:
        return self.podman("inspect", f"--format={{{{{what}}}}}", name)

    def logs(self, name: str) -> list[str]:
        result = subprocess.run([*self._podman, "logs", name], capture_output=True, text=True, check=True)
        return (result.stdout + result.stderr).splitlines()

    def is_ready(self, name: str) -> bool:
        if name == "engine":
            return serves_grpc(f"{LOOPBACK}:{self.port('engine')}")
        setting = "BAOHUANG_PORT" if (name, "BAOHUANG_PORT") in self._reserved else "BAOHUANG_METRICS_PORT"
        return answers_http(f"http://{LOOPBACK}:{self.port(name, setting)}/health/ready")

    def close(self) -> None:
        subprocess.run(
            [*self._podman, "rm", "--all", "--force", "--time=0"], capture_output=True, check=False
        )
        for port in self._reserved.values():
            port.release()

    # --- what play_first_hands calls

    def pause(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.05))

    def look_after(self) -> None:
        for name in LASTING:
            assert self.inspect(name, ".State.Running") == "true", "\n".join(self.logs(name)[-20:])


SERVICES = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "baohuang"}
STEPS = [name for name, each in OURS.items() if each["restart"] == "no"]
LASTING = [name for name, each in OURS.items() if each["restart"] != "no"]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Of the storage and the stores, whose own users must be let in."""
    made = Path(tempfile.mkdtemp(prefix="baohuang-image-"))
    made.chmod(0o711)
    yield made
    # Podman leaves its storage mounted.
    storage = made / "image/storage/overlay"
    subprocess.run(["umount", "--recursive", storage], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def containers(folder: Path) -> Iterator[Containers]:
    """All processes, started from the image in the compose file's order."""
    missing = [tool for tool in image.TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.fail(f"missing: apt-get install --no-install-recommends {' '.join(missing)}")
    storage = image.build(Path(os.environ.get("BAOHUANG_IMAGE_FOLDER", folder / "image")))
    with LocalPostgres(folder / "postgres") as postgres, LocalValkey(folder / "valkey") as valkey:
        initialise(postgres)
        running = Containers(storage, postgres, valkey)
        try:
            for name in STEPS:
                running.run(name, "--rm")
            for name in LASTING:
                running.run(name, "--detach", f"--name={name}")
            for name in LASTING:
                deadline = Deadline(PATIENCE_SECONDS)
                while not running.is_ready(name):
                    running.look_after()
                    assert not deadline.has_passed(), "\n".join(running.logs(name)[-20:])
                    deadline.pause()
            yield running
        finally:
            running.close()


def initialise(postgres: LocalPostgres) -> None:
    """What the Postgres image does with init.sh in an empty cluster, whose superuser is called postgres."""
    with psycopg.connect(postgres.dsn_of("template1"), autocommit=True) as connection:
        connection.execute(f"create role postgres superuser login password '{PASSWORD}'")
    administrator = make_conninfo(postgres.dsn_of("postgres"), user="postgres", password=PASSWORD)
    with psycopg.connect(administrator, autocommit=True) as connection:
        # The names that this local server has given to its own.
        connection.execute("alter role baohuang rename to local_superuser")
        connection.execute("alter database baohuang rename to local_database")
    roles = ("OWNER", "ENGINE", "LOBBY", "REPLAY")
    environment = {
        "PATH": f"{DEBIAN_PSQL}:{os.environ['PATH']}",
        "POSTGRES_USER": "postgres",
        "PGPASSWORD": PASSWORD,
        "PGHOST": LOOPBACK,
        "PGPORT": str(postgres.port),
        **{f"{role}_PASSWORD": PASSWORD for role in roles},
    }
    result = subprocess.run(["sh", "-e", INIT], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_bots_play_a_hand_of_each_rule_set(containers: Containers) -> None:
    stand_in: Platform = containers  # type: ignore[assignment]
    played = play_first_hands(stand_in, tuple(PRESETS))
    assert [hand.rules for hand in played] == list(PRESETS)


@pytest.mark.parametrize("name", LASTING)
def test_processes_are_nobody_and_can_write_nowhere_but_where_they_must(
    containers: Containers, name: str
) -> None:
    pid = containers.inspect(name, ".State.Pid")
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
    )
    assert set(status["Uid"].split()) == {"10001"}
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    write = "import pathlib; pathlib.Path('/srv/baohuang/x').write_text('x')"
    with pytest.raises(AssertionError, match="Read-only file system"):
        containers.podman("exec", name, "python", "-c", write)
    containers.podman("exec", name, "python", "-c", write.replace("/srv/baohuang", "/tmp"))  # noqa: S108 (the container's)


@pytest.mark.parametrize("name", LASTING)
def test_logs_are_json_and_tell_of_no_fault_and_no_password(containers: Containers, name: str) -> None:
    texts = containers.logs(name)
    assert not [text for text in texts if PASSWORD in text]
    lines = [json.loads(text) for text in texts]
    assert [line for line in lines if line["level"] not in {"debug", "info", "warning"}] == []


def test_the_kernels_in_the_image_are_used_as_they_are(containers: Containers) -> None:
    program = (
        "from pathlib import Path; from baohuang import arena; from baohuang.arena.jit import cache_folder;"
        "held = lambda: sorted(path.name for path in cache_folder().iterdir());"
        "before = held(); arena.warm_up(); print(len(before), before == held(), cache_folder().parent)"
    )
    told = containers.run("bots", "--rm", entrypoint="python", command=["-c", program]).split()
    assert int(told[0]) > 0
    assert told[1:] == ["True", "/var/cache/baohuang"]


def test_processes_end_when_asked_to(containers: Containers) -> None:
    for name in LASTING:
        seconds = containers.services[name]["stop_grace_period"].removesuffix("s")
        containers.podman("stop", f"--time={seconds}", name)
        assert containers.inspect(name, ".State.ExitCode") == "0", "\n".join(containers.logs(name)[-20:])
