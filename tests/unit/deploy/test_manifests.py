"""What the parts of deploy/kustomize say of each other, of the code and of documents: no schema sees that."""

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from services.kit.settings import Settings
from services.kit.tasks import BOTS_QUEUE
from tests.unit.deploy.manifests import (
    COMPONENT,
    KUSTOMIZE,
    ROOT,
    Manifest,
    combine,
    containers,
    environment,
    is_ours,
    labels,
    matches,
    name_of,
    named,
    of_kind,
    pod,
    ports,
    process_of,
    render,
    selected,
)

DEV, PRODUCTION = render(KUSTOMIZE / "overlays/dev"), render(KUSTOMIZE / "overlays/production")
RABBITMQ = combine(KUSTOMIZE / "base", ("bots-by-rabbitmq-queue", "network-policies"))
EVERYTHING = pytest.mark.parametrize(
    "manifests", [DEV, PRODUCTION, RABBITMQ], ids=["dev", "production", "rabbitmq"]
)
DEPLOYMENTS = {each["metadata"]["name"]: each for each in of_kind(PRODUCTION, "Deployment")}
PROCESSES_WITH_HTTP_HEALTH = DEPLOYMENTS.keys() - {"engine"}
DEPLOYMENT = pytest.mark.parametrize("deployment", DEPLOYMENTS.values(), ids=DEPLOYMENTS)
OPERATIONS = (ROOT / "docs/operations.md").read_text("utf-8")


def test_every_process_is_deployed() -> None:
    assert {"engine", "lobby", "lobby-follower", "replay", "replay-follower", "bots"} == DEPLOYMENTS.keys()


def services(manifests: tuple[Manifest, ...]) -> list[Manifest]:
    """Those that lead to pods."""
    return [each for each in of_kind(manifests, "Service") if "selector" in each["spec"]]


# --- what selects what


@EVERYTHING
def test_selectors_take_the_pods_that_they_name(manifests: tuple[Manifest, ...]) -> None:
    for workload in of_kind(manifests, "Deployment", "StatefulSet"):
        assert matches(workload["spec"]["selector"], labels(workload)), name_of(workload)
        assert selected(manifests, workload["spec"]["selector"]) == [workload]
    for service in services(manifests):
        (workload,) = selected(manifests, {"matchLabels": service["spec"]["selector"]})
        assert workload["metadata"]["name"] == service["metadata"]["name"]
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        (workload,) = selected(manifests, budget["spec"]["selector"])
        assert workload["metadata"]["name"] == budget["metadata"]["name"]
    for workload in of_kind(manifests, "Deployment"):
        for spread in pod(workload)["topologySpreadConstraints"]:
            assert selected(manifests, spread["labelSelector"]) == [workload]


@EVERYTHING
def test_scalers_lead_to_deployments_that_leave_their_number_to_them(manifests: tuple[Manifest, ...]) -> None:
    scalers = of_kind(manifests, "HorizontalPodAutoscaler", "ScaledObject")
    for scaler in scalers:
        target = named(manifests, "Deployment", scaler["spec"]["scaleTargetRef"]["name"])
        assert "replicas" not in target["spec"], "each apply would set it back"
        least = scaler["spec"].get("minReplicas") or scaler["spec"]["minReplicaCount"]
        assert least >= 2, "else a disruption budget of one lets nothing or everything go"
    scaled = {scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers}
    for deployment in of_kind(manifests, "Deployment"):
        if deployment["metadata"]["name"] not in scaled:
            assert deployment["spec"]["replicas"] >= 2


@EVERYTHING
def test_workers_are_scaled_by_the_queue_that_turns_are_sent_to(manifests: tuple[Manifest, ...]) -> None:
    for scaled in of_kind(manifests, "ScaledObject"):
        (trigger,) = scaled["spec"]["triggers"]
        assert BOTS_QUEUE in trigger["metadata"].values()
        named(manifests, "TriggerAuthentication", trigger["authenticationRef"]["name"])


# --- ports and probes


@EVERYTHING
def test_services_and_ways_in_lead_to_ports_that_are_there(manifests: tuple[Manifest, ...]) -> None:
    for service in services(manifests):
        (workload,) = selected(manifests, {"matchLabels": service["spec"]["selector"]})
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports(workload).keys()
    for ingress in of_kind(manifests, "Ingress"):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                offered = named(manifests, "Service", backend["name"])["spec"]["ports"]
                assert backend["port"]["name"] in {port["name"] for port in offered}


