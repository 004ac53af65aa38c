"""The compose file: the processes and settings that a cluster has, shut in as well as one host can."""

import itertools
import re
from typing import Any

import pytest
import yaml

from services.kit.settings import Settings
from tests.unit.deploy.manifests import KUSTOMIZE, ROOT, containers, of_kind, pod, process_of, render

FOLDER = ROOT / "deploy/compose"
TEXT = (FOLDER / "compose.yaml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
OURS = {name: each for name, each in COMPOSE["services"].items() if each["image"] == "baohuang"}
LASTING = {name: each for name, each in OURS.items() if each["restart"] != "no"}
BASE = render(KUSTOMIZE / "base")


def test_the_processes_are_those_of_the_cluster() -> None:
    deployed = {
        each["metadata"]["name"]: pod(each)["containers"][0]["args"] for each in of_kind(BASE, "Deployment")
    }
    assert {name: each["command"] for name, each in LASTING.items()} == deployed
    (job,) = of_kind(BASE, "Job")
    steps = [each["command"] for each in OURS.values() if each["restart"] == "no"]
    assert steps == [container["args"] for container in containers(job)]


@pytest.mark.parametrize("name", OURS)
def test_processes_are_told_what_they_need_by_names_that_they_know(name: str) -> None:
    found = OURS[name]["environment"]
    known = {f"BAOHUANG_{field.upper()}" for field in Settings.__dataclass_fields__}
    needed = {f"BAOHUANG_{field.upper()}" for field in process_of(OURS[name]["command"]).needs}
    assert needed <= found.keys() <= known
    filled = {key: re.sub(r"\$\{[A-Z_]+:\?\}", "secret", value) for key, value in found.items()}
    Settings.from_environment(filled)


@pytest.mark.parametrize("name", OURS)
def test_processes_are_shut_in(name: str) -> None:
    service = OURS[name]
    assert service["read_only"] is True
    assert service["user"] == "10001:10001"
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 (a memory of its own, inside the container)
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_only_what_people_use_can_be_reached_from_outside() -> None:
    opened = {name for name, each in COMPOSE["services"].items() if "ports" in each}
    assert opened == {"lobby", "replay", "grafana"}
    assert COMPOSE["networks"]["stores"] == COMPOSE["networks"]["inside"] == {"internal": True}
    for name, service in COMPOSE["services"].items():
        assert ("outside" in service["networks"]) == (name in opened)


@pytest.mark.parametrize("name", LASTING)
def test_processes_get_the_time_that_their_end_may_take(name: str) -> None:
    seconds = int(LASTING[name]["stop_grace_period"].removesuffix("s"))
    assert seconds >= process_of(LASTING[name]["command"]).stop_seconds + 5


@pytest.mark.parametrize("name", LASTING)
def test_nothing_that_uses_the_database_starts_before_the_guard_has_seen_the_log(name: str) -> None:
    if "BAOHUANG_DATABASE_URL" in LASTING[name]["environment"]:
        waits = LASTING[name]["depends_on"]["restore-guard"]
        assert waits == {"condition": "service_completed_successfully"}
    migrations = [name for name, each in OURS.items() if each["restart"] == "no"]
    for earlier, later in itertools.pairwise(migrations):
        assert OURS[later]["depends_on"] == {earlier: {"condition": "service_completed_successfully"}}


def test_every_password_has_a_line_in_the_template() -> None:
    named = set(re.findall(r"\$\{([A-Z_]+):", TEXT)) - {
        "LOBBY_PORT",
        "LOBBY_GRPC_PORT",
        "REPLAY_PORT",
        "GRAFANA_PORT",
    }
    lines = (FOLDER / "env.example").read_text("utf-8").splitlines()
    assert {line.partition("=")[0] for line in lines if not line.startswith("#")} == named
    assert all(line.endswith("=") for line in lines if not line.startswith("#")), "a template holds no secret"


def test_mounted_files_are_there() -> None:
    for service in COMPOSE["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (FOLDER / source).exists() if source.startswith(".") else source in COMPOSE["volumes"]


def test_prometheus_scrapes_every_process_at_its_port() -> None:
    (job,) = yaml.safe_load((FOLDER / "prometheus.yaml").read_text("utf-8"))["scrape_configs"]
    assert job["job_name"] == "baohuang"
    scraped = {name: each["port"] for each in job["dns_sd_configs"] for name in each["names"]}
    told = {
        name: int(each["environment"].get("BAOHUANG_METRICS_PORT") or each["environment"]["BAOHUANG_PORT"])
        for name, each in LASTING.items()
    }
    assert scraped == told
    assert [each["target_label"] for each in job["relabel_configs"]] == ["component"]


def test_images_of_others_are_named_with_their_release() -> None:
    images = [each["image"] for name, each in COMPOSE["services"].items() if name not in OURS]
    dev = render(KUSTOMIZE / "overlays/dev")
    stores = [pod(each)["containers"][0]["image"] for each in of_kind(dev, "StatefulSet")]
    assert set(stores) <= set(images), "the same stores as on a cluster"
    assert all(re.search(r"[^:]+:v?\d", image) for image in images)
