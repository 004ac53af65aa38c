"""Whether a bot can be let into games: numbered checks, and a report for people and programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from baohuang.bots.hosts import Answer, Decision, EndedGame, Host, NewGame, Started, Times, open_host
from baohuang.bots.hosts.direct import DirectHost
from baohuang.bots.hosts.spec import is_built_in, load_maker
from baohuang.bots.referee import Asked, Played, play_games
from baohuang.game import Game
from baohuang.rules.actions import Action
from baohuang.rules.roles import SEATS, Seat
from baohuang.rules.ruleset import PRESETS, RuleSet

SCHEMA: Final = 1
"""Of the report."""
MOST_EXAMPLES: Final = 5
"""Faults that a check shows; all are counted."""
_OPTIONS: Final = (
    ("lianzhong-simple", {"kaopai": True, "grab_solo": True, "hold_back_sixes": True}),
    ("lianzhong-classic", {"called_card_is_top": True, "show_counts": "at_most_10"}),
    ("jiaodong", {"all_refuse": "must_play", "show_counts": "never"}),
    ("shandong-folk", {"tribute_return": False}),
)
"""Rule sets with other options than the presets', in which bots are often not tried."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check with its verdict. `id` and `title` never change their meaning."""

    id: str
    title: str
    status: str
    """`passed`, `failed`, `warned` (worth knowing, no reason to refuse the bot) or `skipped`."""
    detail: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All checks of a bot. It passed if none of them failed."""

    spec: str
    name: str
    version: str
    checks: tuple[Check, ...]
    decisions: int
    slowest_seconds: float
    mean_seconds: float
    schema: int = SCHEMA

    @property
    def passed(self) -> bool:
        return all(check.status != "failed" for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON's values."""
        return asdict(self) | {"passed": self.passed}


@dataclass(slots=True)
class _Watched:
    """A host that notes how its bot introduced itself and how long it took."""

    host: Host
    started: Started | None = None
    start_seconds: float = 0.0
    seconds: list[float] = field(default_factory=list)

    @property
    def spec(self) -> str:
        return self.host.spec

    def start(self, games: Sequence[NewGame], times: Times) -> Started:
        began = time.monotonic()
        started = self.host.start(games, times)
        if self.started is None:
            self.start_seconds = time.monotonic() - began
            self.started = started
        return started

    def choose(self, decisions: Sequence[Decision]) -> dict[str, Answer]:
        answers = self.host.choose(decisions)
        self.seconds += [each.seconds for each in answers.values() if each.seconds is not None]
        return answers

    def end(self, games: Sequence[EndedGame]) -> None:
        self.host.end(games)

    def close(self) -> None:
        self.host.close()


def check_bot(
    spec: str,
    *,
    times: Times | None = None,
    hands: int = 2,
    tell: Callable[[Check], None] = lambda _check: None,
    shows_output: bool = False,
) -> Report:
    """Check a bot by its spec (baohuang.bots.hosts.spec), `hands` hands of each rule set in each seat.

    `tell` hears of each check as it is done. Raises `BotError` for what cannot be the name of a bot.
    """
    host = _Watched(open_host(spec, shows_output=shows_output))
    try:
        checks = []
        for check in _Checks(host, times or Times(), hands).all():
            checks.append(check)
            tell(check)
    finally:
        host.close()
    started = host.started
    seconds = host.seconds or [0.0]
    return Report(
        spec=spec,
        name="" if started is None else started.name,
        version="" if started is None else started.version,
        checks=tuple(checks),
        decisions=len(host.seconds),
        slowest_seconds=round(max(seconds), 4),
        mean_seconds=round(sum(seconds) / len(seconds), 4),
    )


