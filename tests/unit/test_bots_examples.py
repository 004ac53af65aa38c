"""The examples run as written."""

import runpy
import sys
from pathlib import Path

import pytest

from baohuang import Game

ROOT = Path(__file__).resolve().parents[2]


def run(name: str, *arguments: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")


def test_the_self_play_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "last.jsonl"
    run("self_play.py", "--rules", "shandong-folk", "--hands", "3", "--record", str(record))
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["greedy", "random"]
    assert Game.replay(record.read_text("utf-8")).outcome is not None


def test_the_simple_bot(capsys: pytest.CaptureFixture[str]) -> None:
    run("simple_bot.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("seat 0  longest-set")
    assert sum(int(line.split()[-1]) for line in lines) == 0
