"""What becomes of bots that misbehave: it is recorded as what it is, and costs them alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from baohuang import Game, RuleSet
from baohuang.bots.hosts import FaultKind, Host, Times, open_host
from baohuang.bots.hosts.direct import DirectHost
from baohuang.bots.hosts.process import ProcessHost
from baohuang.bots.hosts.spec import load_maker
from baohuang.bots.referee import play_games
from baohuang.testing.bad_bots import BAD_BOTS, BadBot

# A bot that answers at all has all the time there is, on however busy a machine; one that never does, little.
PATIENT = Times(start_seconds=120, move_seconds=120)
SHORT_MOVES = Times(start_seconds=120, move_seconds=0.05)
SHORT_START = Times(start_seconds=0.05, move_seconds=120)
MOST_FAULTS = 2


def deal(seed: int = 7, preset: str = "jiaodong") -> Game:
    return Game.deal(RuleSet.preset(preset), seed=seed)


@contextlib.contextmanager
def hosted(*hosts: Host) -> Iterator[None]:
    try:
        yield
    finally:
        for host in hosts:
            host.close()


def times_for(bad: BadBot) -> Times:
    if bad.kind is not FaultKind.LATE:
        return PATIENT
    return SHORT_START if bad.is_start else SHORT_MOVES


HOSTED = [(bad, False) for bad in BAD_BOTS] + [(bad, True) for bad in BAD_BOTS if not bad.ends_process]


@pytest.mark.parametrize(
    ("bad", "is_direct"), HOSTED, ids=[f"{bad.make.__name__}-{is_direct}" for bad, is_direct in HOSTED]
)
def test_a_bad_bot_is_charged_with_what_it_did_and_the_game_goes_on(bad: BadBot, is_direct: bool) -> None:
    host = DirectHost(bad.spec, load_maker(bad.spec)) if is_direct else open_host(bad.spec)
    greedy = open_host("greedy")
    game = deal()
    with hosted(host, greedy):
        [played] = play_games(
            [game],
            [[greedy, host, greedy, greedy, greedy]],
            times=times_for(bad),
            most_faults=MOST_FAULTS,
        )
    assert played.outcome == game.outcome
    assert Game.replay(game.record().dumps()).outcome == played.outcome
    faults = [(each.seat, each.fault.kind, each.fault.is_start) for each in played.faults if each.fault]
    if bad.kind is None:
        assert faults == []
    elif bad.is_start:
        assert faults == [(1, bad.kind, True)]
    else:
        assert faults == [(1, bad.kind, False)] * MOST_FAULTS
    assert played.disqualified == (False, bad.kind is not None, False, False, False)
    dropped = {each.seat for each in played.asked if each.dropped}
    assert dropped == ({1} if bad.is_dropped else set())
    assert all(len(each.note.encode()) <= 1024 and len(each.candidates) <= 16 for each in played.asked)


def test_there_is_a_bad_bot_for_each_kind_of_fault_of_a_bot_of_ones_own() -> None:
    assert {bad.kind for bad in BAD_BOTS} == {*FaultKind, None} - {FaultKind.UNREACHABLE}


def test_faults_cost_the_default_action_and_tell_why() -> None:
    host, greedy = open_host("baohuang.testing.bad_bots:Cheat"), open_host("greedy")
    game = deal()
    with hosted(host, greedy):
        [played] = play_games([game], [[greedy, host, greedy, greedy, greedy]], times=PATIENT)
    first = played.faults[0]
    assert first.fault is not None
    assert str(first.fault).startswith("illegal: play BJ BJ")
    replayed = Game.replay("".join(game.record().dumps().splitlines(keepends=True)[: first.version - 1]))
    assert replayed.auto_action(1) == first.action


def test_a_bot_that_falls_in_one_game_plays_the_others() -> None:
    """One process plays many games; the fault is that game's, and none sees what another left behind."""
    hanging, good, greedy = (
        open_host("baohuang.testing.bad_bots:Hang"),
        DirectHost("leak", load_maker("baohuang.testing.bad_bots:Leak")),
        open_host("greedy"),
    )
    games = [deal(seed) for seed in range(4)]
    with hosted(hanging, good, greedy):
        played = play_games(
            games,
            [[hanging if index == 0 else good, greedy, greedy, good, greedy] for index in range(4)],
            times=SHORT_MOVES,
            most_faults=1,
        )
    assert [each.disqualified[0] for each in played] == [True, False, False, False]
    assert [len(each.faults) for each in played] == [1, 0, 0, 0]


FALLS_ONCE = """
import os
class FallsOnce:
    name = "falls-once"
    made = 0
    def __init__(self, seed):
        self.seed = seed
    def choose(self, view, legal_actions, time_limit):
        flag = {flag!r}
        if not os.path.exists(flag):
            open(flag, "w").close()
            os._exit(1)
        return legal_actions[self.seed % len(legal_actions)]
"""


def test_after_a_fall_the_bot_is_made_anew_for_its_running_games(tmp_path: Path) -> None:
    (tmp_path / "falls.py").write_text(FALLS_ONCE.format(flag=str(tmp_path / "flag")))
    host, greedy = open_host(f"{tmp_path / 'falls.py'}:FallsOnce"), open_host("greedy")
    with hosted(host, greedy):
        played = play_games([deal(1), deal(2)], [[host] * 2 + [greedy] * 3] * 2, times=PATIENT)
    faults = [each.fault.kind for one in played for each in one.faults if each.fault]
    assert faults == [FaultKind.CRASHED]
    assert not any(any(each.disqualified) for each in played)
    asked = [each for one in played for each in one.asked if each.seat in (0, 1)]
    assert len(asked) > 20


def test_a_closed_host_leaves_no_process() -> None:
    host, greedy = ProcessHost("baohuang.testing.bad_bots:Leak"), open_host("greedy")
    play_games([deal()], [[host, greedy, greedy, greedy, greedy]], times=PATIENT)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    assert host._process is not None
    pid = host._process._popen.pid
    assert str(pid) in children
    host.close()
    assert not Path(f"/proc/{pid}").exists()


def test_seats_are_told_no_id_that_another_seat_or_game_has() -> None:
    seen: list[str] = []

    class Noting(DirectHost):
        def start(self, games, times):  # type: ignore[no-untyped-def]
            seen.extend(game.game_id for game in games)
            return super().start(games, times)

    host = Noting("greedy", load_maker("greedy"))
    play_games([deal(1), deal(2)], [[host] * 5] * 2)
    assert len(set(seen)) == 10


@pytest.mark.parametrize("preset", ["jiaodong", "shandong-folk", "lianzhong-classic"])
def test_a_bot_in_a_process_plays_as_in_this_one(preset: str) -> None:
    def record(*seats: Host) -> str:
        game = deal(11, preset)
        play_games([game], [seats], times=PATIENT, seed=5)
        return game.record().dumps()

    here, there = open_host("random"), ProcessHost("random")
    with hosted(here, there):
        assert record(here, here, here, here, here) == record(here, there, there, here, here)


def test_games_that_await_nonces_or_have_too_few_hosts_are_refused() -> None:
    from baohuang.rules.commands import Start

    greedy = open_host("greedy")
    with pytest.raises(ValueError, match="five hosts"):
        play_games([deal()], [[greedy] * 4])
    with pytest.raises(ValueError, match="not dealt yet"):
        play_games([Game.start(Start(RuleSet.preset("jiaodong"), seed=7, await_nonces=True))], [[greedy] * 5])