@DEPLOYMENT
def test_probes_ask_numbered_ports_that_the_process_listens_on(deployment: Manifest) -> None:
    (container,) = pod(deployment)["containers"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe].get("grpc") or container[probe]["httpGet"]
        assert isinstance(asked["port"], int), "gRPC probes take numbers only, so all do"
        assert asked["port"] in ports(deployment).values()
        # Health is HTTP's business wherever there is any.
        speaks_http = PROCESSES_WITH_HTTP_HEALTH & {deployment["metadata"]["name"]}
        assert ("httpGet" in container[probe]) == bool(speaks_http)
        if probe == "readinessProbe":
            assert asked.get("path", "/health/ready") == "/health/ready"
            assert "service" not in asked
        else:
            assert asked.get("path", "/health/live") == "/health/live"
            assert asked.get("service", "live") == "live"


@DEPLOYMENT
def test_the_ports_are_the_ones_that_the_process_is_told(deployment: Manifest) -> None:
    (container,) = pod(deployment)["containers"]
    variables = environment(container, PRODUCTION)
    told = {int(value) for name, value in variables.items() if name.endswith("_PORT")}
    assert told == set(ports(deployment).values())
    assert variables["BAOHUANG_HOST"] == "0.0.0.0"  # noqa: S104 (the network policies say who gets there)
    process = process_of(container["args"])
    assert (process.port is not None) == ("BAOHUANG_PORT" in variables)


@EVERYTHING
def test_the_engines_address_is_its_service(manifests: tuple[Manifest, ...]) -> None:
    (settings,) = [each for each in of_kind(manifests, "ConfigMap") if "BAOHUANG_HOST" in each["data"]]
    host, _, port = settings["data"]["BAOHUANG_ENGINE_TARGET"].removeprefix("dns:///").partition(":")
    service = named(manifests, "Service", host)["spec"]
    assert int(port) in {each["port"] for each in service["ports"]}
    # Behind one address all calls of a client would go to one engine.
    assert service["clusterIP"] == "None"


# --- settings and secrets


@EVERYTHING
def test_processes_are_told_what_they_need_by_names_that_they_know(manifests: tuple[Manifest, ...]) -> None:
    known = {f"BAOHUANG_{name.upper()}" for name in Settings.__dataclass_fields__}
    for workload in of_kind(manifests, "Deployment", "Job"):
        for container in filter(is_ours, containers(workload)):
            if "args" not in container:
                continue
            found = environment(container, manifests)
            assert found.keys() <= known, f"{name_of(workload)}: unknown settings"
            process = process_of(container["args"])
            needed = {f"BAOHUANG_{name.upper()}" for name in process.needs}
            assert needed <= found.keys(), f"{name_of(workload)} {container['args']}"
            plain = {name: value for name, value in found.items() if not value.startswith("secret ")}
            Settings.from_environment(plain)


def secret_keys(manifests: tuple[Manifest, ...]) -> set[str]:
    """All keys of the secret `baohuang` that anything reads."""
    keys = {
        variable["valueFrom"]["secretKeyRef"]["key"]
        for workload in of_kind(manifests, "Deployment", "StatefulSet", "Job")
        for container in containers(workload)
        for variable in container.get("env", ())
        if "valueFrom" in variable
    }
    for authentication in of_kind(manifests, "TriggerAuthentication"):
        assert {each["name"] for each in authentication["spec"]["secretTargetRef"]} == {"baohuang"}
        keys |= {each["key"] for each in authentication["spec"]["secretTargetRef"]}
    return keys


def test_the_secret_of_dev_holds_all_keys_that_are_read() -> None:
    (secret,) = of_kind(DEV, "Secret")
    scaled = combine(KUSTOMIZE / "overlays/dev", ("bots-by-redis-queue",))
    assert secret_keys(scaled) == secret["data"].keys()


def test_production_holds_no_secret_and_its_keys_are_documented() -> None:
    assert of_kind(PRODUCTION, "Secret") == []
    documented = set(re.findall(r"^\| `([a-z-]+)` \| [^|]*\| [^|]*\|$", section("The secret"), re.MULTILINE))
    assert secret_keys(PRODUCTION) | secret_keys(RABBITMQ) == documented


