"""Hands of at most 25 events, one of each preset, from the first answer to the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from baohuang import Action, Game, RuleSet
from baohuang.bots import make_bot
from baohuang.record import start_of
from baohuang.rpc.codec import encode_action, encode_hand, encode_rules
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.commands import Start
from baohuang.rules.events import Event

MOST_EVENTS = 25


@dataclass
class Hand:
    """A game's commands in order, and the events that each of them leads to by the library's word."""

    game_id: str
    game: Game
    commands: list[tuple[str, Any]] = field(default_factory=list)  # a method of the engine and its request
    events: list[Sequence[Event]] = field(default_factory=list)

    @classmethod
    def begin(cls, game_id: str, game: Game) -> Hand:
        """With the command that begins the game."""
        start = start_of(game.events)
        request = pb.CreateGameRequest(
            game_id=game_id,
            command_id="c0",
            rules=encode_rules(start.rules),
            first_drawer=start.first_drawer,
            hands=[encode_hand(hand) for hand in start.hands or ()],
            seed=None if start.seed is None else start.seed.to_bytes(32, "big"),
            salt=start.salt,
        )
        return cls(game_id, game, [("CreateGame", request)], [game.events])

    def act(self, seat: int, action: Action) -> None:
        request = pb.ActRequest(
            game_id=self.game_id,
            command_id=f"c{len(self.commands)}",
            expected_version=self.game.state.public.version,
            seat=seat,
            action=encode_action(action),
        )
        self.commands.append(("Act", request))
        self.events.append(self.game.apply(seat, action))


# Rule set, first drawer, the five hands, and who does what.
_SCRIPTS = {
    "jiaodong": (
        0,
        "6d | BJ | GJ EJ | 6d | 8c",
        """2 keep, 0 no, 1 no, 2 solo, 3 solo, 4 no, 0 no, 1 no, 3 counter, 4 no,
        2 play GJ, 3 pass, 4 pass, 0 pass, 1 play BJ""",
    ),
    "marked-guard": (
        3,
        "Ac | GJ EJ | Qc | Ts | 9h",
        """4 no, 2 no, 3 no, 1 no, 0 no, 3 rebel, 2 rebel, 1 no, 4 no, 0 rebel,
        1 play GJ, 2 pass, 3 pass, 4 pass, 0 pass, 1 play EJ""",
    ),
    "lianzhong-simple": (
        3,
        "2c | 6h | GJ EJ | Kd | Tc",
        """2 keep, 0 no, 3 no, 4 no, 2 solo, 1 no,
        2 play EJ, 3 pass, 4 pass, 0 pass, 1 pass, 2 play GJ""",
    ),
    "lianzhong-classic": (
        0,
        "Tc | Kd | 6s 6s 6s 6s EJ | 6c | 6d",
        """2 keep, 2 call 6s, 0 no, 1 no, 3 no, 2 solo, 4 no,
        2 play 6s 6s EJ, 3 pass, 4 pass, 0 pass, 1 pass, 2 play 6s, 3 pass, 4 pass, 0 play Tc""",
    ),
    "shandong-folk": (
        1,
        "8d 8d 8d | 3h | 8d | Tc | 6h",
        """1 decline, 2 decline, 3 decline, 4 decline, 0 take, 0 solo,
        0 play 8d, 1 pass, 2 pass, 3 pass, 4 pass, 0 play 8d, 1 pass, 2 pass, 3 pass, 4 pass, 0 play 8d""",
    ),
}
PRESETS = tuple(_SCRIPTS)


def scripted_hands() -> list[Hand]:
    """The same on each call; the id of a game is the name of its preset."""
    hands = []
    for preset, (first_drawer, cards, moves) in _SCRIPTS.items():
        rules = RuleSet.preset(preset)
        game = Game.from_hands(rules, cards.split(" | "), first_drawer=first_drawer)
        hand = Hand.begin(preset, game)
        for move in moves.split(","):
            seat, _, action = move.strip().partition(" ")
            hand.act(int(seat), Action.parse(action))
        assert game.outcome is not None
        assert game.version <= MOST_EVENTS
        hands.append(hand)
    return hands


def dealt_hand(preset: str, seed: int) -> Hand:
    """A whole hand from a seed and a salt, played by bots."""
    game = Game.start(Start(RuleSet.preset(preset), seed=seed, salt=seed.to_bytes(32, "big")))
    hand = Hand.begin(f"{preset}-{seed}", game)
    bot = make_bot("random", seed=seed)
    while game.to_act:
        seat = game.to_act[0]
        hand.act(seat, bot.choose(game.view(seat), game.legal_actions(seat), None))
    return hand


def steps(hands: list[Hand]) -> list[tuple[int, list[Hand]]]:
    """The number of each command with the hands that have one of that number."""
    longest = max(len(hand.commands) for hand in hands)
    return [(number, [h for h in hands if len(h.commands) > number]) for number in range(longest)]
