"""Generates the stubs under baohuang/rpc from the contracts under protos/, or compares the two.

Usage: python scripts/protos.py generate|check
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = ROOT / "protos"
STUBS = Path("baohuang/rpc")


def generate(target: Path) -> None:
    """Writes the stubs of all contracts below `target`, in place of those that lie there."""
    for stale in stubs(target).values():
        stale.unlink()
    contracts = sorted(CONTRACTS.rglob("*.proto"))
    protoc(contracts, f"--python_out={target}", f"--mypy_out=quiet:{target}")
    # The gRPC plugins would write an empty module for a contract without a service: they see only the others.
    serving = [path for path in contracts if re.search(r"^service ", path.read_text("utf-8"), re.MULTILINE)]
    # `only_async`: every server and client here is grpc.aio's (the plugin's own page calls it async_only).
    protoc(serving, f"--grpc_python_out={target}", f"--mypy_grpc_out=quiet,only_async:{target}")
    for path in (target / STUBS).rglob("*"):
        if path.is_dir() and path.name != "__pycache__":
            (path / "__init__.py").touch()
    (target / STUBS / "__init__.py").touch()


def protoc(contracts: list[Path], *outputs: str) -> None:
    """Runs the compiler of grpcio-tools: its release is pinned, so its output is the same everywhere."""
    plugins = [
        f"--plugin={name}={Path(sys.executable).with_name(name)}"
        for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")
    ]
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={CONTRACTS}", *plugins, *outputs]
    subprocess.run([*command, *map(str, contracts)], check=True)


def stubs(target: Path) -> dict[str, Path]:
    """The generated files below `target` by their names relative to it."""
    found = [*(target / STUBS).rglob("*_pb2*.py"), *(target / STUBS).rglob("*_pb2*.pyi")]
    return {str(path.relative_to(target)): path for path in sorted(found)}


def drift() -> list[str]:
    """One line for each stub that is not what the contracts generate; empty when all are."""
    with tempfile.TemporaryDirectory() as fresh_root:
        (Path(fresh_root) / STUBS).mkdir(parents=True)
        generate(Path(fresh_root))
        fresh, committed = stubs(Path(fresh_root)), stubs(ROOT)
        missing = [f"missing: {name}" for name in fresh.keys() - committed.keys()]
        left_over = [f"of no contract: {name}" for name in committed.keys() - fresh.keys()]
        changed = [
            f"not as generated: {name}"
            for name in fresh.keys() & committed.keys()
            if fresh[name].read_bytes() != committed[name].read_bytes()
        ]
    return sorted(missing + left_over + changed)


def main() -> int:
    """Exit status: 0 done or no drift, 1 drift, 2 wrong usage."""
    match sys.argv[1:]:
        case ["generate"]:
            (ROOT / STUBS).mkdir(parents=True, exist_ok=True)
            generate(ROOT)
            return 0
        case ["check"]:
            found = drift()
            for line in found:
                print(line)
            if found:
                print("The stubs differ from protos/. Run `make protos` and commit what it writes.")
            return 1 if found else 0
        case _:
            print(__doc__)
            return 2


if __name__ == "__main__":
    sys.exit(main())
