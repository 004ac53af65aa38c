"""The network policies let through what docs/operations.md lists, and nothing else."""

from typing import NamedTuple

import pytest

from tests.unit.deploy.manifests import (
    COMPONENT,
    KUSTOMIZE,
    Manifest,
    combine,
    labels,
    matches,
    of_kind,
    render,
)
from tests.unit.deploy.test_manifests import table

Arrow = tuple[str, str, int]
NAMESPACE = "kubernetes.io/metadata.name"
OUTSIDE = ("ingress-nginx", "keda", "monitoring", "kube-system", "default")
PORTS = (53, 5432, 5672, 6379, 8080, 9090, 50051)

DEV = combine(KUSTOMIZE / "overlays/dev", ("bots-by-redis-queue",))
PRODUCTION = render(KUSTOMIZE / "overlays/production")


class End(NamedTuple):
    """One end of a connection: a pod of ours, or any pod of another namespace."""

    name: str
    namespace: dict[str, str]
    labels: dict[str, str]
    is_inside: bool


def ends(manifests: tuple[Manifest, ...]) -> list[End]:
    inside = {
        labels(each)[COMPONENT]: labels(each)
        for each in of_kind(manifests, "Deployment", "StatefulSet", "Job")
    }
    return [End(name, {NAMESPACE: "ours"}, found, True) for name, found in inside.items()] + [
        End(name, {NAMESPACE: name}, {"k8s-app": "kube-dns"} if name == "kube-system" else {}, False)
        for name in OUTSIDE
    ]


def lets_through(policies: list[Manifest], direction: str, subject: End, other: End, port: int) -> bool:
    """Whether the policies let `subject` take a connection from, or open one to, `other`."""
    if not subject.is_inside:
        return True
    about = [
        each
        for each in policies
        if direction in each["spec"]["policyTypes"] and matches(each["spec"]["podSelector"], subject.labels)
    ]
    key = "from" if direction == "Ingress" else "to"
    return not about or any(
        any(is_peer(peer, other) for peer in rule[key]) and port in {each["port"] for each in rule["ports"]}
        for each in about
        for rule in each["spec"].get(direction.lower(), ())
    )


def is_peer(peer: Manifest, other: End) -> bool:
    if "ipBlock" in peer:
        return False
    if "namespaceSelector" in peer:
        return matches(peer["namespaceSelector"], other.namespace) and matches(
            peer.get("podSelector", {}), other.labels
        )
    return other.is_inside and matches(peer["podSelector"], other.labels)


def allowed(manifests: tuple[Manifest, ...]) -> set[Arrow]:
    policies = of_kind(manifests, "NetworkPolicy")
    return {
        (source.name, target.name, port)
        for source in ends(manifests)
        for target in ends(manifests)
        for port in PORTS
        if (source.is_inside or target.is_inside)
        and lets_through(policies, "Egress", source, target, port)
        and lets_through(policies, "Ingress", target, source, port)
    }


def documented() -> set[Arrow]:
    return {(row[0], row[1], int(row[2])) for row in table("Who may call whom")}


def test_the_policies_allow_exactly_what_is_documented() -> None:
    expected = {
        (source, "valkey" if target == "broker" else target, port) for source, target, port in documented()
    }
    dns = {(end.name, "kube-system", 53) for end in ends(DEV) if end.is_inside}
    assert allowed(DEV) == expected | dns


def test_in_production_the_same_holds_and_stores_are_reached_by_address_alone() -> None:
    stores = {"postgres", "valkey", "broker"}
    inside = {arrow for arrow in documented() if arrow[1] not in stores}
    dns = {(end.name, "kube-system", 53) for end in ends(PRODUCTION) if end.is_inside}
    assert allowed(PRODUCTION) == inside | dns
    by_address: set[tuple[str, str, int]] = set()
    for policy in of_kind(PRODUCTION, "NetworkPolicy"):
        for rule in policy["spec"].get("egress", ()):
            if any("ipBlock" in peer for peer in rule["to"]):
                assert all("ipBlock" in peer for peer in rule["to"])
                store = policy["metadata"]["name"].removeprefix("out-to-")
                by_address |= {
                    (end.name, store, port["port"])
                    for end in ends(PRODUCTION)
                    if end.is_inside and matches(policy["spec"]["podSelector"], end.labels)
                    for port in rule["ports"]
                }
    assert by_address == {arrow for arrow in documented() if arrow[1] in stores and arrow[0] != "keda"}


@pytest.mark.parametrize("direction", ["Ingress", "Egress"])
def test_what_no_policy_names_may_neither_call_nor_be_called(direction: str) -> None:
    stranger = End("stranger", {NAMESPACE: "ours"}, {}, True)
    policies = of_kind(DEV, "NetworkPolicy")
    assert not [
        (other.name, port)
        for other in ends(DEV)
        for port in PORTS
        if lets_through(policies, direction, stranger, other, port)
    ]
