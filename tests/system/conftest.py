"""The whole platform on this machine, and a Prometheus that watches it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import monitoring
from services.local.platform import Platform
from tests.system.prometheus import Prometheus, quickened, watching


@pytest.fixture(scope="package")
def data_root() -> Iterator[Path]:
    """For data that Postgres' own user must reach, unlike pytest's folders, which are private."""
    folder = Path(tempfile.mkdtemp(prefix="baohuang-system-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="package")
def platform(data_root: Path) -> Iterator[Platform]:
    folder = data_root / "platform"
    folder.mkdir(mode=0o711)
    with Platform(folder) as running:
        yield running


@pytest.fixture(scope="package")
def prometheus(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("prometheus")
    with watching(platform.metrics_urls, quickened(monitoring.rules()), folder) as running:
        yield running
