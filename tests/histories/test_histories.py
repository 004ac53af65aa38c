"""Games that were finished under an earlier version are read, followed and scored as on their day."""

import functools

import pytest

from baohuang import Game, Record
from baohuang.record import replay
from baohuang.rules import events as ev
from baohuang.rules.evolve import evolve
from baohuang.rules.ruleset import PRESETS
from services.kit.stored_events import READERS, SCHEMA_VERSION, decode_stored
from tests.histories.add import main
from tests.histories.history import CHECKSUMS, FOLDER, History, checksum, read_histories

HISTORIES = read_histories()


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)
def test_game_is_read_and_scored_as_on_its_day(history: History) -> None:
    recorded = Record.loads(history.record)
    stored = [
        event for commit in history.commits for event in decode_stored(commit.payload, commit.schema_version)
    ]
    assert tuple(stored) == recorded.events
    versions = [commit.version for commit in history.commits]
    assert versions == sorted(set(versions))
    assert versions[-1] == len(stored)
    # As readers of the log follow it, and as the rules decide it anew, scores included.
    followed = functools.reduce(evolve, stored, None)
    assert followed is not None
    assert followed == replay(Record(tuple(stored)))[1] == Game.replay(history.record).state
    ended = stored[-1]
    assert isinstance(ended, ev.HandEnded)
    assert followed.public.outcome == ended.outcome


def test_nobody_has_changed_a_history() -> None:
    lines = CHECKSUMS.read_text("utf-8").splitlines()
    known = {path: digest for digest, path in (line.split("  ") for line in lines)}
    assert len(known) == len(lines)
    there = {str(path.relative_to(FOLDER)): checksum(path.read_text("utf-8")) for path in FOLDER.glob("v*/*")}
    assert there == known, "histories stay as they were written; new ones: python -m tests.histories.add"


def test_every_event_preset_and_schema_version_has_a_history() -> None:
    events = [event for history in HISTORIES for event in Record.loads(history.record).events]
    assert {type(event) for event in events} == set(ev.Event.__subclasses__())
    assert {event.rules.name for event in events if isinstance(event, ev.GameStarted)} == set(PRESETS)
    versions = {commit.schema_version for history in HISTORIES for commit in history.commits}
    assert versions == set(READERS)
    assert SCHEMA_VERSION in versions


def test_histories_of_a_version_are_written_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = CHECKSUMS.read_bytes()
    monkeypatch.setattr("sys.argv", ["add", "v1"])
    assert main() == 1
    assert "they stay as they are" in capsys.readouterr().err
    assert CHECKSUMS.read_bytes() == before
