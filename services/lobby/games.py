"""Where the games of tables stand, folded from the log."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, LiteralString

from services.eventstore import Commit, Connection
from services.eventstore.sql import READ_STREAM
from services.kit.stored_events import decode_stored
from services.lobby.clocks import HandSeats, Position, advance

MOST_GAMES: Final = 2_000


@dataclass(frozen=True, slots=True)
class _Known:
    """What stays the same in a game, None if it is no table's; and where it stood when last looked at."""

    seats: HandSeats | None
    position: Position | None = None


class Games:
    """The games that a follower sees, with a bounded cache.

    What is kept follows from the log and from what never changes, so that it cannot be wrong, only missing.
    (A hand's row is written before its game begins: a game that is unknown then is nobody's for good.)
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def after(self, connection: Connection, commit: Commit) -> Position | None:
        """The position of a table's game right after a commit, None for other games.

        What is missing is read through the same connection: its transaction must not wait for another.
        Raises UnreadableEvents.
        """
        known = self._known.get(commit.stream)
        if known is None:
            row = await (await connection.execute(_READ_SEATS, [commit.stream])).fetchone()
            known = _Known(None if row is None else HandSeats(tuple(row[0]), row[1], row[2]))
        position = known.position
        if known.seats is not None and (position is None or position.state.version != commit.version):
            if position is None or position.state.version != commit.first_version - 1:
                position = position_after(None, await _read_before(connection, commit), known.seats)
            position = position_after(position, [commit], known.seats)
        self._keep(commit.stream, _Known(known.seats, position))
        return position

    def forget(self, game_id: str) -> None:
        """Drop what is known of a game that is over."""
        self._known.pop(game_id, None)

    def _keep(self, game_id: str, known: _Known) -> None:
        self._known[game_id] = known
        self._known.move_to_end(game_id)
        if len(self._known) > MOST_GAMES:
            self._known.popitem(last=False)


def position_after(position: Position | None, commits: Iterable[Commit], seats: HandSeats) -> Position | None:
    """The position after some more commits. Raises UnreadableEvents."""
    for commit in commits:
        events = decode_stored(commit.payload, commit.schema_version)
        position = advance(position, events, commit.recorded_at_ms, seats)
    return position


async def _read_before(connection: Connection, commit: Commit) -> list[Commit]:
    """The commits of the same game before this one."""
    if commit.first_version == 1:
        return []
    cursor = connection.cursor(binary=True)
    await cursor.execute(READ_STREAM, {"stream": commit.stream, "after_version": 0})
    commits = [Commit._make(row) for row in await cursor.fetchall()]
    return [each for each in commits if each.version < commit.first_version]


_READ_SEATS: Final[LiteralString] = """
select hands.bots, turn_seconds, opening_seconds
from lobby.hands join lobby.tables using (table_id) where game_id = %s"""
