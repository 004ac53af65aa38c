"""Who plays a game and at which table, as far as somebody has said so: the log does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, LiteralString

from services.eventstore import Pool
from services.eventstore.errors import translated_errors


@dataclass(frozen=True)
class Sitting:
    """`names` are by seat. `previous` and `next` are the games of the table's hands around this one.

    Spectators of a running game lag `delay_plays` plays behind.
    """

    names: tuple[str, ...] | None = None
    delay_plays: int = 0
    previous: str | None = None
    next: str | None = None


class Sittings:
    """The sittings as they stand. Raises StoreUnavailable when the database cannot answer."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def find(self, game_id: str) -> Sitting:
        """The sitting of a game; an empty one if nothing was said of it."""
        with translated_errors():
            async with self._pool.connection() as connection:
                row = await (await connection.execute(_FIND, [game_id])).fetchone()
        if row is None:
            return Sitting()
        names, delay_plays, previous, following = row
        return Sitting(None if names is None else tuple(names), delay_plays, previous, following)

    async def names(self, game_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Who sits where in those of these games of which it was said."""
        with translated_errors():
            async with self._pool.connection() as connection:
                rows = await (await connection.execute(_NAMES, [list(game_ids)])).fetchall()
        return {game_id: tuple(names) for game_id, names in rows}


_NAMES: Final[LiteralString] = """
select game_id, names from replay_tables.sittings where game_id = any(%s) and names is not null"""

_FIND: Final[LiteralString] = """
select this.names, this.delay_plays, before.game_id, after.game_id
from replay_tables.sittings as this
left join replay_tables.sittings as before on before.table_id = this.table_id and before.hand = this.hand - 1
left join replay_tables.sittings as after on after.table_id = this.table_id and after.hand = this.hand + 1
where this.game_id = %s"""
