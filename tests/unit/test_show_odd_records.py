"""A word that has no place in its line of a record is refused there; `record show` checks nothing else."""

from pathlib import Path

import pytest

from baohuang import Game, RuleSet
from baohuang.cli.app import run
from baohuang.rules.actions import ActionKind

HEAD = Game.deal(RuleSet.preset("jiaodong"), seed=1).record().dumps()
THRONE = (
    '{{"event": "throne_answered", "seat": 0, "answer": "{}", "asked": null, "laid": "", "laid_count": 0, '
    '"carried": "", "carried_count": 0}}\n'
)
DECLARED = (
    '{{"event": "step_closed", "step": "declare", "declared": [{{"seat": 1, "declared": "{}"}}], '
    '"stands": true}}\n'
)
KNOWN = {THRONE: {"keep", "take", "yield", "decline"}, DECLARED: {"solo", "guard", "rebel", "counter"}}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ActionKind)
@pytest.mark.parametrize("line", KNOWN, ids=["throne", "declared"])
def test_a_record_is_shown_or_refused(
    tmp_path: Path, line: str, kind: ActionKind, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(HEAD + line.format(kind.value), encoding="utf-8")
    code = run(["record", "show", str(path), "--lang", language])
    assert code == (0 if kind.value in KNOWN[line] else 1)
    assert ("line 3" in capsys.readouterr().err) is (code == 1)