def test_each_process_has_the_database_role_of_its_own() -> None:
    roles = {
        name: environment(pod(each)["containers"][0], PRODUCTION).get("BAOHUANG_DATABASE_URL")
        for name, each in DEPLOYMENTS.items()
    }
    assert roles == {
        "engine": "secret engine-database-url",
        "lobby": "secret lobby-database-url",
        "lobby-follower": "secret lobby-database-url",
        "replay": "secret replay-database-url",
        "replay-follower": "secret replay-database-url",
        "bots": None,
    }


def test_in_production_nothing_but_the_secret_holds_an_address_with_a_password() -> None:
    without = [each for each in PRODUCTION if each["kind"] != "PrometheusRule"]
    assert re.findall(r"://[^/\s]*:[^/\s]*@", str(without)) == []


# --- the restricted pod security standard


@EVERYTHING
def test_pods_are_restricted(manifests: tuple[Manifest, ...]) -> None:
    for workload in of_kind(manifests, "Deployment", "StatefulSet", "Job"):
        spec, where = pod(workload), name_of(workload)
        context = spec["securityContext"]
        assert context["runAsNonRoot"] is True, where
        assert context["runAsUser"] > 0
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        assert spec["enableServiceLinks"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
        assert not [volume for volume in spec.get("volumes", ()) if "hostPath" in volume]
        for container in containers(workload):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, f"{where} {container['name']}"
            assert {"cpu", "memory"} == container["resources"]["requests"].keys()
            assert container["resources"]["limits"].keys() == {"memory"}
            assert not [port for port in container.get("ports", ()) if "hostPort" in port]


@EVERYTHING
def test_the_namespace_demands_it(manifests: tuple[Manifest, ...]) -> None:
    for namespace in of_kind(manifests, "Namespace"):
        assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@EVERYTHING
def test_service_accounts_are_apart_and_grant_nothing(manifests: tuple[Manifest, ...]) -> None:
    accounts = {account["metadata"]["name"] for account in of_kind(manifests, "ServiceAccount")}
    used = [pod(each)["serviceAccountName"] for each in of_kind(manifests, "Deployment", "Job")]
    assert sorted(used) == sorted(accounts)
    assert of_kind(manifests, "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding") == []


# --- the end of a pod, and the image


@DEPLOYMENT
def test_pods_get_the_time_that_their_end_may_take(deployment: Manifest) -> None:
    (container,) = pod(deployment)["containers"]
    pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    stop = process_of(container["args"]).stop_seconds
    assert pod(deployment)["terminationGracePeriodSeconds"] >= pause + stop + 5
    # Whoever is called by address goes on being called until everybody has heard.
    assert (pause > 0) == bool({"grpc", "http"} & ports(deployment).keys())


@EVERYTHING
def test_arguments_are_modules_and_commands_that_are_there(manifests: tuple[Manifest, ...]) -> None:
    for workload in of_kind(manifests, "Deployment", "Job"):
        for container in filter(is_ours, containers(workload)):
            if "args" in container:
                assert importlib.util.find_spec(container["args"][0]) is not None
                process_of(container["args"])


def test_the_steps_of_an_upgrade_take_in_everything() -> None:
    steps = re.search(r"in \(([a-z, ]+)\)'$", OPERATIONS, re.MULTILINE)
    loop = re.search(r"^for name in ([a-z -]+); do$", OPERATIONS, re.MULTILINE)
    assert steps is not None
    assert loop is not None
    assert sorted(loop[1].split()) == sorted(DEPLOYMENTS)
    before = steps[1].split(", ")
    for manifest in PRODUCTION:
        component = manifest["metadata"]["labels"][COMPONENT]
        assert component in {*before, *DEPLOYMENTS, "monitoring"}, name_of(manifest)
    needed = {"Namespace", "ConfigMap", "ServiceAccount", "NetworkPolicy", "Service", "Job"}
    first = {each["kind"] for each in PRODUCTION if each["metadata"]["labels"][COMPONENT] in before}
    assert first == needed, "what the job needs is there before it, and nothing else is touched"


def test_the_image_of_production_is_the_projects_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    images = {container["image"] for each in DEPLOYMENTS.values() for container in containers(each)}
    assert images == {f"registry.example.org/baohuang:{version}"}


def test_the_job_migrates_everything_grants_and_ends_with_the_guard() -> None:
    (job,) = of_kind(PRODUCTION, "Job")
    steps = [" ".join(container["args"]) for container in containers(job)]
    folders = sorted(path.parent for path in (ROOT / "services").glob("*/migrations"))
    assert sorted(steps[: len(folders)]) == [f"services.{folder.name} migrate" for folder in folders]
    assert steps[0] == "services.eventstore migrate"
    assert steps[len(folders) :] == ["services.eventstore grant", "services.eventstore check"]


# --- metrics


def test_every_pod_of_ours_is_scraped_once_at_a_port_that_it_has() -> None:
    scraped: list[str] = []
    for monitor in of_kind(PRODUCTION, "PodMonitor"):
        assert monitor["spec"]["jobLabel"] == "app.kubernetes.io/name"
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            assert [each["targetLabel"] for each in endpoint["relabelings"]] == ["component"]
            for workload in selected(PRODUCTION, monitor["spec"]["selector"]):
                assert endpoint["port"] in ports(workload)
                scraped.append(workload["metadata"]["name"])
    assert sorted(scraped) == sorted(DEPLOYMENTS)
    assert {labels(each)["app.kubernetes.io/name"] for each in DEPLOYMENTS.values()} == {"baohuang"}
    assert all(labels(each)[COMPONENT] == name for name, each in DEPLOYMENTS.items())


# --- documents


def section(title: str) -> str:
    """The text under a heading of docs/operations.md."""
    _, _, rest = OPERATIONS.partition(f" {title}\n")
    assert rest, f"docs/operations.md has no part {title!r}"
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]


