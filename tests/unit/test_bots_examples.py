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


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--rules", "poker"], "argument --rules: invalid choice: 'poker'"),
        (["--bots", "greedy"], "argument --bots: five of random, greedy"),
        (["--bots", "greedy,greedy,greedy,greedy,genius"], "argument --bots: five of random, greedy"),
        (["--hands", "many"], "invalid int value: 'many'"),
        (["--hands", "1", "--record", "/no/such/folder/file"], "argument --record: [Errno 2] No such file"),
        (["--wrong"], "unrecognized arguments: --wrong"),
    ],
)
def test_what_the_self_play_loop_cannot_do_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run("self_play.py", *arguments)
    printed = capsys.readouterr()
    assert (stopped.value.code, printed.out) == (2, "")
    assert why in printed.err.splitlines()[-1]


def test_the_simple_bot(capsys: pytest.CaptureFixture[str]) -> None:
    run("simple_bot.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("seat 0  longest-set")
    assert sum(int(line.split()[-1]) for line in lines) == 0
