"""The example that trains a policy learns something, in a shortened run."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_a_short_training_beats_chance() -> None:
    """It ends with 1 unless the 95 % interval lies above zero; seeds fix all that is drawn."""
    run = subprocess.run(
        [sys.executable, ROOT / "examples/train_policy.py", "--iterations", "25", "--deals", "100"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found = re.search(r"after (\d+) hands: \+([\d.]+) ± ([\d.]+) points a hand", run.stdout)
    assert found
    assert float(found[2]) > float(found[3])


def test_without_training_there_is_nothing_to_show() -> None:
    """The measurement can fail."""
    run = subprocess.run(
        [sys.executable, ROOT / "examples/train_policy.py", "--iterations", "0", "--deals", "20"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert "after 0 hands" in run.stdout