def table(title: str) -> list[list[str]]:
    """The rows of the first table under a heading, without its head; cells without back-ticks."""
    rows = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows[2:]]


def test_every_setting_is_documented() -> None:
    known = {f"BAOHUANG_{name.upper()}" for name in Settings.__dataclass_fields__}
    assert {row[0] for row in table("Settings")} == known, "docs/operations.md: a row for each setting"


def test_documented_requests_are_the_ones_asked_for() -> None:
    asked: dict[str, Any] = {}
    for name, each in DEPLOYMENTS.items():
        resources = pod(each)["containers"][0]["resources"]
        requests, limits = resources["requests"], resources["limits"]
        asked[name] = [requests["cpu"], requests["memory"], limits["memory"]]
    assert {row[0]: row[1:4] for row in table("Resources")} == asked


def test_documented_connections_are_the_most_that_may_be_opened() -> None:
    bounds = {
        each["metadata"]["name"]: each["spec"]["maxReplicas"]
        for each in of_kind(PRODUCTION, "HorizontalPodAutoscaler")
    }
    most = 0
    for name, each in DEPLOYMENTS.items():
        variables = environment(pod(each)["containers"][0], PRODUCTION)
        if "BAOHUANG_DATABASE_URL" in variables:
            replicas = bounds[name] if name in bounds else each["spec"]["replicas"]
            most += replicas * int(variables["BAOHUANG_DATABASE_CONNECTIONS"])
    assert f"makes {most} connections" in section("Resources")


def test_documented_ends_are_the_ones_given() -> None:
    given = {name: f"{pod(each)['terminationGracePeriodSeconds']} s" for name, each in DEPLOYMENTS.items()}
    assert {row[0]: row[1] for row in table("Ends")} == given


def test_commands_in_the_documents_name_what_is_there() -> None:
    for path in re.findall(r"(?:-k|--kustomize|kustomize) (deploy/\S+)", OPERATIONS):
        assert (ROOT / path / "kustomization.yaml").is_file(), path
    for name in re.findall(r"(?:job|deployment)/([a-z-]+)", OPERATIONS):
        assert name in DEPLOYMENTS or name == "migrate"


@pytest.mark.parametrize("path", sorted((ROOT / "deploy").rglob("kustomization.yaml")), ids=str)
def test_every_file_beside_a_kustomization_is_used_by_it(path: Path) -> None:
    text = path.read_text("utf-8")
    for beside in path.parent.iterdir():
        if beside.suffix in {".yaml", ".env", ".sh"} and beside != path:
            made_from = beside.name in {"rules.yaml", "dashboards.yaml"}
            assert beside.name in text or made_from, f"{beside} is used by nothing"
