"""What can be reached from outside: all that services answer to people and programs, and no more."""

import pytest
from litestar import Litestar

from services.kit.settings import Settings
from services.lobby.rest.app import make_lobby
from services.replay.app import make_replay
from tests.unit.deploy.manifests import KUSTOMIZE, Manifest, named, render

PRODUCTION = render(KUSTOMIZE / "overlays/production")
SETTINGS = Settings(
    database_url="postgresql://nowhere/nothing",
    valkey_url="redis://nowhere/0",
    broker_url="redis://nowhere/0",
    engine_target="nowhere:1",
)
FOR_OPERATORS = {"/metrics", "/health/live", "/health/ready"}


def paths(app: Litestar) -> set[str]:
    """All forms of addresses that the application answers, `{...}` filled in."""
    filled = (route.path_format.replace("{", "").replace("}", "") for route in app.routes)
    return {path for path in filled if path}


def leads_to(ingress: Manifest, path: str) -> str | None:
    """The service behind a path: that of the longest prefix."""
    (rule,) = ingress["spec"]["rules"]
    assert {each["pathType"] for each in rule["http"]["paths"]} == {"Prefix"}
    fitting = [
        each
        for each in rule["http"]["paths"]
        if path == each["path"] or path.startswith(each["path"].rstrip("/") + "/")
    ]
    longest = max(fitting, key=lambda each: len(each["path"]), default=None)
    return None if longest is None else str(longest["backend"]["service"]["name"])


@pytest.mark.parametrize(
    ("name", "app"),
    [("lobby", make_lobby(SETTINGS)), ("replay", make_replay(SETTINGS))],
    ids=["lobby", "replay"],
)
def test_everything_but_what_is_for_operators_can_be_reached(name: str, app: Litestar) -> None:
    ingress = named(PRODUCTION, "Ingress", name)
    found = paths(app)
    assert found >= FOR_OPERATORS
    assert {leads_to(ingress, path) for path in found - FOR_OPERATORS} == {name}
    assert {leads_to(ingress, path) for path in FOR_OPERATORS} == {"nobody"}
    assert "selector" not in named(PRODUCTION, "Service", "nobody")["spec"]


def test_ways_in_are_encrypted() -> None:
    for name in ("lobby", "lobby-grpc", "replay"):
        spec = named(PRODUCTION, "Ingress", name)["spec"]
        hosts = {rule["host"] for rule in spec["rules"]}
        assert {host for each in spec["tls"] for host in each["hosts"]} == hosts
        assert {each["secretName"] for each in spec["tls"]} == {"baohuang-tls"}


def test_the_lobby_knows_that_somebody_stands_before_it() -> None:
    lobby = named(PRODUCTION, "Deployment", "lobby")["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "BAOHUANG_PROXIES", "value": "1"} in lobby["env"]
