"""Recorded hands to feed what is measured."""

import functools
import random
from typing import NamedTuple

from baohuang import Game, RuleSet
from baohuang.rpc.codec import encode_action, encode_events
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.commands import Start
from baohuang.rules.events import Event

RULES = RuleSet.preset("lianzhong-simple")
SALT = bytes(32)


class Hand(NamedTuple):
    """A hand played at random: each command's events, and the requests that make the engine play it."""

    seed: int
    commits: tuple[tuple[Event, ...], ...]
    acts: tuple[pb.ActRequest, ...]

    @property
    def events(self) -> list[Event]:
        return [event for commit in self.commits for event in commit]


@functools.cache
def hand(seed: int) -> Hand:
    """The same hand for the same seed."""
    chance = random.Random(seed)
    game = Game.start(Start(RULES, seed=seed, salt=SALT))
    commits, acts = [game.events], []
    while game.to_act:
        seat = chance.choice(game.to_act)
        action = chance.choice(game.legal_actions(seat))
        acts.append(
            pb.ActRequest(
                command_id=f"c{game.version}",
                expected_version=game.state.public.version,
                seat=seat,
                action=encode_action(action),
            )
        )
        commits.append(game.apply(seat, action))
    return Hand(seed, tuple(commits), tuple(acts))


def payloads(one: Hand) -> list[bytes]:
    """A live hand's commits as they are stored."""
    return [encode_events(events) for events in one.commits]
