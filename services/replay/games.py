"""The index of games: what it holds of each, how it follows from the log, how it is searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, LiteralString, NamedTuple

from psycopg import sql as composing
from psycopg.types.json import Jsonb

from baohuang import PRESETS, RuleSet
from baohuang.rules.events import Event, GameStarted, HandEnded
from baohuang.rules.outcome import Outcome
from services.eventstore import Commit, Connection, Pool, StoreError
from services.eventstore.errors import translated_errors
from services.kit.errors import PlatformError
from services.kit.paging import Place
from services.kit.stored_events import decode_stored

MOST_GAMES: Final = 100
"""On one page."""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """What the index says of a game. Everything from `finished_ms` on is None while it runs."""

    game_id: str
    rules: str
    options: dict[str, bool | int | str]
    started_ms: int
    finished_ms: int | None = None
    events: int | None = None
    termination: str | None = None
    solo: str | None = None
    multiplier: int | None = None
    places: list[int] | None = None
    roles: list[str] | None = None
    scores: list[int] | None = None
    penalties: list[int] | None = None

    @property
    def is_running(self) -> bool:
        return self.finished_ms is None


class Page(NamedTuple):
    """Some games; `next` leads to older ones and is None on the last page."""

    games: list[GameSummary]
    next: Place | None


class Totals(NamedTuple):
    """How many games the index holds."""

    running: int
    finished: int


class Games:
    """The index of games as it stands; it follows the log by some milliseconds.

    Every method raises StoreUnavailable when the database cannot answer.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(
        self,
        *,
        rules: str | None = None,
        is_running: bool | None = None,
        player: str | None = None,
        after: Place | None = None,
        limit: int = 20,
    ) -> Page:
        """Up to `limit` (1 … MOST_GAMES) games, the newest first.

        Of one preset, running or finished, of a player.
        """
        conditions: list[LiteralString] = []
        if rules is not None:
            conditions.append("preset = %(rules)s")
        if is_running is not None:
            conditions.append("finished_ms is null" if is_running else "finished_ms is not null")
        if player is not None:
            conditions.append(_HAS_PLAYER)
        if after is not None:
            conditions.append("(started_ms, game_id) < (%(time)s, %(entry_id)s)")
        query = composing.SQL(_PAGE).format(
            composing.SQL(" and ").join([composing.SQL(each) for each in conditions or ["true"]])
        )
        parameters = {
            "rules": rules,
            "player": player,
            "limit": limit + 1,
            **({} if after is None else after._asdict()),
        }
        with translated_errors():
            async with self._pool.connection() as connection:
                rows = await (await connection.execute(query, parameters)).fetchall()
        found = [GameSummary(*row) for row in rows]
        games = found[:limit]
        further = Place(games[-1].started_ms, games[-1].game_id) if len(found) > limit else None
        return Page(games, further)

    async def totals(self) -> Totals:
        """How many games run and how many are over; counts the whole index."""
        with translated_errors():
            async with self._pool.connection() as connection:
                row = await (await connection.execute(_TOTALS)).fetchone()
        return Totals(0, 0) if row is None else Totals(*row)


class GamesProjection:
    """The index as it follows from the log (services.eventstore.projection)."""

    name: Final = "replay"

    async def create(self, connection: Connection) -> None:
        """The tables of a rebuild: as the migrations made those in use, so `migrate` comes first."""
        await connection.execute("create table games (like replay.games including all)")

    async def apply(self, connection: Connection, commit: Commit) -> None:
        """What a commit changes in the index."""
        events = decode_stored(commit.payload, commit.schema_version)
        if isinstance(events[0], GameStarted):
            summary = _begun(commit, events[0].rules)
            await connection.execute(_BEGIN, asdict(summary) | {"options": Jsonb(summary.options)})
        if isinstance(events[-1], HandEnded):
            await connection.execute(_FINISH, _ended(commit, events[-1].outcome) | {"game_id": commit.stream})


def summary_of(commits: Sequence[Commit], events: Sequence[Event]) -> GameSummary:
    """What the index says, or will say in a moment, of a game with these commits and events."""
    started, last = events[0], events[-1]
    if not isinstance(started, GameStarted):
        raise StoreError(f"the stream {commits[0].stream!r} does not begin like a game")
    summary = _begun(commits[0], started.rules)
    if not isinstance(last, HandEnded):
        return summary
    return replace(summary, **_ended(commits[-1], last.outcome))


def known_rules(name: str | None) -> str | None:
    """The name of a preset, None for None. Raises PlatformError (UNKNOWN_PRESET)."""
    if name is not None and name not in PRESETS:
        raise PlatformError("UNKNOWN_PRESET", f"no rule set {name[:40]!r}; there are {', '.join(PRESETS)}")
    return name


def _begun(commit: Commit, rules: RuleSet) -> GameSummary:
    return GameSummary(commit.stream, rules.name, rules.options(), commit.recorded_at_ms)


def _ended(commit: Commit, outcome: Outcome) -> dict[str, Any]:
    return {
        "finished_ms": commit.recorded_at_ms,
        "events": commit.version,
        "termination": str(outcome.termination),
        "solo": str(outcome.solo),
        "multiplier": outcome.multiplier,
        "places": None if outcome.places is None else list(outcome.places),
        "roles": None if outcome.roles is None else [str(role) for role in outcome.roles],
        "scores": list(outcome.scores),
        "penalties": list(outcome.penalties),
    }


_PAGE: Final[LiteralString] = """
select game_id, preset, options, started_ms, finished_ms, events, termination, solo, multiplier, places,
    roles, scores, penalties
from replay.games
where {}
order by started_ms desc, game_id desc
limit %(limit)s"""

_HAS_PLAYER: Final[LiteralString] = (
    "game_id in (select game_id from replay_tables.sittings where names @> array[%(player)s::text])"
)

_TOTALS: Final[LiteralString] = """
select count(*) filter (where finished_ms is null), count(*) filter (where finished_ms is not null)
from replay.games"""

# Without a schema: the same statements fill the tables of a rebuild.
_BEGIN: Final[LiteralString] = """
insert into games (game_id, preset, options, started_ms)
values (%(game_id)s, %(rules)s, %(options)s, %(started_ms)s)"""

_FINISH: Final[LiteralString] = """
update games
set finished_ms = %(finished_ms)s, events = %(events)s, termination = %(termination)s, solo = %(solo)s,
    multiplier = %(multiplier)s, places = %(places)s, roles = %(roles)s, scores = %(scores)s,
    penalties = %(penalties)s
where game_id = %(game_id)s"""
