"""What the lobby does with the log: notes whose turn it is, and carries tables from hand to hand."""

from __future__ import annotations

from typing import Final

from services.eventstore import Commit, Connection
from services.lobby import metrics
from services.lobby.games import Games
from services.lobby.hands import end_hand, note_begun
from services.lobby.turns import set_turns

SUBSCRIPTION: Final = "lobby"


class LobbyProjection:
    """Keeps the lobby's tables in step with the log of their games."""

    def __init__(self, games: Games) -> None:
        self._games = games

    async def apply(self, connection: Connection, commit: Commit) -> None:
        """Note what a commit means for the table whose game it is; games of others are passed over."""
        position = await self._games.after(connection, commit)
        if position is None:
            return
        if commit.first_version == 1:
            await note_begun(connection, commit.stream)
        await set_turns(connection, commit.stream, position.awaited)
        outcome = position.state.public.outcome
        if outcome is not None:
            await end_hand(connection, commit.stream, outcome)
            metrics.HANDS_ENDED.labels(outcome.termination).inc()
            self._games.forget(commit.stream)
