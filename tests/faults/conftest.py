"""Servers of their own, since they are killed."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
import pytest_asyncio

from services.local.valkey import LocalValkey
from tests.faults.forge import Forge
from tests.faults.hands import scripted_hands, steps
from tests.faults.servers import KILLS, Servers

pytest.register_assert_rewrite("tests.faults.ground")


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """Where a server's own user may go, unlike pytest's folders, which are private to the tester."""
    made = Path(tempfile.mkdtemp(prefix="baohuang-faults-"))
    made.chmod(0o711)
    yield made
    rmtree(made)


@pytest.fixture(scope="session")
def servers(folder: Path) -> Iterator[Servers]:
    with (
        LocalValkey(folder / "valkey") as valkey,
        Forge() as forge,
        forge.postgres(folder / "postgres") as postgres,
    ):
        yield Servers(postgres, valkey, forge, folder)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def undisturbed(servers: Servers) -> list[tuple[Any, ...]]:
    """The log of the same hands when nobody is killed."""
    from tests.faults.ground import ground  # after its assertions were registered above

    hands = scripted_hands()
    async with ground(servers, "undisturbed") as calm:
        await calm.open_tables(hands)
        for number, awaited in steps(hands):
            await asyncio.gather(*[calm.send(hand, number) for hand in awaited])
        await calm.check(hands, None)
        assert calm.resent == 0
        return await calm.log()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if KILLS:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(KILLS.items()))
        terminalreporter.write_line(f"kill -9: {counts}, in all {KILLS.total()}")
