"""Games between bots that may do anything: what they do wrong is recorded, and costs only themselves."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from baohuang.bots.choice import Candidate
from baohuang.bots.hosts.direct import DirectHost
from baohuang.bots.hosts.host import (
    Answer,
    Decision,
    EndedGame,
    Fault,
    FaultKind,
    Host,
    NewGame,
    Times,
    fault,
)
from baohuang.game import Game
from baohuang.rules.actions import Action
from baohuang.rules.errors import BaohuangError
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import SEATS, Seat

MOST_FAULTS: Final = 5
"""With so many faults in a game a bot is disqualified in it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a bot and what came of it.

    `version` is the number in its game of the event that `action` became; at a fault that is the default
    action (R9). A fault of starting up has no action, and the version 0.
    """

    seat: Seat
    version: int
    action: Action | None
    fault: Fault | None = None
    note: str = ""
    candidates: tuple[Candidate, ...] = ()
    dropped: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A game that is over: `asked` in order, and by seat whether its bot was disqualified."""

    game: Game
    outcome: Outcome
    asked: tuple[Asked, ...]
    disqualified: tuple[bool, ...]

    @property
    def faults(self) -> tuple[Asked, ...]:
        """What went wrong."""
        return tuple([each for each in self.asked if each.fault is not None])


@dataclass(slots=True)
class _Running:
    """A game that is being played. Each seat knows it by an id of its own, which tells nothing."""

    game: Game
    hosts: Sequence[Host]
    ids: tuple[str, ...]
    asked: list[Asked] = field(default_factory=list)
    faults: list[int] = field(default_factory=lambda: [0] * len(SEATS))
    disqualified: list[bool] = field(default_factory=lambda: [False] * len(SEATS))


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A decision, and who is to take it."""

    running: _Running
    seat: Seat
    decision: Decision


def play_games(
    games: Sequence[Game],
    hosts: Sequence[Sequence[Host]],
    *,
    times: Times | None = None,
    most_faults: int = MOST_FAULTS,
    seed: int = 0,
) -> list[Played]:
    """Plays games to their ends, side by side; the host at `hosts[i][s]` plays seat s of game i.

    Whatever bots do, each game ends by the rules: for an answer that cannot be taken the default action is
    done, which is that of auto-play (R9.1, R9.2), and the fault is recorded. A bot that cannot be started, or
    comes to `most_faults` in a game, is not asked in it any more. `seed` is for the bots' chances. Raises
    `ValueError` for a game that is not dealt yet, and unless each has five hosts.
    """
    times = times or Times()
    if len(hosts) != len(games) or any(len(each) != len(SEATS) for each in hosts):
        raise ValueError("each game has five hosts")
    if any(game.outcome is None and not game.to_act for game in games):
        raise ValueError("a game awaits nonces; its cards are not dealt yet")
    table = [
        _Running(game, seats, tuple([secrets.token_hex(16) for _ in SEATS]))
        for game, seats in zip(games, hosts, strict=True)
    ]
    different = _different(host for seats in hosts for host in seats)
    with ThreadPoolExecutor(max_workers=max(len(different), 1)) as threads:
        _start(table, different, times, seed)
        while awaited := [each for running in table for each in _awaited(running)]:
            answers = _ask(awaited, threads)
            for each in awaited:
                _do(each, answers[each.decision.game_id], most_faults)
        for host in different:
            host.end([EndedGame(each.ids[seat], each.game.outcome) for each, seat in _seats_of(table, host)])
    return [_played(running) for running in table]


def _start(table: Sequence[_Running], hosts: Sequence[Host], times: Times, seed: int) -> None:
    for host in hosts:
        seats = _seats_of(table, host)
        number = {id(running): index for index, running in enumerate(table)}
        started = host.start(
            [
                NewGame(
                    running.ids[seat],
                    seat,
                    running.game.rules,
                    (seed + number[id(running)] * len(SEATS) + seat) % (1 << 64),
                )
                for running, seat in seats
            ],
            times,
        )
        for running, seat in seats:
            why = started.faults.get(running.ids[seat])
            if why is not None:
                running.asked.append(Asked(seat, 0, None, why))
                running.disqualified[seat] = True


def _awaited(running: _Running) -> list[_Awaited]:
    """What the bots of a game are to be asked now; all that needs no bot is done before."""
    game = running.game
    while True:
        asked = []
        is_moved = False
        # Who answers a step together is asked before any answer is done, and sees none of the others'.
        for seat in game.to_act:
            if game.state.public.auto_play[seat]:
                game.auto_act(seat)
                is_moved = True
            elif running.disqualified[seat]:
                game.apply(seat, game.auto_action(seat))
                is_moved = True
            else:
                asked.append(seat)
        if asked or not is_moved:
            break
    return [
        _Awaited(
            running,
            seat,
            Decision(running.ids[seat], game.view(seat), tuple(game.legal_actions(seat))),
        )
        for seat in asked
        if game.outcome is None
    ]


def _ask(awaited: Sequence[_Awaited], threads: ThreadPoolExecutor) -> dict[str, Answer]:
    """All decisions of a host at once, and the hosts that wait for others' processes at the same time."""
    by_host: dict[int, tuple[Host, list[Decision]]] = {}
    for each in awaited:
        host = each.running.hosts[each.seat]
        by_host.setdefault(id(host), (host, []))[1].append(each.decision)
    waiting = [
        threads.submit(host.choose, decisions)
        for host, decisions in by_host.values()
        if not isinstance(host, DirectHost)
    ]
    answers: dict[str, Answer] = {}
    for host, decisions in by_host.values():
        if isinstance(host, DirectHost):
            answers |= host.choose(decisions)
    for answered in waiting:
        answers |= answered.result()
    return answers


def _do(awaited: _Awaited, answer: Answer, most_faults: int) -> None:
    running, seat = awaited.running, awaited.seat
    game = running.game
    version = game.version + 1
    choice, why = answer.choice, answer.fault
    if choice is not None:
        try:
            game.apply(seat, choice.action)
        except BaohuangError as error:
            why = fault(FaultKind.ILLEGAL, f"{choice.action}: {error.message}")
        else:
            running.asked.append(
                Asked(
                    seat,
                    version,
                    choice.action,
                    note=choice.note,
                    candidates=choice.candidates,
                    dropped=answer.dropped,
                    seconds=answer.seconds,
                )
            )
            return
    action = game.auto_action(seat)
    game.apply(seat, action)
    running.asked.append(Asked(seat, version, action, why, seconds=answer.seconds))
    running.faults[seat] += 1
    running.disqualified[seat] = running.faults[seat] >= most_faults


def _played(running: _Running) -> Played:
    outcome = running.game.outcome
    if outcome is None:
        raise RuntimeError("the game is not over")
    return Played(running.game, outcome, tuple(running.asked), tuple(running.disqualified))


def _different(hosts: Iterable[Host]) -> list[Host]:
    return list({id(host): host for host in hosts}.values())


def _seats_of(table: Sequence[_Running], host: Host) -> list[tuple[_Running, Seat]]:
    return [(running, seat) for running in table for seat in SEATS if running.hosts[seat] is host]
