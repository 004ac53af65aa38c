"""`baohuang bots check`: good bots pass, each bad one fails where it should, and the report says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from baohuang.bots import BotError
from baohuang.bots.conformance import check_bot
from baohuang.bots.hosts import Times
from baohuang.cli.app import run

PATIENT = Times(start_seconds=120, move_seconds=120)
IDS = [f"B{number:02}" for number in range(1, 13)]


def test_a_built_in_bot_passes_every_check() -> None:
    report = check_bot("greedy", hands=1, times=PATIENT)
    assert [(check.id, check.status) for check in report.checks] == [(each, "passed") for each in IDS]
    assert report.passed
    assert report.decisions > 1_000


def test_a_bot_of_ones_own_is_checked_in_a_process_and_its_name_told() -> None:
    report = check_bot("examples/simple_bot.py:LongestSetBot", hands=1, times=PATIENT)
    assert report.passed
    assert report.name == "longest-set"
    assert {check.status for check in report.checks} <= {"passed", "warned"}


@pytest.mark.parametrize(
    ("bot", "failed"),
    [("CrashAtStart", ["B01"]), ("Cheat", IDS[2:10]), ("Mumble", IDS[2:10]), ("Leak", [])],
)
def test_bad_bots_fail_where_they_should(bot: str, failed: list[str]) -> None:
    report = check_bot(f"baohuang.testing.bad_bots:{bot}", hands=1, times=PATIENT)
    assert [check.id for check in report.checks if check.status == "failed"] == failed
    assert report.passed is not failed
    assert all(check.examples for check in report.checks if check.status == "failed" and check.id != "B01")


def test_what_is_dropped_is_a_warning() -> None:
    report = check_bot("baohuang.testing.bad_bots:Garble", hands=1, times=PATIENT)
    check = next(check for check in report.checks if check.id == "B03")
    assert (check.status, check.examples) == ("warned", ("a note that is no Unicode text",))
    assert report.passed


def test_a_bot_that_is_none_is_an_error() -> None:
    for spec in ("gready", "nothing:", ":Bot", "a b:c d"):
        with pytest.raises(BotError, match="no bot"):
            check_bot(spec)
    report = check_bot("no_such_module_of_mine:Bot", times=PATIENT)
    assert [check.detail for check in report.checks] == [
        "crashed at the start: there is no module no_such_module_of_mine"
    ]


def test_the_command_prints_a_report_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bots", "check", "greedy", "--hands", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == 1
    assert report["passed"] is True
    assert [check["id"] for check in report["checks"]] == IDS
    assert set(report["checks"][0]) == {"id", "title", "status", "detail", "examples"}
    assert report.keys() >= {"spec", "name", "version", "decisions", "slowest_seconds", "mean_seconds"}


def test_the_command_says_what_failed_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bots", "check", "baohuang.testing.bad_bots:CrashAtStart"]) == 1
    printed = capsys.readouterr().out
    assert (
        "B01  FAIL  starts in time: crashed at the start: RuntimeError: the weights are not there" in printed
    )
    assert printed.endswith("bad_bots:CrashAtStart: failed B01\n")


def test_play_takes_bots_of_ones_own_and_tells_their_faults(capsys: pytest.CaptureFixture[str]) -> None:
    bots = "greedy,baohuang.testing.bad_bots:Crash,greedy,greedy,examples/simple_bot.py:LongestSetBot"
    assert run(["play", "--seed", "3", "--bots", bots]) == 0
    printed = capsys.readouterr().out
    assert printed.count("Seat 1 baohuang.testing.bad_bots:Crash: crashed: ZeroDivisionError") == 5


def test_specs_name_files_modules_and_makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from baohuang.bots.hosts.spec import load_maker

    (tmp_path / "my_bots_of_this_test.py").write_text(
        "class Plain:\n    name = 'plain'\n"
        "class Seeded:\n    def __init__(self, seed):\n        self.seed = seed\n"
        "def make(*, seed):\n    return Seeded(seed)\n"
        "nothing = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    for place in ("my_bots_of_this_test", "my_bots_of_this_test.py"):
        assert load_maker(f"{place}:Plain")(5).name == "plain"
        assert load_maker(f"{place}:Seeded")(5).seed == 5  # type: ignore[attr-defined]
        assert load_maker(f"{place}:make")(6).seed == 6  # type: ignore[attr-defined]
        with pytest.raises(BotError, match="has no Missing"):
            load_maker(f"{place}:Missing")
        with pytest.raises(BotError, match="neither a class nor a function"):
            load_maker(f"{place}:nothing")
    with pytest.raises(BotError, match=r"no file missing\.py"):
        load_maker("missing.py:Bot")
