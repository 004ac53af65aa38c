"""Games made by the library and written into the real log, as the engine would write them."""

import random
from collections.abc import Sequence

from baohuang import PRESETS, Game, RuleSet
from baohuang.bots import make_bot
from baohuang.rpc.codec import encode_events
from baohuang.rules.actions import Action
from baohuang.rules.events import Event
from services.eventstore import EventStore, Pool
from services.eventstore.projection import subscription_of
from services.eventstore.subscription import Follower
from services.replay.games import GamesProjection

ALL_PRESETS = tuple(PRESETS)

Move = tuple[int, Action]


def play(game: Game, seed: int, *, until: int | None = None) -> list[Move]:
    """Plays a game with bots, to its end or until it has `until` events; gives what was done."""
    bots = [make_bot("greedy" if seat % 2 else "random", seed=seed + seat) for seat in range(5)]
    chance = random.Random(seed)
    moves = []
    while game.to_act and (until is None or game.version < until):
        # In a step that several answer, in any order.
        seat = chance.choice(game.to_act)
        action = bots[seat].choose(game.view(seat), game.legal_actions(seat), None)
        game.apply(seat, action)
        moves.append((seat, action))
    return moves


def played_game(preset: str, *, seed: int = 7, until: int | None = None, **options: object) -> Game:
    """A game of a preset, played by bots."""
    game = Game.deal(RuleSet.preset(preset, **options), seed=seed)
    play(game, seed, until=until)
    return game


async def write(store: EventStore, game_id: str, events: Sequence[Event], *, per_commit: int = 3) -> None:
    """Appends what the log lacks of a game's events, a few to a commit."""
    version = await store.stream_version(game_id)
    while version < len(events):
        some = events[version : version + per_commit]
        await store.append(
            game_id,
            command_id=f"command-{version}",
            fingerprint=b"",
            expected_version=version,
            payload=encode_events(some),
            event_count=len(some),
        )
        version += len(some)


async def index(pool: Pool) -> None:
    """Brings the index up to date with the log."""
    await Follower(pool, subscription_of(GamesProjection())).catch_up()
