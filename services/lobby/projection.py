"""What the lobby does with the log: notes whose turn it is, and carries tables from hand to hand."""

from __future__ import annotations

from typing import Final

from baohuang.rules.state import State
from services.eventstore import Commit, Connection
from services.lobby import metrics, sql
from services.lobby.games import Games
from services.lobby.tables import end_hand, note_begun

SUBSCRIPTION: Final = "lobby"


class LobbyProjection:
    """Keeps the lobby's tables in step with the log of their games."""

    def __init__(self, games: Games) -> None:
        self._games = games

    async def apply(self, connection: Connection, commit: Commit) -> None:
        """Note what a commit means for the table whose game it is; games of others are passed over."""
        bots = await self._games.seats(connection, commit.stream)
        if not bots:
            return
        state = await self._games.state_after(commit)
        if commit.first_version == 1:
            await note_begun(connection, commit.stream)
        await _set_turns(connection, commit.stream, state, bots)
        outcome = state.public.outcome
        if outcome is not None:
            await end_hand(connection, commit.stream, outcome)
            metrics.HANDS_ENDED.labels(outcome.termination).inc()
            self._games.forget(commit.stream)


async def _set_turns(connection: Connection, game_id: str, state: State, bots: dict[int, str | None]) -> None:
    seats = [seat for seat in state.to_act if bots[seat] is not None]
    await connection.execute(
        sql.SET_TURNS,
        {
            "game_id": game_id,
            "seats": seats,
            "versions": [state.public.opened_version] * len(seats),
            # A step may ask a seat for several answers, one after another (R10.6).
            "answers": [len(state.hidden.answers[seat]) for seat in seats],
            "bots": [bots[seat] for seat in seats],
        },
    )