class _Checks:
    def __init__(self, host: _Watched, times: Times, hands: int) -> None:
        self._host = host
        self._times = times
        self._hands = hands
        # The others at the table are none of the bot's doing, and always the same.
        self._others = DirectHost("greedy", load_maker("greedy"))

    def all(self) -> Iterator[Check]:
        """In order; without a bot that starts there is nothing more to check."""
        starts = self._starts()
        yield starts
        if starts.status == "failed":
            return
        yield self._has_name()
        for number, preset in enumerate(PRESETS, 3):
            yield self._plays(f"B{number:02}", f"plays {preset}", [RuleSet.preset(preset)])
        options = [RuleSet.preset(preset, **values) for preset, values in _OPTIONS]
        yield self._plays("B08", "plays with other options", options)
        yield self._plays_side_by_side()
        yield self._goes_on()
        yield self._is_repeatable()
        yield self._in_time()

    def _starts(self) -> Check:
        """B01: the bot is there within the time for starting up."""
        title = "starts in time"
        game = NewGame("check-start", 0, RuleSet.preset("jiaodong"), 1)
        started = self._host.start([game], self._times)
        self._host.end([EndedGame(game.game_id, None)])
        fault = started.faults.get(game.game_id)
        if fault is not None:
            return Check("B01", title, "failed", str(fault))
        return Check("B01", title, "passed", f"{self._host.start_seconds:.2f} s")

    def _has_name(self) -> Check:
        """B02: results show it under a name of its own."""
        started, spec = self._host.started, self._host.spec
        if started is None or (started.name == spec and not is_built_in(spec)):
            return Check("B02", "has a name", "warned", "it has none; results show it as its spec")
        return Check("B02", "has a name", "passed", f"{started.name} {started.version}".strip())

    def _plays(self, check_id: str, title: str, rule_sets: Sequence[RuleSet]) -> Check:
        """B03 to B08: hands from the deal to the end, in each seat, without a fault."""
        played: list[Played] = []
        for rules in rule_sets:
            for number in range(self._hands):
                for seat in SEATS:
                    played += self._play([_deal(rules, number)], [seat])
        return _judged(check_id, title, played)

    def _plays_side_by_side(self) -> Check:
        """B09: many games at once, itself in several of their seats; none is taken for another."""
        games = [_deal(RuleSet.preset(preset), 100 + number) for number in range(3) for preset in PRESETS]
        played = self._play(games, [0, 2, 3])
        return _judged("B09", "plays many games at once", played)

    def _goes_on(self) -> Check:
        """B10: a bot made in the middle of a hand, as after a worker fell, plays it to the end."""
        games = []
        for number, preset in enumerate(PRESETS):
            game = _deal(RuleSet.preset(preset), 200 + number)
            for _ in range(60):
                if game.outcome is None:
                    game.apply(game.to_act[0], game.auto_action(game.to_act[0]))
            games.append(game)
        played = self._play([game for game in games if game.outcome is None], [1, 4])
        return _judged("B10", "goes on in the middle of a hand", played)

    def _is_repeatable(self) -> Check:
        """B11: the same seed and view give the same answer, so that a game can be repeated."""
        title = "answers the same again"
        rules = RuleSet.preset("lianzhong-simple")

        def actions() -> list[tuple[Seat, Action | None]]:
            [played] = self._play([_deal(rules, 300)], [0, 1])
            return [(each.seat, each.action) for each in played.asked]

        if actions() == actions():
            return Check("B11", title, "passed")
        return Check("B11", title, "warned", "with the same seed it played the same hand otherwise")

    def _in_time(self) -> Check:
        """B12: how much of its time it takes; late answers were faults of the checks before."""
        title = "keeps its time"
        if not self._host.seconds:
            return Check("B12", title, "skipped", "no decision was asked alone")
        slowest, limit = max(self._host.seconds), self._times.move_seconds
        detail = f"the slowest move took {slowest:.3f} s of {limit:g} s"
        return Check("B12", title, "warned" if slowest > limit / 2 else "passed", detail)

    def _play(self, games: Sequence[Game], seats: Sequence[Seat]) -> list[Played]:
        hosts = [[self._host if seat in seats else self._others for seat in SEATS] for _ in games]
        return play_games(games, hosts, times=self._times, most_faults=3, seed=17)


def _deal(rules: RuleSet, number: int) -> Game:
    return Game.deal(rules, seed=number, first_drawer=number % len(SEATS))


def _judged(check_id: str, title: str, played: Sequence[Played]) -> Check:
    asked = [each for one in played for each in one.asked]
    faults = [each for each in asked if each.fault is not None]
    dropped = [each for each in asked if each.dropped]
    detail = f"{len(played)} hands, {len(asked)} decisions"
    if faults:
        return Check(check_id, title, "failed", f"{detail}, {len(faults)} faults", _examples(faults))
    if dropped:
        return Check(
            check_id,
            title,
            "warned",
            f"{detail}, {len(dropped)} of which with parts dropped",
            _examples(dropped),
        )
    return Check(check_id, title, "passed", detail)


def _examples(asked: Sequence[Asked]) -> tuple[str, ...]:
    """The first faults, each kind of text once."""
    texts = dict.fromkeys(str(each.fault) if each.fault is not None else each.dropped for each in asked)
    return tuple(list(texts)[:MOST_EXAMPLES])
