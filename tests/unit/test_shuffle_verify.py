"""Deals that can be proved, and every way of tampering with one (docs/verifiable-deals.md)."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baohuang import PRESETS, Game, Record, RuleSet, parse_cards
from baohuang.bots import make_bot, play_game
from baohuang.cli.app import run
from baohuang.rules import events as ev
from baohuang.rules.commands import AddNonce, Deal, Start
from baohuang.rules.decide import execute
from baohuang.rules.events import redact
from baohuang.verify import verify_deal

ROOT = Path(__file__).resolve().parents[2]
SEED, SALT = 0xC0FFEE, bytes(range(32))
Tamper = Callable[[list[Any]], None]


def dealt(preset: str = "jiaodong", *, nonces: bool = True) -> Game:
    events, state = execute(None, Start(RuleSet.preset(preset), 3, seed=SEED, salt=SALT, await_nonces=True))
    for command in (*([AddNonce(2, "three blind mice"), AddNonce(0, "保皇")] if nonces else []), Deal()):
        more, state = execute(state, command)
        events += more
    return Game(events, state)


@pytest.fixture(scope="module")
def finished() -> tuple[ev.Event, ...]:
    game = dealt()
    play_game(game, [make_bot("random", seed=1)] * 5)
    return game.events


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("nonces", [False, True])
def test_a_deal_as_promised_is_proven(preset: str, nonces: bool) -> None:
    game = dealt(preset, nonces=nonces)
    play_game(game, [make_bot("random", seed=1)] * 5)
    report = verify_deal(game.record(), noted=game.state.public.commitment)
    assert report.is_proven
    assert (("no seat added a nonce" in report.notes[0]), len(report.notes)) == (not nonces, 1)


@pytest.mark.parametrize("viewer", [None, 0, 4])
def test_what_a_viewer_was_shown_proves_his_own_hand(
    finished: tuple[ev.Event, ...], viewer: int | None
) -> None:
    record = Record(tuple(redact(event, viewer) for event in finished))
    report = verify_deal(record)
    assert report.is_proven
    shown = "none" if viewer is None else f"seat {viewer}"
    assert any(f"those shown ({shown}) follow" in check.text for check in report.checks)


def test_redeals_are_proven_too() -> None:
    game = dealt("lianzhong-simple")
    for _ in range(10):
        (seat,) = game.to_act
        game.apply(seat, "yield")
    play_game(game, [make_bot("greedy")] * 5)
    report = verify_deal(game.record())
    assert report.is_proven
    assert [check.text.split(":")[0] for check in report.checks][-2:] == ["deal", "redeal 1"]
    swapped = list(game.events)
    place = next(n for n, event in enumerate(swapped) if isinstance(event, ev.Dealt) and event.redeal == 1)
    swapped[place] = next(event for event in swapped if isinstance(event, ev.Dealt))
    assert verify_deal(Record(tuple(swapped))).has_failed


def change(kind: type[ev.Event], **changes: Any) -> Tamper:
    def tamper(events: list[Any]) -> None:
        place = next(n for n, event in enumerate(events) if isinstance(event, kind))
        events[place] = replace(events[place], **changes)

    return tamper


def swap_one_card(events: list[Any]) -> None:
    place = next(n for n, event in enumerate(events) if isinstance(event, ev.Dealt))
    first, second, *others = [list(hand) for hand in events[place].hands]
    mine = next(card for card in first if card not in second)
    theirs = next(card for card in second if card not in first)
    first[first.index(mine)], second[second.index(theirs)] = theirs, mine
    hands = (tuple(sorted(first)), tuple(sorted(second)), *map(tuple, others))
    events[place] = replace(events[place], hands=hands)


def late_nonce(events: list[Any]) -> None:
    place = next(n for n, event in enumerate(events) if isinstance(event, ev.NonceAdded))
    events.insert(4, events.pop(place))


def second_nonce(events: list[Any]) -> None:
    place = next(n for n, event in enumerate(events) if isinstance(event, ev.NonceAdded))
    events.insert(place + 1, replace(events[place], nonce="another"))


def reseeded(events: list[Any]) -> None:
    change(ev.GameStarted, seed=SEED + 1)(events)
    change(ev.HandEnded, seed=SEED + 1)(events)


TAMPERINGS = {
    "revealed seed": (change(ev.HandEnded, seed=SEED + 1), "seed of the first event"),
    "both seeds": (reseeded, "commitment"),
    "salt": (change(ev.HandEnded, salt=bytes(32)), "commitment"),
    "no salt": (change(ev.HandEnded, salt=None), "reveals no salt"),
    "commitment": (change(ev.GameStarted, commitment="ab" * 32), "commitment"),
    "one swapped card": (swap_one_card, "seats 0, 1 got other cards"),
    "one card missing": (change(ev.Dealt, hands=(parse_cards("6c"), (), (), (), ())), "got other cards"),
    "nonce": (change(ev.NonceAdded, nonce="three blind mice!"), "got other cards"),
    "nonce of another seat": (change(ev.NonceAdded, seat=1), "got other cards"),
    "nonce after the deal": (late_nonce, "nonce of seat 2"),
    "second nonce": (second_nonce, "nonce of seat 2"),
    "first drawer": (change(ev.GameStarted, first_drawer=4), "got other cards"),
    "number of the redeal": (change(ev.Dealt, redeal=1), "the record numbers it 1"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_shows(
    finished: tuple[ev.Event, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    tamper, told = TAMPERINGS[name]
    events = list(finished)
    tamper(events)
    record = Record(tuple(events))
    report = verify_deal(record)
    assert report.has_failed
    assert any(told in check.text for check in report.checks if not check.holds)
    path = tmp_path / "game.jsonl"
    path.write_text(record.dumps(), "utf-8")
    assert run(["deal", "verify", str(path)]) == 1
    printed = capsys.readouterr().out
    assert "FAILED" in printed
    assert printed.endswith("The deal is not what was promised.\n")


def test_a_record_without_its_deal_fails(finished: tuple[ev.Event, ...]) -> None:
    events = tuple(event for event in finished if not isinstance(event, ev.Dealt))
    assert verify_deal(Record(events)).has_failed


def test_the_commitment_noted_before_must_be_that_of_the_record(
    finished: tuple[ev.Event, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(Record(finished).dumps(), "utf-8")
    first = finished[0]
    assert isinstance(first, ev.GameStarted)
    assert first.commitment
    assert run(["deal", "verify", str(path), "--commitment", first.commitment.upper()]) == 0
    assert capsys.readouterr().out.endswith("The deal is as promised.\n")
    assert run(["deal", "verify", str(path), "--commitment", "ab" * 32]) == 1
    assert run(["deal", "verify", str(path), "--commitment", "ab"]) == 2
    # A whole new game under a commitment of its own is consistent in itself; only the note tells.
    change(ev.GameStarted, commitment=None)(events := list(finished))
    path.write_text(Record(tuple(events)).dumps(), "utf-8")
    assert run(["deal", "verify", str(path), "--commitment", first.commitment]) == 1


def unproven() -> dict[str, tuple[Game, str]]:
    rules = RuleSet.preset("jiaodong")
    bare = Game.deal(rules, seed=7)
    given = Game.from_hands(rules, ["EJ", "GJ", "7c", "8c", "9c"])
    for game in (bare, given):
        play_game(game, [make_bot("greedy")] * 5)
    return {
        "running": (dealt(), "the game is running"),
        "given hands": (given, "the hands were given"),
        "no commitment": (bare, "no commitment was published"),
    }


@pytest.mark.parametrize("name", ["running", "given hands", "no commitment"])
def test_where_there_is_nothing_to_judge_by_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    game, told = unproven()[name]
    path = tmp_path / "game.jsonl"
    path.write_text(game.record().dumps(), "utf-8")
    assert run(["deal", "verify", str(path)]) == 2
    printed = capsys.readouterr().out
    assert f"Nothing is proven: {told}" in printed
    assert "FAILED" not in printed


def test_a_hidden_end_and_a_headless_record_prove_nothing(finished: tuple[ev.Event, ...]) -> None:
    change(ev.HandEnded, seed=None)(events := list(finished))
    assert "reveals no seed" in verify_deal(Record(tuple(events))).unproven
    assert "does not begin" in verify_deal(Record(finished[1:])).unproven
    assert not verify_deal(Record(())).is_proven


def test_an_unreadable_record_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.jsonl"
    assert run(["deal", "verify", str(path)]) == 2
    path.write_text("nonsense", "utf-8")
    assert run(["deal", "verify", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.startswith(f"baohuang: {path}: ") for line in printed.err.splitlines()] == [True, True]


def test_play_with_a_salt_writes_a_record_that_is_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.jsonl"
    assert run(["play", "--seed", "5", "--salt", SALT.hex(), "--out", str(path)]) == 0
    assert run(["deal", "verify", str(path)]) == 0


def test_the_example_of_the_document_runs_as_written() -> None:
    document = (ROOT / "docs/verifiable-deals.md").read_text("utf-8")
    program = document.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, names)  # noqa: S102 - the document's own text
    assert names["report"].is_proven
    assert printed.getvalue().startswith("True\n")
