"""Random actions a second through `legal_actions` and `apply` of the readable rules, on one core.

Every action is a draw from `legal_actions`; the choice itself, the deal and everything that `Game` keeps
count in. Time is the process's own, so a busy machine disturbs it less.
"""

import random
import time

from baohuang import PRESETS, Game, RuleSet
from benchmarks.figures import Figure, figure

RUNS = 5
HANDS = 40
GOAL = 20_000


def measure() -> list[Figure]:
    """One figure a preset."""
    figures = []
    for name, rules in PRESETS.items():
        _actions_per_second(rules, 5)
        runs = [_actions_per_second(rules, HANDS) for _ in range(RUNS)]
        figures.append(figure(f"random play, {name}", "actions/s", runs, GOAL))
    return figures


def _actions_per_second(rules: RuleSet, hands: int) -> float:
    draw = random.Random(hands)
    actions = 0
    begin = time.process_time()
    for seed in range(hands):
        game = Game.deal(rules, seed=seed)
        while game.to_act:
            seat = draw.choice(game.to_act)
            game.apply(seat, draw.choice(game.legal_actions(seat)))
            actions += 1
    return actions / (time.process_time() - begin)
