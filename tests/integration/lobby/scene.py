"""The lobby in this process, over a real database and a real engine, its followers' work done when asked."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from baohuang.rules.autoplay import auto_action
from services.engine.server import serving
from services.eventstore import EventStore, Pool
from services.eventstore.subscription import Follower, Subscription
from services.lobby.application import Lobby
from services.lobby.callers import Caller
from services.lobby.departures import Departures
from services.lobby.engine import Engine
from services.lobby.games import Games
from services.lobby.hands import Hands
from services.lobby.known import KnownGames
from services.lobby.limits import Limits
from services.lobby.matches import Matches
from services.lobby.messages import players as player_messages
from services.lobby.messages import tables as messages
from services.lobby.messages.common import Rules
from services.lobby.projection import SUBSCRIPTION, LobbyProjection
from services.lobby.reaper import Reaper
from services.lobby.turns import Turns
from services.lobby.work import Clock, HandOpener


def rules(preset="marked-guard", **options):
    return Rules(preset, options)


def new_table(preset="marked-guard", **fields):
    return messages.NewTable(rules=rules(preset), **fields)


@dataclass
class Scene:
    """One server of the lobby, one follower, one engine."""

    pool: Pool
    store: EventStore
    lobby: Lobby
    engine: Engine
    follower: Follower
    clock: Clock
    opener: HandOpener
    departures: Departures
    matches: Matches
    reaper: Reaper
    games: KnownGames
    secrets: dict[str, str] = field(default_factory=dict)

    async def player(self, name="player", *, is_bot=False, scopes=()) -> Caller:
        """A new player, called so and something more."""
        request = player_messages.NewPlayer(name=f"{name} {secrets.token_hex(6)}", is_bot=is_bot)
        registered = await self.lobby.players.register(request, scopes)
        self.secrets[registered.player.player_id] = registered.secret
        return await self.lobby.callers.caller(registered.secret)

    def secret(self, caller: Caller) -> str:
        return self.secrets[caller.player_id]

    async def players(self, count=5) -> list[Caller]:
        return [await self.player(f"player{number}") for number in range(count)]

    async def table_of(self, players, **fields) -> messages.Table:
        """A table at which these players sit, from seat 0 on."""
        host, *others = players
        table = await self.lobby.create_table(host, new_table(**fields), None)
        for player in others:
            table = await self.lobby.join(player, messages.Join(table_id=table.table_id), None)
        return table

    async def playing(self, players, **fields) -> messages.Table:
        """A table whose first hand has begun, with built-in bots in the seats that are left."""
        table = await self.table_of(players, **fields)
        for player in players[1:]:
            await self.lobby.set_ready(player, table.table_id, True)
        await self.lobby.start_table(players[0], table.table_id, "random", None)
        await self.settle()
        return await self.lobby.tables.get(table.table_id, players[0])

    async def settle(self) -> None:
        """Do all that is due now, except turns of built-in bots, until nothing is left."""
        await self.lobby.finish()
        while True:
            done = await self.opener.open_due() + await self.departures.tell_due()
            done += await self.follower.catch_up() + await self.clock.enforce_due()
            if not done and not await self.hidden_commits():
                return

    async def hidden_commits(self) -> int:
        """How many commits an open transaction still hides from followers."""
        [(count,)] = await self.execute(
            "select count(*) from eventstore.commits where tx >= pg_snapshot_xmin(pg_current_snapshot())"
        )
        return count

    async def state(self, game_id):
        return (await self.games.position(await self.games.hand(game_id))).state

    async def act_for(self, game_id, seat) -> None:
        """A dull action of any seat, on auto-play or not."""
        state = await self.state(game_id)
        command_id = f"test.{secrets.token_hex(8)}"
        if state.public.auto_play[seat]:
            await self.engine.auto_act(game_id, command_id, seat, state.public.opened_version)
        else:
            await self.engine.act(game_id, command_id, seat, auto_action(state, seat), None)

    async def play_to_the_end(self, game_id) -> None:
        """Dull actions of all seats, and all that follows."""
        while (state := await self.state(game_id)).public.outcome is None:
            for seat in state.to_act:
                await self.act_for(game_id, seat)
        await self.settle()

    async def execute(self, statement, parameters=()):
        async with self.pool.connection() as connection:
            cursor = await connection.execute(statement, parameters)
            return await cursor.fetchall() if cursor.description else []

    async def pass_time(self, game_id, seconds=1_000_000) -> None:
        """As if so much time had gone by for those who are awaited."""
        await self.execute(
            "update lobby.turns set due_at = due_at - %s * interval '1 second' where game_id = %s",
            [seconds, game_id],
        )


@contextlib.asynccontextmanager
async def opened_scene(pool: Pool, valkey_url: str, listener=None) -> AsyncIterator[Scene]:
    """The tables must have been migrated."""
    store = EventStore(pool)
    async with serving(store) as port, Limits(valkey_url, 0) as limits:
        engine = Engine(f"127.0.0.1:{port}")
        lobby = Lobby(pool, engine, limits, listener)
        follower = Follower(pool, Subscription(SUBSCRIPTION, LobbyProjection(Games()).apply))
        running = asyncio.create_task(lobby.run())
        try:
            yield Scene(
                pool,
                store,
                lobby,
                engine,
                follower,
                Clock(Turns(pool), engine),
                HandOpener(Hands(pool), engine),
                Departures(pool, engine),
                Matches(pool),
                Reaper(pool),
                KnownGames(pool, store),
            )
        finally:
            await lobby.finish()
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            await engine.close()
