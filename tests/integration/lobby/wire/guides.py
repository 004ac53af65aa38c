"""Guides as programs: their files and their commands, as they stand on the page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
GUIDES = ROOT / "docs/guides"
BLOCK = re.compile(r"(?:into `(?P<file>\S+)`:\n\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)


def script_of(name: str, folder: Path, addresses: dict[str, str]) -> str:
    """The commands of a guide, its addresses replaced; its files are written into `folder`."""
    text = (GUIDES / name).read_text("utf-8")
    for written, real in addresses.items():
        text = text.replace(written, real)
    commands = []
    for block in BLOCK.finditer(text):
        if block["file"]:
            (folder / block["file"]).write_text(block["text"], "utf-8")
        elif block["language"] == "sh":
            commands.append(block["text"])
        else:
            raise AssertionError(f"{name} has a block of {block['language']} that is neither run nor a file")
    return "\n".join(commands)


def run_guide(name: str, folder: Path, addresses: dict[str, str]) -> str:
    """Run a guide in a folder that holds what the project's folder does; gives what it prints."""
    for part in ("examples", "protos"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("node_modules"))
    script = script_of(name, folder, addresses)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BAOHUANG_")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
