"""The whole platform on this machine."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from baohuang import PRESETS
from services.local.first_hands import PlayedHand, play_first_hands
from services.local.platform import Platform


@pytest.fixture(scope="session")
def data_root() -> Iterator[Path]:
    """For data that Postgres' own user must reach, unlike pytest's folders, which are private."""
    folder = Path(tempfile.mkdtemp(prefix="baohuang-e2e-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data_dir(data_root: Path) -> Path:
    folder = Path(tempfile.mkdtemp(dir=data_root)) / "data"
    folder.parent.chmod(0o711)
    return folder


@pytest.fixture(scope="module")
def platform(data_root: Path) -> Iterator[Platform]:
    """A running platform."""
    folder = data_root / "platform"
    folder.mkdir(mode=0o711)
    with Platform(folder) as running:
        yield running


@pytest.fixture(scope="module")
def hands(platform: Platform) -> list[PlayedHand]:
    """A hand of each rule set, played on it."""
    return play_first_hands(platform, tuple(PRESETS))
