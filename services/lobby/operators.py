"""Operators, whom nobody but another operator or whoever reaches the database can make."""

from __future__ import annotations

import secrets

from services.eventstore import make_pool
from services.kit.settings import Settings
from services.lobby.callers import Callers
from services.lobby.messages.players import NewPlayer
from services.lobby.players import Players


async def make_operator(settings: Settings) -> str:
    """A new player with the scopes `operator` and `play`; gives the secret of his token.

    Raises StoreUnavailable.
    """
    pool = make_pool(settings.database_url, max_size=1, application="baohuang-lobby-operator")
    async with pool:
        players = Players(pool, Callers(pool))
        name = f"operator {secrets.token_hex(4)}"
        registered = await players.register(NewPlayer(name=name), ("operator", "play"))
    return registered.secret
