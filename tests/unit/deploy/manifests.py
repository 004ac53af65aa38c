"""What kustomize makes of deploy/kustomize, and questions about it that its schemas cannot ask."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from services.bots.app import make_app
from services.engine.server import DRAIN_SECONDS
from services.lobby.__main__ import COMMANDS as LOBBY
from services.replay.__main__ import COMMANDS as REPLAY

ROOT = Path(__file__).resolve().parents[3]
KUSTOMIZE = ROOT / "deploy/kustomize"
COMPONENT = "app.kubernetes.io/component"
WORKLOADS = ("Deployment", "StatefulSet", "Job")

Manifest = dict[str, Any]


class Process(NamedTuple):
    """What the code says of a process: the settings it cannot do without, and how long its end may take."""

    needs: tuple[str, ...]
    stop_seconds: float
    port: str | None = None
    """The setting of the port that it serves its clients on."""


_SOFT_SHUTDOWN = make_app("redis://", "").conf.worker_soft_shutdown_timeout
PROCESSES = {
    "services.engine": Process(("database_url",), DRAIN_SECONDS, "port"),
    "services.lobby serve": Process(LOBBY["serve"].needs, 0, "port"),
    "services.lobby follow": Process(LOBBY["follow"].needs, 0),
    "services.lobby migrate": Process(LOBBY["migrate"].needs, 0),
    "services.replay serve": Process(REPLAY["serve"].needs, 0, "port"),
    "services.replay follow": Process(REPLAY["follow"].needs, 0),
    "services.replay migrate": Process(REPLAY["migrate"].needs, 0),
    "services.bots worker": Process(("broker_url", "engine_target"), float(_SOFT_SHUTDOWN)),
    "services.eventstore migrate": Process(("database_url",), 0),
    "services.eventstore grant": Process(("database_url",), 0),
    "services.eventstore check": Process(("database_url",), 0),
}
"""By their arguments, options left out."""


def process_of(arguments: list[str]) -> Process:
    """The process that these arguments of the image start."""
    words = arguments[: next((i for i, word in enumerate(arguments) if word.startswith("-")), None)]
    return PROCESSES[" ".join(words)]


@lru_cache
def render(path: Path) -> tuple[Manifest, ...]:
    """All resources of a kustomization. Fails with what kustomize says."""
    kubectl = Path(sys.executable).with_name("kubectl")
    result = subprocess.run([kubectl, "kustomize", path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == "", "kustomize warns"
    return tuple(yaml.safe_load_all(result.stdout))


@lru_cache
def combine(base: Path, components: tuple[str, ...]) -> tuple[Manifest, ...]:
    """The resources of `base` with these components on top."""
    with tempfile.TemporaryDirectory() as folder:
        above = Path(folder).resolve()
        (above / "kustomization.yaml").write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "kustomize.config.k8s.io/v1beta1",
                    "kind": "Kustomization",
                    "resources": [os.path.relpath(base, above)],
                    "components": [
                        os.path.relpath(KUSTOMIZE / "components" / name, above) for name in components
                    ],
                }
            )
        )
        return render(above)


def of_kind(manifests: tuple[Manifest, ...], *kinds: str) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest["kind"] in kinds]


def named(manifests: tuple[Manifest, ...], kind: str, name: str) -> Manifest:
    (found,) = [each for each in of_kind(manifests, kind) if each["metadata"]["name"] == name]
    return found


def name_of(manifest: Manifest) -> str:
    return f"{manifest['kind']}/{manifest['metadata']['name']}"


def pod(workload: Manifest) -> Manifest:
    spec: Manifest = workload["spec"]["template"]["spec"]
    return spec


def labels(workload: Manifest) -> dict[str, str]:
    """Of the workload's pods."""
    found: dict[str, str] = workload["spec"]["template"]["metadata"]["labels"]
    return found


def containers(workload: Manifest) -> Iterator[Manifest]:
    """Init containers too."""
    yield from pod(workload).get("initContainers", ())
    yield from pod(workload)["containers"]


def matches(selector: Manifest, found: dict[str, str]) -> bool:
    """Whether a label selector takes a pod with these labels; an empty one takes every pod."""
    expressions = selector.get("matchExpressions", [])
    assert {each["operator"] for each in expressions} <= {"In"}
    return all(found.get(key) == value for key, value in selector.get("matchLabels", {}).items()) and all(
        found.get(each["key"]) in each["values"] for each in expressions
    )


def selected(manifests: tuple[Manifest, ...], selector: Manifest) -> list[Manifest]:
    """The workloads whose pods a selector takes."""
    return [each for each in of_kind(manifests, *WORKLOADS) if matches(selector, labels(each))]


def ports(workload: Manifest) -> dict[str, int]:
    """Numbers of the ports of its containers, by name."""
    return {
        port["name"]: port["containerPort"]
        for container in containers(workload)
        for port in container.get("ports", ())
    }


def is_ours(container: Manifest) -> bool:
    """Whether it runs our image."""
    return str(container["image"]).rpartition("/")[2].split(":")[0] == "baohuang"


def environment(container: Manifest, manifests: tuple[Manifest, ...]) -> dict[str, str]:
    """Its variables: values, or `secret KEY` where they come from the secret."""
    found: dict[str, str] = {}
    for source in container.get("envFrom", ()):
        found |= named(manifests, "ConfigMap", source["configMapRef"]["name"])["data"]
    for variable in container.get("env", ()):
        if "value" in variable:
            found[variable["name"]] = variable["value"]
        else:
            reference = variable["valueFrom"]["secretKeyRef"]
            assert reference["name"] == "baohuang"
            found[variable["name"]] = f"secret {reference['key']}"
    return found
