"""The `baohuang` command: play, record, rules; errors are one line and an exit code."""

from __future__ import annotations

import io
import json
import os
import re
import string
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from rich.cells import cell_len

from baohuang import PRESETS, Due, DueKind, Game, Opening, Record, RuleSet
from baohuang.bots import make_bot, play_game
from baohuang.cli import words
from baohuang.cli.app import run
from baohuang.cli.rules import MEANINGS
from baohuang.cli.transcript import transcript
from baohuang.rules import events as ev
from baohuang.rules.actions import ActionKind
from baohuang.rules.events import redact
from baohuang.rules.outcome import Termination
from baohuang.rules.roles import Role, Solo
from baohuang.words import Language

ROOT = Path(__file__).resolve().parents[2]
CJK = re.compile("[\u4e00-\u9fff]")
HALF_WIDTH = re.compile("[\u4e00-\u9fff] ?[,.:;!?()]|[,.:;!?()] ?[\u4e00-\u9fff]")
"""English punctuation in a Chinese text."""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The record of a hand."""
    path = tmp_path / "game.jsonl"
    game = Game.deal(RuleSet.preset("lianzhong-simple", kaopai=True), seed=7)
    play_game(game, [make_bot("greedy")] * 5)
    path.write_bytes(game.record().dumps().encode())
    return path


def output(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What a command that succeeds prints."""
    code = run([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    return printed.out


def failure(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Exit code and the one line on stderr of a command that fails and prints nothing else."""
    code = run([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("baohuang: ")
    return code, printed.err.strip()


def incomplete(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    """What is told of a record that has no fault and is not a whole hand either."""
    code = run(["record", "check", str(path)])
    printed = capsys.readouterr()
    assert (code, printed.err) == (2, "")
    return printed.out


# play


def test_a_hand_is_played_and_its_record_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "game.jsonl"
    printed = output(
        capsys,
        *("play", "--rules", "lianzhong-simple", "--option", "kaopai=true", "--seed", 7),
        *("--bots", "greedy,greedy,random,random,random", "--out", out),
    )
    game = Game.replay(out.read_text("utf-8"))
    assert game.rules == RuleSet.preset("lianzhong-simple", kaopai=True)
    assert "lianzhong-simple kaopai=true  seed=7  played" in printed
    assert game.outcome is not None
    for seat, (bot, score) in enumerate(
        zip(["greedy"] * 2 + ["random"] * 3, game.outcome.scores, strict=True)
    ):
        assert re.search(rf"Seat {seat} .* {bot} .* {re.escape(f'{score:+d}')} ", printed)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_gives_the_same_bytes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, preset: str
) -> None:
    records = []
    for name in ("one", "two"):
        arguments = ("play", "--rules", preset, "--seed", 11, "--bots", "random,greedy,random,greedy,random")
        output(capsys, *arguments, "--out", tmp_path / name)
        records.append((tmp_path / name).read_bytes())
    assert records[0] == records[1]
    assert b"\r" not in records[0]


def test_without_a_seed_one_is_drawn_and_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    seeds = set()
    for _ in range(2):
        found = re.search(r"seed=(\d+)", output(capsys, "play", "--out", tmp_path / "game"))
        assert found
        game = Game.replay((tmp_path / "game").read_text("utf-8"))
        assert game.state.hidden.seed == int(found[1])
        seeds.add(found[1])
    assert len(seeds) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--rules", "poker"], 1, "no rule set 'poker'; there are jiaodong"),
        (["--option", "fly=true"], 1, "no option 'fly'"),
        (["--option", "kaopai=maybe"], 1, "kaopai cannot be 'maybe'"),
        (["--option", "hold_back_threes=true"], 1, "hold_back_threes"),
        (["--option", "kaopai"], 2, "'kaopai' is not NAME=VALUE"),
        (["--bots", "greedy,genius,greedy,greedy,greedy"], 1, "no bot 'genius'; there are random, greedy"),
        (["--bots", "greedy"], 2, "a game has five bots, not 1"),
        (["--seed", "-1"], 2, "--seed"),
        (["--seed", str(2**256)], 1, "a seed is a whole number from 0"),
        (["--seed", "x"], 2, "--seed"),
        (["--salt", "xy"], 2, "--salt"),
        (["--salt", "ab"], 1, "a salt has 32 bytes"),
        (["--out", "/no/such/folder/game.jsonl"], 1, "/no/such/folder/game.jsonl: No such file or directory"),
        (["--wrong"], 2, "--wrong"),
    ],
)
def test_play_refuses_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, why: str
) -> None:
    got, line = failure(capsys, "play", *arguments)
    assert got == code
    assert why in line


def test_a_record_may_go_to_standard_output() -> None:
    program = "import runpy; runpy.run_module('baohuang.cli', run_name='__main__')"
    with command("play", "--seed", "3", "--out", "-", program=program) as process:
        out, table = process.communicate()
    assert process.returncode == 0
    assert Game.replay(out.decode()).outcome is not None
    assert b"seed=3" in table


# record


def test_a_good_record_checks(capsys: pytest.CaptureFixture[str], record: Path) -> None:
    count = len(record.read_text("utf-8").splitlines())
    printed = output(capsys, "record", "check", record)
    assert (
        printed == f"{count} events of lianzhong-simple kaopai=true, all possible; the hand is over, played\n"
    )


def test_a_running_record_checks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(Game.deal(RuleSet.preset("jiaodong"), seed=7).record().dumps(), "utf-8")
    assert incomplete(capsys, path) == "2 events of jiaodong, all possible; a running game, step throne\n"


def test_a_record_cut_between_two_moves_checks_as_far_as_it_goes(
    capsys: pytest.CaptureFixture[str], record: Path
) -> None:
    lines = record.read_text("utf-8").splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if json.loads(line)["event"] == "passed")
    record.write_text("".join(lines[:at]), "utf-8")
    assert incomplete(capsys, record).endswith("all possible; a running game, step play\n")


def test_a_record_cut_in_a_move_or_in_a_line_is_at_fault(
    capsys: pytest.CaptureFixture[str], record: Path
) -> None:
    lines = record.read_text("utf-8").splitlines(keepends=True)
    record.write_text("".join(lines[:-1]), "utf-8")
    code, told = failure(capsys, "record", "check", record)
    assert code == 1
    assert f"line {len(lines) - 1}: the record stops in the middle of a move: hand_ended must follow" in told
    record.write_text("".join(lines)[:-20], "utf-8")
    code, told = failure(capsys, "record", "check", record)
    assert code == 1
    assert f"line {len(lines)}: not JSON" in told


@pytest.mark.parametrize("viewer", [None, 2])
@pytest.mark.parametrize("over", [False, True])
def test_what_a_viewer_saw_cannot_be_checked(
    capsys: pytest.CaptureFixture[str], record: Path, viewer: int | None, over: bool
) -> None:
    events = Game.replay(record.read_text("utf-8")).events
    for length in [len(events)] if over else [2, len(events) - 1]:
        seen = Record(tuple(redact(event, viewer) for event in events[:length]))
        record.write_text(seen.dumps(), "utf-8")
        game = "finished" if over else "running"
        assert incomplete(capsys, record) == (
            f"{length} events of a {game} game as a viewer sees it: what is hidden cannot be checked\n"
        )


def test_the_first_fault_is_told_with_its_line_and_reason(
    capsys: pytest.CaptureFixture[str], record: Path
) -> None:
    lines = record.read_text("utf-8").splitlines()
    line = next(n for n, each in enumerate(lines, 1) if json.loads(each)["event"] == "played")
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | {"cards": "7c 8c"})
    record.write_text("\n".join(lines), "utf-8")
    code, told = failure(capsys, "record", "check", record)
    assert code == 1
    assert f"line {line}: " in told
    assert "[R3.1]" in told


def test_records_that_are_none_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    assert failure(capsys, "record", "check", path) == (1, f"baohuang: {path}: No such file or directory")
    path.write_bytes(b"\xff\xfe")
    assert failure(capsys, "record", "show", path) == (1, "baohuang: BAD_RECORD: line 1: not UTF-8")
    path.write_bytes(b"")
    assert failure(capsys, "record", "check", path) == (
        1,
        "baohuang: BAD_RECORD: line 1: the record is empty",
    )
    assert failure(capsys, "record", "show", tmp_path)[0] == 1


def test_a_dash_reads_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, record: Path
) -> None:
    for command in ("check", "show"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(record.read_bytes())))
        assert output(capsys, "record", command, "-") == output(capsys, "record", command, record)


def test_a_transcript_tells_deal_opening_tricks_and_result(
    capsys: pytest.CaptureFixture[str], record: Path
) -> None:
    game = Game.replay(record.read_text("utf-8"))
    printed = output(capsys, "record", "show", record)
    emperor = game.state.public.emperor
    assert printed.startswith("Rules: lianzhong-simple kaopai=true\nSeed: 7\nFirst drawer: Seat 0\nDeal\n")
    assert f"  Seat {emperor} is the emperor\n" in printed
    tricks = len(game.state.public.tricks)
    assert f"Trick {tricks}: " in printed
    assert "Result: played" in printed
    assert game.outcome is not None
    first = game.outcome.places.index(1) if game.outcome.places else 0
    assert re.search(rf"  Seat {first}  \w+  first  ", printed)
    plays = [
        f"Seat {event.seat} {' '.join(map(str, event.cards))}"
        for event in game.events
        if isinstance(event, ev.Played)
    ]
    flat = " ".join(printed.split())
    assert all(play in flat for play in plays)
    assert max(map(len, printed.splitlines())) <= 110
    assert not CJK.search(printed)


def test_a_transcript_in_chinese(capsys: pytest.CaptureFixture[str], record: Path) -> None:
    printed = output(capsys, "record", "show", record, "--lang", "zh")
    for word in (
        "规则：联众简明玩法（烤牌：是）\n",
        "（34张）\n",
        "是皇帝",
        "第1轮",
        "头客",
        "大拉",
        "起义军",
        "侍卫",
    ):
        assert word in printed
    assert "Seat" not in printed
    assert max(map(cell_len, printed.splitlines())) <= 110


@pytest.mark.parametrize("view", ["public", "3"])
def test_a_transcript_of_what_a_viewer_may_know(
    capsys: pytest.CaptureFixture[str], record: Path, view: str
) -> None:
    game = Game.replay(record.read_text("utf-8"))
    printed = output(capsys, "record", "show", "--view", view, record)
    assert printed.count("(hidden)") == (5 if view == "public" else 4)
    assert "Seed:" not in printed
    dealt = game.events[1]
    assert isinstance(dealt, ev.Dealt)
    assert failure(capsys, "record", "show", "--view", "5", record)[0] == 2


def test_an_unknown_language_is_refused(capsys: pytest.CaptureFixture[str], record: Path) -> None:
    code, line = failure(capsys, "record", "show", record, "--lang", "fr")
    assert code == 2
    assert "'en', 'zh'" in line


def test_a_transcript_of_an_open_step_shows_who_has_answered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    game = Game.from_hands(RuleSet.preset("marked-guard"), ["EJ 7c", "GJ", "7d", "8c", "9c"])
    game.apply(3, "no")
    path = tmp_path / "game.jsonl"
    path.write_text(game.record().dumps(), "utf-8")
    told = output(capsys, "record", "show", path).splitlines()[-2:]
    assert told == [
        "  Seat 3 answers: no",
        "The record ends here; the hand is running.",
    ]
    told = output(capsys, "record", "show", path, "--view", "public").splitlines()[-2:]
    assert told[0] == "  Seat 3 has answered (solo claim)"


def every_kind_of_event() -> list[Record]:
    """Records that together hold every event, in several forms."""
    folk, jiaodong = RuleSet.preset("shandong-folk"), RuleSet.preset("jiaodong")
    hands = ["EJ 7c", "GJ 7c", "8c", "9c 9d", "Tc"]
    opening = Opening(emperor=0, guard=1, open_guard=True, rebels=(2, 3), counters=(2, 3), recounters=(0,))
    records = [Game.from_hands(jiaodong, hands, opening=opening).record()]
    solo = Opening(emperor=0, guard=0, open_solo=True)
    records.append(Game.from_hands(jiaodong, ["EJ GJ", "7c", "8c", "9c", "Tc"], opening=solo).record())
    dues = [Due(DueKind.DEBT, 0, 1), Due(DueKind.TRIBUTE, 2, 3)]
    game = Game.deal(folk, seed=1, dues=dues)
    records.append(Record((*game.events, *game.apply(3, game.legal_actions(3)[0]))))
    play_game(game, [make_bot("random")] * 5)
    records.append(game.record())
    outcome = game.outcome
    assert outcome is not None
    events: list[ev.Event] = [
        ev.NonceAdded(1, "\x1b[2J"),
        *[ev.ThroneAnswered(0, kind, 1, (), 1, None, 2) for kind in ActionKind if kind in THRONE],
        ev.CallAnswered(1, None),
        ev.CallAnswered(1, folk.deck[0]),
        *[ev.StepClosed(step, ((1, kind),), stands) for step, kind in DECLARED for stands in (True, False)],
        *[ev.StepClosed(step, (), False) for step in ev.Step],
        ev.GuardRevealed(0, 0),
        ev.GuardRevealed(0, 1),
        *[ev.AutoPlayStarted(1, why) for why in ev.AutoPlayReason],
        ev.AutoPlayEnded(1),
        *[ev.SeatForfeited(2, why) for why in ev.ForfeitReason],
        ev.Cleared(3, 5, by=2),
        *[ev.Dealt(redeal, (None,) * 5, None) for redeal in (0, 1)],
        *[
            ev.HandEnded(change_outcome(outcome, end, solo), None, None)
            for end in Termination
            for solo in Solo
        ],
    ]
    return [*records, Record(tuple(events))]


THRONE = {ActionKind.KEEP, ActionKind.TAKE, ActionKind.YIELD, ActionKind.DECLINE}
DECLARED = [
    (ev.Step.CLAIM, ActionKind.SOLO),
    (ev.Step.DECLARE, ActionKind.GUARD),
    (ev.Step.DECLARE, ActionKind.REBEL),
    (ev.Step.COUNTER, ActionKind.COUNTER),
    (ev.Step.RECOUNTER, ActionKind.COUNTER),
]


def change_outcome(outcome: ev.Outcome, end: Termination, solo: Solo) -> ev.Outcome:
    played = end is Termination.PLAYED
    return ev.Outcome(
        termination=end,
        places=(1, 2, 3, 4, 5) if played else None,
        roles=(Role.EMPEROR, Role.GUARD, Role.REBEL, Role.REBEL, Role.REBEL) if played else None,
        solo=solo,
        multiplier=2,
        scores=outcome.scores,
        penalties=(0, -40, 0, 0, 0),
        auto_play=outcome.auto_play,
        next_first_drawer=0,
        dues=(),
    )


@pytest.mark.parametrize("language", Language)
def test_every_event_has_words(language: Language) -> None:
    records = every_kind_of_event()
    seen = {type(event) for record in records for event in record.events}
    assert seen == set(ev.EVENT_TYPES)
    for record in records:
        for line in transcript(record, language):
            assert "\x1b" not in line
            assert language is Language.CHINESE or not CJK.search(line)
            assert not HALF_WIDTH.search(line)


def test_both_languages_have_the_same_texts() -> None:
    for key, (english, chinese) in words.TEXTS.items():
        names = [
            {name for _, name, _, _ in string.Formatter().parse(each) if name} for each in (english, chinese)
        ]
        assert names[0] == names[1], key
        assert not CJK.search(english)
        assert bool(english) == bool(chinese)
        assert not HALF_WIDTH.search(chinese)


# rules


def test_the_rule_sets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("en", "zh"):
        printed = output(capsys, "rules", "list", "--lang", language)
        assert [line.split()[0] for line in printed.splitlines()] == list(PRESETS)
    assert "胶东" in printed


@pytest.mark.parametrize("preset", PRESETS)
def test_a_rule_set_is_shown_with_all_its_options(capsys: pytest.CaptureFixture[str], preset: str) -> None:
    printed = output(capsys, "rules", "show", preset)
    rules = RuleSet.preset(preset)
    for field in fields(RuleSet):
        if field.name != "name":
            value = getattr(rules, field.name)
            assert f"  {field.name}={'–' if value is None else str(value).lower()} " in printed
    chinese = output(capsys, "rules", "show", preset, "--lang", "zh")
    assert CJK.search(chinese)
    assert not HALF_WIDTH.search(chinese)
    assert failure(capsys, "rules", "show", "poker")[0] == 1


def test_every_option_has_a_meaning() -> None:
    assert list(MEANINGS) == [field.name for field in fields(RuleSet) if field.name != "name"]


# the command as a whole


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert re.fullmatch(r"baohuang \S.*\n", output(capsys, "--version"))
    assert output(capsys) == output(capsys, "--help")
    assert "Play one hand" in output(capsys, "--help")


@pytest.mark.parametrize("arguments", [["fly"], ["record"], ["record", "fly"], ["record", "show"], ["--fly"]])
def test_wrong_usage_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    code, line = failure(capsys, *arguments)
    assert code == 2
    assert line.endswith("(baohuang --help)")


def command(
    *arguments: str, program: str = "from baohuang.cli import main; main()"
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("big", [False, True], ids=["within the buffer", "beyond the buffer"])
def test_a_broken_pipe_is_silent(record: Path, big: bool) -> None:
    lines = record.read_bytes().splitlines(keepends=True)
    sent = b"".join([lines[0], *[line for line in lines[1:] if big for _ in range(20)]])
    with command("record", "show", "-") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(sent)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


@pytest.mark.parametrize("arguments", [["rules", "list"], ["record", "show", "-"], ["--help"], ["--version"]])
@pytest.mark.parametrize(
    ("closed", "told"), [(0, "standard input: closed"), (1, "standard output is closed")]
)
def test_a_closed_stream_is_told_in_one_line(arguments: list[str], closed: int, told: str) -> None:
    program = (
        f"import os, sys; os.close({closed}); "
        "os.execv(sys.executable, [sys.executable, '-m', 'baohuang.cli', *sys.argv[1:]])"
    )
    with command(*arguments, program=program) as process:
        error = process.communicate()[1].decode()
    if closed == 1 or "-" in arguments:
        assert (process.returncode, error) == (1, f"baohuang: {told}\n")
    else:
        assert (process.returncode, error) == (0, "")


def test_without_its_packages_the_command_says_what_to_install() -> None:
    program = "import sys; sys.modules['typer'] = None; from baohuang.cli import main; main()"
    with command(program=program) as process:
        out, error = process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert error.decode().strip().endswith('pip install "baohuang[cli]"')
    assert error.count(b"\n") == 1


def test_a_terminal_without_chinese_is_no_error(record: Path) -> None:
    program = "import sys; sys.stdout.reconfigure(encoding='ascii'); from baohuang.cli import main; main()"
    with command("record", "show", "--lang", "zh", str(record), program=program) as process:
        out, error = process.communicate()
    assert (process.returncode, error) == (0, b"")
    assert b"\\u7b2c1\\u8f6e" in out
