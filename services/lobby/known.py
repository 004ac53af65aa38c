"""Games as the lobby's server sees them: who plays in them, and where they stand in the log."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, LiteralString, NamedTuple

from services.eventstore import EventStore, Pool
from services.kit.errors import PlatformError
from services.kit.ids import is_id
from services.lobby.clocks import HandSeats, Position
from services.lobby.database import connected, row_of
from services.lobby.games import MOST_GAMES, position_after


class Hand(NamedTuple):
    """What stays the same in the game of a hand. `players` are who sat down to it, by seat."""

    game_id: str
    table_id: str
    seats: HandSeats
    players: tuple[str | None, ...]
    spectator_delay: int

    def seat_of(self, player_id: str) -> int | None:
        """The seat of a player, None for somebody else."""
        return self.players.index(player_id) if player_id in self.players else None


class KnownGames:
    """A bounded cache of hands and of positions; the log is asked each time what is new.

    Methods raise PlatformError (GAME_NOT_FOUND), StoreUnavailable.
    """

    def __init__(self, pool: Pool, store: EventStore) -> None:
        self._pool = pool
        self._store = store
        self._hands: OrderedDict[str, Hand] = OrderedDict()
        self._positions: OrderedDict[str, Position] = OrderedDict()

    async def hand(self, game_id: str) -> Hand:
        """The hand of a table whose game this is."""
        known = self._hands.get(game_id)
        if known is not None:
            return known
        row = None
        if is_id(game_id):
            async with connected(self._pool) as connection:
                row = await row_of(connection, _READ_HAND, [game_id])
        if row is None:
            raise game_not_found(game_id)
        players: list[str | None] = [None] * 5
        for seat, player_id in zip(row["sitting"], row["player_ids"], strict=True):
            players[seat] = player_id
        hand = Hand(
            game_id,
            row["table_id"],
            HandSeats(tuple(row["bots"]), row["turn_seconds"], row["opening_seconds"]),
            tuple(players),
            row["spectator_delay"],
        )
        _keep(self._hands, game_id, hand)
        return hand

    async def position(self, hand: Hand) -> Position:
        """Where a game stands now."""
        known = self._positions.get(hand.game_id)
        version = 0 if known is None else known.state.version
        position = position_after(known, await self._store.read_stream(hand.game_id, version), hand.seats)
        if position is None:
            raise game_not_found(hand.game_id)
        self.learn(hand.game_id, position)
        return position

    def learn(self, game_id: str, position: Position) -> None:
        """Keep a position that was read elsewhere, unless a later one is known."""
        known = self._positions.get(game_id)
        if known is None or known.state.version <= position.state.version:
            _keep(self._positions, game_id, position)


def game_not_found(game_id: str) -> PlatformError:
    """The refusal for a game that is none of a table's, or has not begun."""
    return PlatformError("GAME_NOT_FOUND", f"there is no game {game_id[:64]!r}, or it has not begun")


def _keep(kept: OrderedDict[str, Any], key: str, value: object) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > MOST_GAMES:
        kept.popitem(last=False)


_READ_HAND: Final[LiteralString] = """
select table_id, hands.bots, turn_seconds, opening_seconds, spectator_delay,
    array(select seat from lobby.sittings where sittings.game_id = hands.game_id order by seat) as sitting,
    array(select player_id from lobby.sittings where sittings.game_id = hands.game_id order by seat)
        as player_ids
from lobby.hands join lobby.tables using (table_id) where game_id = %s"""
