"""The rules give the same answers as when the playthroughs were written (`python -m tests.golden.renew`)."""

import difflib

import pytest

from baohuang import PRESETS
from tests.golden.renew import FOLDER, PLAYTHROUGHS, path_of, transcript


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_playthrough_is_what_it_was(name: str) -> None:
    path = path_of(name)
    assert path.exists(), f"{path} is missing: python -m tests.golden.renew writes it"
    now, then = transcript(*PLAYTHROUGHS[name]), path.read_text("utf-8")
    if now != then:
        changes = difflib.unified_diff(then.splitlines(), now.splitlines(), "then", "now", lineterm="", n=1)
        pytest.fail("\n".join([f"{name} has changed", *list(changes)[:40]]))


def test_every_preset_has_one_and_no_file_belongs_to_none() -> None:
    assert {rules.name for rules, _ in PLAYTHROUGHS.values()} == set(PRESETS)
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(PLAYTHROUGHS)
