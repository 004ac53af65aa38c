"""Every overlay, and every choice of components, is what Kubernetes and its operators take, to the letter."""

import copy
import itertools
import json
from functools import cache
from pathlib import Path

import jsonschema
import kubernetes_validate
import pytest

from tests.unit.deploy.manifests import KUSTOMIZE, Manifest, combine, named, render

SCHEMAS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in Path(__file__).parent.glob("schemas/*.json")
}
"""Of the kinds that are not Kubernetes' own, as strict as what is used of them."""
OLDEST, NEWEST = "1.30", kubernetes_validate.latest_version()
"""docs/operations.md names the oldest."""

OVERLAYS = sorted(path.parent for path in KUSTOMIZE.glob("overlays/*/kustomization.yaml"))
COMPONENTS = sorted(path.parent.name for path in KUSTOMIZE.glob("components/*/kustomization.yaml"))
QUEUES = {"bots-by-redis-queue", "bots-by-rabbitmq-queue"}
COMBINATIONS = [
    chosen
    for size in range(len(COMPONENTS) + 1)
    for chosen in itertools.combinations(COMPONENTS, size)
    if not set(chosen) >= QUEUES  # there is one broker
]


def validate(manifest: Manifest, version: str) -> None:
    """Raises for anything that is not exactly as the schema of its kind says, and for a kind without one."""
    _validate_text(json.dumps(manifest), version)


@cache  # most of what a choice of components holds is in the other choices too
def _validate_text(text: str, version: str) -> None:
    manifest = json.loads(text)
    if manifest["kind"] in SCHEMAS:
        jsonschema.Draft202012Validator(SCHEMAS[manifest["kind"]]).validate(manifest)
    else:
        kubernetes_validate.validate(manifest, version, strict=True)


def check(manifests: tuple[Manifest, ...], *versions: str) -> None:
    for manifest in manifests:
        for version in versions:
            validate(manifest, version)
    places = [(each["kind"], each["metadata"]["name"]) for each in manifests]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_overlays_are_valid(overlay: Path) -> None:
    manifests = render(overlay)
    check(manifests, OLDEST, NEWEST)
    spaces = {each["metadata"].get("namespace") for each in manifests if each["kind"] != "Namespace"}
    (namespace,) = [each for each in manifests if each["kind"] == "Namespace"]
    assert spaces == {namespace["metadata"]["name"]}


@pytest.mark.parametrize("components", COMBINATIONS, ids="+".join)
def test_every_choice_of_components_is_valid(components: tuple[str, ...]) -> None:
    check(combine(KUSTOMIZE / "base", components), OLDEST, NEWEST)


def test_components_of_production_can_be_put_on_dev() -> None:
    components = set(COMPONENTS) - {"network-policies", "bots-by-rabbitmq-queue"}
    check(combine(KUSTOMIZE / "overlays/dev", tuple(sorted(components))), NEWEST)


@pytest.mark.parametrize(
    ("kind", "name", "path", "value"),
    [
        ("Deployment", "engine", ("spec", "replicaz"), 2),
        ("Deployment", "engine", ("spec", "template", "spec", "containers", 0, "readinesProbe"), {}),
        ("Deployment", "engine", ("spec", "replicas"), "two"),
        ("NetworkPolicy", "into-engine", ("spec", "ingres"), []),
        ("PodMonitor", "web", ("spec", "podMetricsEndpoints", 0, "interval"), "often"),
        ("PrometheusRule", "baohuang", ("spec", "groups", 0, "rules", 0, "labels", "severity"), "fatal"),
        ("ScaledObject", "bots", ("spec", "triggers", 0, "metadata", "listLength"), "twenty"),
        ("ScaledObject", "bots", ("spec", "triggers", 0, "metadata", "queueName"), "baohuang.bots"),
        ("TriggerAuthentication", "bots", ("spec", "secretTargetRef", 0, "kee"), "x"),
        ("ServiceMonitor", "web", ("kind",), "ServiceMonitor"),
    ],
)
def test_the_checks_see_what_is_wrong(
    kind: str, name: str, path: tuple[str | int, ...], value: object
) -> None:
    source = kind if kind != "ServiceMonitor" else "PodMonitor"
    manifest = copy.deepcopy(named(render(KUSTOMIZE / "overlays/production"), source, name))
    validate(manifest, NEWEST)
    place = manifest
    for step in path[:-1]:
        place = place[step]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]
    with pytest.raises((jsonschema.ValidationError, kubernetes_validate.SchemaNotFoundError)):
        validate(manifest, NEWEST)
