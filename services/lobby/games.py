"""Where the games of tables stand, folded from the log."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from baohuang.rules.evolve import evolve
from baohuang.rules.state import State
from services.eventstore import Commit, Connection, EventStore
from services.kit.stored_events import decode_stored
from services.lobby import sql

_MOST_GAMES = 2_000


@dataclass(frozen=True, slots=True)
class _Known:
    """Who sits where, and the state when it was last looked at."""

    seats: dict[int, str | None]
    state: State | None = None


class Games:
    """The games that a follower sees, with a bounded cache.

    What is kept follows from the log and from seats that never change, so that it cannot be wrong, only
    missing. (A hand's row is written before its game begins: a game that is unknown then is nobody's for
    good.)
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def seats(self, connection: Connection, game_id: str) -> dict[int, str | None]:
        """The built-in bot in each seat of a table's game, None for a seat without; empty for other games."""
        known = self._known.get(game_id)
        if known is None:
            rows = await (await connection.execute(sql.READ_SEATS_OF_GAME, [game_id])).fetchall()
            known = _Known(dict(rows))
            self._keep(game_id, known)
        return known.seats

    async def state_after(self, commit: Commit) -> State:
        """The state of a game right after a commit. Raises StoreUnavailable, UnreadableEvents."""
        known = self._known.get(commit.stream, _Known({}))
        state = known.state
        if state is not None and state.version == commit.version:
            return state
        if commit.first_version == 1:
            state = None
        elif state is None or state.version != commit.first_version - 1:
            state = None
            for earlier in await self._store.read_stream(commit.stream):
                if earlier.version < commit.first_version:
                    state = _fold(state, earlier)
        state = _fold(state, commit)
        self._keep(commit.stream, _Known(known.seats, state))
        return state

    def _keep(self, game_id: str, known: _Known) -> None:
        self._known[game_id] = known
        self._known.move_to_end(game_id)
        if len(self._known) > _MOST_GAMES:
            self._known.popitem(last=False)

    def forget(self, game_id: str) -> None:
        """Drop what is known of a game that is over."""
        self._known.pop(game_id, None)


def _fold(state: State | None, commit: Commit) -> State:
    for event in decode_stored(commit.payload, commit.schema_version):
        state = evolve(state, event)
    if state is None:
        raise RuntimeError(f"the commit {commit.cursor.format()} of {commit.stream} holds no events")
    return state
