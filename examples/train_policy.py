"""Trains a small policy by playing against itself, with NumPy alone, and measures it on duplicate deals.

The policy is a network of one hidden layer that gives each legal action a value, from what the seat to act
observes and from the parts of the action; it plays an action with the probability of the softmax. It learns
by REINFORCE: what was done in hands that went better than others of the same role becomes likelier. Then it
plays fresh deals against players who choose at random, each deal five times, once from every seat; if all
five were alike, its five scores of a deal would sum to zero on average.

    python examples/train_policy.py                  # about a minute
    python examples/train_policy.py --rules shandong-folk --iterations 10

Ends with 1 unless the 95 % interval of its score a hand lies above zero.
"""

import argparse
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads cost more than such small matrices gain

import numpy as np

from baohuang.arena.encoding import COLUMNS
from baohuang.envs import BaohuangVector, Turns, split

HIDDEN = 32
RATE = 0.01
"""Of Adam."""
STEPS = 400
"""Actions in each game between two updates: about one and a half hands."""


class Policy:
    """Values of actions: two layers of weights, learned by Adam."""

    def __init__(self, features: int, draw: np.random.Generator) -> None:
        self.weights = [
            draw.normal(0, features**-0.5, (features, HIDDEN)).astype(np.float32),
            np.zeros((HIDDEN, 1), np.float32),
        ]
        self._means = [np.zeros_like(each) for each in self.weights]
        self._squares = [np.zeros_like(each) for each in self.weights]
        self._updates = 0

    def values(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The value of each entry, and the hidden layer."""
        hidden = np.maximum(features @ self.weights[0], 0)
        return (hidden @ self.weights[1])[:, 0], hidden

    def update(self, features: np.ndarray, hidden: np.ndarray, slopes: np.ndarray) -> None:
        """One step of Adam down the slopes of the loss by the values."""
        back = slopes[:, np.newaxis] @ self.weights[1].T * (hidden > 0)
        gradients = [features.T @ back, hidden.T @ slopes[:, np.newaxis]]
        self._updates += 1
        for layer, gradient in enumerate(gradients):
            self._means[layer] += 0.1 * (gradient - self._means[layer])
            self._squares[layer] += 0.001 * (gradient**2 - self._squares[layer])
            mean = self._means[layer] / (1 - 0.9**self._updates)
            square = self._squares[layer] / (1 - 0.999**self._updates)
            self.weights[layer] -= RATE * mean / (np.sqrt(square) + 1e-8)


def describe(turns: Turns, table: np.ndarray) -> np.ndarray:
    """The features of every legal action, one row for each entry of `turns.ids`."""
    planes = {name: plane.astype(np.float32) for name, plane in split(turns.observations).items()}
    parts = {name: table[turns.ids, column].astype(np.float32) for column, name in enumerate(COLUMNS)}
    games = turns.games
    held = planes["hand"][games, parts["rank"].astype(np.int64)]
    cards = parts["plain"] + parts["fillers"] + parts["small"] + parts["big"]
    is_play = (cards > 0).astype(np.float32)
    left = planes["counts"][:, 0][games] - cards
    owner = planes["owner"]
    # Whether the play to beat is of the own side, as far as that is known.
    royal = np.maximum(planes["emperor"], planes["guard"])
    knows = planes["guard"].sum(axis=1) > 0
    same = (owner * (royal == royal[:, :1])).sum(axis=1) * knows
    simple = [turns.ids == number for number in range(10)]
    state = np.stack(
        [
            owner.sum(axis=1),
            same,
            planes["emperor"][:, 0],
            planes["guard"][:, 0],
            planes["counts"][:, 0] / 20,
            (owner * planes["counts"]).sum(axis=1) / 20,
            planes["hand"][:, 13:].sum(axis=1) / 4,
        ],
        axis=1,
    )[games]
    action = np.stack(
        [
            *simple,
            is_play,
            parts["rank"] / 12 * is_play,
            parts["plain"] / 4,
            parts["fillers"] / 4,
            parts["small"] / 2,
            parts["big"] / 2,
            is_play * (held - parts["plain"]) / 4,
            is_play * (left == 0),
            is_play * left / 20,
        ],
        axis=1,
    ).astype(np.float32)
    plays = action[:, 10:11]
    return np.concatenate([action, state, state * plays, np.ones((len(action), 1), np.float32)], axis=1)


def softmax(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The probabilities of the entries of each turn."""
    starts, counts = offsets[:-1], np.diff(offsets)
    shares = np.exp(values - np.repeat(np.maximum.reduceat(values, starts), counts))
    return shares / np.repeat(np.add.reduceat(shares, starts), counts)


def pick(chances: np.ndarray, offsets: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """A random entry of each turn, by its probability."""
    sums = np.cumsum(chances, dtype=np.float64)
    before = sums[offsets[:-1]] - chances[offsets[:-1]]
    wanted = before + draw.random(len(offsets) - 1) * (sums[offsets[1:] - 1] - before)
    return np.clip(np.searchsorted(sums, wanted, side="right"), offsets[:-1], offsets[1:] - 1)


def learn(
    policy: Policy, games: BaohuangVector, turns: Turns, draw: np.random.Generator
) -> tuple[Turns, int]:
    """Plays `STEPS` actions in each game and updates the policy once.

    Gives back the next turns, and how many hands ended.
    """
    seen: list[np.ndarray] = []
    decisions = []
    results = {}
    for _ in range(STEPS):
        features = describe(turns, games.space.table)
        picked = pick(softmax(policy.values(features)[0], turns.offsets), turns.offsets, draw)
        seen.append(features)
        emperor = split(turns.observations)["emperor"][:, 0]
        counts = np.diff(turns.offsets)
        decisions.append((counts, picked - turns.offsets[:-1], turns.numbers, turns.to_act, emperor))
        numbers = turns.numbers
        turns = games.step(turns.ids[picked])
        for game in np.flatnonzero(turns.ended).tolist():
            results[int(numbers[game])] = turns.scores[game]

    counts, places, numbers, seats, emperors = (np.concatenate(each) for each in zip(*decisions, strict=True))
    scores = np.zeros((int(numbers.max()) + 1, 5), np.float32)
    scores[list(results)] = list(results.values())
    advantages = scores[numbers, seats]
    is_known = np.isin(numbers, list(results))  # the hands that go on at the end teach nothing
    for role in (0, 1):
        among = is_known & (emperors == role)
        advantages[among] -= advantages[among].mean()
    advantages[~is_known] = 0
    advantages /= advantages[is_known].std() * is_known.sum()

    offsets = np.concatenate([[0], np.cumsum(counts)])
    features = np.concatenate(seen)
    values, hidden = policy.values(features)
    slopes = softmax(values, offsets)
    slopes[offsets[:-1] + places] -= 1
    policy.update(features, hidden, (slopes * np.repeat(advantages, counts)).astype(np.float32))
    return turns, len(results)


def score_of_seat(policy: Policy, games: BaohuangVector, seat: int, seed: int) -> np.ndarray:
    """The policy's score in each of the first hands, in one seat among random players."""
    draw = np.random.default_rng([seed, seat])
    turns = games.reset(seed)
    scores = np.full(len(games), np.nan)
    while np.isnan(scores).any():
        uniform = 1 / np.repeat(np.diff(turns.offsets), np.diff(turns.offsets))
        learned = softmax(policy.values(describe(turns, games.space.table))[0], turns.offsets)
        plays = np.repeat(turns.to_act == seat, np.diff(turns.offsets))
        before = turns.numbers
        turns = games.step(turns.ids[pick(np.where(plays, learned, uniform), turns.offsets, draw)])
        first = turns.ended & (before < len(games))
        scores[first] = turns.scores[first, seat]
    return scores


def main() -> int:
    """Learns, measures, prints a line; 0 if what was learned is better than chance."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", default="lianzhong-simple", help="preset")
    parser.add_argument("--games", type=int, default=256, help="played side by side while learning")
    parser.add_argument("--iterations", type=int, default=100, help="updates of the policy")
    parser.add_argument("--deals", type=int, default=500, help="for the measurement")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    draw = np.random.default_rng(arguments.seed)
    games = BaohuangVector(arguments.rules, arguments.games)
    turns = games.reset(arguments.seed)
    policy = Policy(describe(turns, games.space.table).shape[1], draw)
    hands = 0
    for _ in range(arguments.iterations):
        turns, played = learn(policy, games, turns, draw)
        hands += played

    fresh = BaohuangVector(arguments.rules, arguments.deals)
    by_deal = np.mean([score_of_seat(policy, fresh, seat, arguments.seed + 1) for seat in range(5)], axis=0)
    error = 1.96 * by_deal.std(ddof=1) / len(by_deal) ** 0.5
    print(
        f"after {hands} hands: {by_deal.mean():+.2f} ± {error:.2f} points a hand "
        f"against random players, {len(by_deal)} deals, five seats each"
    )
    return 0 if by_deal.mean() - error > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
