"""Builds the image of deploy/image/Dockerfile where no image registry is at hand, in a storage of its own.

Usage: python -m scripts.image FOLDER     (as root, with Debian's buildah and debootstrap)

The base is a minimal Debian 12 made by debootstrap; the official Python image, the Dockerfile's default, is
not pulled. Packages come from PyPI through this machine's pip, into a folder that the build sees as /wheels.
Everything, containers' storage too, lies in FOLDER; what is there already is used again. Run an image with
`podman --root FOLDER/storage --runroot FOLDER/run`. `make prove` does, for each process.
"""

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
DOCKERFILE: Final = ROOT / "deploy/image/Dockerfile"
BASE: Final = "localhost/debian-python:12"
IMAGE: Final = "localhost/baohuang:built"
EXTRAS: Final = ("arena", "services")
"""What the Dockerfile installs of the project's extras; a test compares."""
BASE_PYTHON: Final = "3.11"
"""Debian 12's."""
OLDER_PYTHON: Final = ("async-timeout",)
"""Needed by the base's 3.11.2, but not by a later Python that may run this script: pip asks the latter."""
TOOLS: Final = ("buildah", "debootstrap", "podman", "runc")
"""Debian packages that this needs, and those that run the image, each with a program of its name."""


class Storage:
    """Containers' storage of its own in a folder, apart from the machine's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.options = [f"--root={folder / 'storage'}", f"--runroot={folder / 'run'}"]

    def buildah(self, *arguments: str) -> str:
        """Runs buildah; gives what it printed. Raises CalledProcessError."""
        command = ["buildah", *self.options, *arguments]
        return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def holds(self, image: str) -> bool:
        """Whether an image of this name is there."""
        command = ["buildah", *self.options, "inspect", "--type=image", image]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def build(folder: Path) -> Storage:
    """Builds IMAGE in `folder`, with all that it needs; gives the storage that holds it."""
    storage = Storage(folder)
    if not storage.holds(BASE):
        make_base(storage)
    wheels = collect_wheels(folder / "wheels")
    # Pip's settings for the builder alone, where pip looks for them: the image does not keep them.
    (folder / "pip.conf").write_text("[global]\nno-index = true\nfind-links = /wheels\n", "utf-8")
    storage.buildah(
        "build",
        "--quiet",
        "--layers",
        # Without a registry there is nothing to look up.
        "--pull=never",
        "--isolation=chroot",
        f"--build-arg=BASE={BASE}",
        f"--volume={wheels}:/wheels:ro",
        f"--volume={folder / 'pip.conf'}:/etc/pip.conf:ro",
        f"--file={DOCKERFILE}",
        f"--tag={IMAGE}",
        str(ROOT),
    )
    return storage


def make_base(storage: Storage) -> None:
    """Makes BASE, a minimal Debian 12 with Python and venv."""
    tree = storage.folder / "base"
    if not (tree / "usr/bin/python3").exists():
        command = [
            "debootstrap",
            "--variant=minbase",
            "--include=python3,python3-venv",
            "bookworm",
            str(tree),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for litter in (*tree.glob("var/cache/apt/archives/*.deb"), *tree.glob("var/lib/apt/lists/*_*")):
            litter.unlink()
    container = storage.buildah("from", "scratch")
    storage.buildah("copy", "--quiet", container, str(tree), "/")
    storage.buildah("commit", "--quiet", "--rm", container, BASE)


def collect_wheels(folder: Path) -> Path:
    """Downloads what the image installs, as constraints.txt pins it; gives the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = [
        *project["build-system"]["requires"],
        *sorted(set(requirements(project["project"], EXTRAS))),
        *OLDER_PYTHON,
    ]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--only-binary=:all:", f"--python-version={BASE_PYTHON}", f"--dest={folder}"]
    subprocess.run([*command, *options, "--constraint", "constraints.txt", *needed], cwd=ROOT, check=True)
    return folder


def requirements(project: dict[str, Any], extras: tuple[str, ...]) -> Iterator[str]:
    """All requirements of these extras of `[project]`, those of the extras within them too."""
    name = project["name"]
    for extra in extras:
        for text in project["optional-dependencies"][extra]:
            if text.startswith(f"{name}["):
                inner = text.removeprefix(f"{name}[").partition("]")[0]
                yield from requirements(project, tuple(part.strip() for part in inner.split(",")))
            else:
                yield text


def main() -> int:
    """Exit status: 0 built, 2 wrong usage or not root."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.absolute()
    if os.getuid() != 0:
        print("debootstrap and buildah's chroot isolation need root", file=sys.stderr)
        return 2
    print(build(folder).buildah("images"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
