"""Observations say what a player's view says (R11), in numbers."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from baohuang import PRESETS, Action, Game, RuleError, RuleSet, View, parse_cards
from baohuang.arena import ArenaState
from baohuang.arena.kernels import layout, observe
from baohuang.bots import make_bot, play_game
from baohuang.envs import PLANES, baohuang_v0, legal_ids, observe_view, split
from baohuang.envs.baohuang_v0 import AGENTS
from baohuang.envs.observations import bounds
from baohuang.rules.opening import MOST_REDEALS, MOST_YIELDS
from baohuang.testing.options import pairwise
from baohuang.testing.scenarios import start_at_play
from tests.unit.envs.observed import observe_state

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "rules", [*PRESETS.values(), *(rules for preset in PRESETS for rules in pairwise(preset)[:4])], ids=str
)
def test_the_compiled_code_observes_what_the_view_says(rules: RuleSet) -> None:
    """Two ways, with nothing in common but the planes."""
    least, most = bounds(PLANES)
    draw = random.Random(str(rules))
    for seed in range(3):
        game = Game.deal(rules, seed=seed, first_drawer=draw.randrange(5))
        while True:
            seat = draw.randrange(5)
            compiled, readable = observe_state(game.state, seat), observe_view(game.view(seat))
            differing = [name for name, plane in split(compiled != readable).items() if plane.any()]
            assert differing == []
            assert ((least <= compiled) & (compiled <= most)).all()
            if not game.to_act:
                break
            for _ in range(draw.choice((1, 1, 2, 10))):
                if game.to_act:
                    actor = draw.choice(game.to_act)
                    game.apply(actor, draw.choice(game.legal_actions(actor)))


def test_planes_by_example() -> None:
    """Seat 0 leads 8 8 with a small joker hung; seat 1 sees it as of the player before it."""
    hands = {0: ["8", "8", "SJ", "K"], 1: ["9", "9", "BJ", "BJ"]}
    game = start_at_play(RuleSet.preset("lianzhong-simple"), hands)
    game.apply(0, Action.play(game.state.hidden.hands[0][:2] + game.state.hidden.hands[0][-1:]))
    planes = {name: plane.tolist() for name, plane in split(observe_view(game.view(1))).items()}
    eight, king, small, big = 5, 10, 13, 14
    assert {rank: n for rank, n in enumerate(planes["table"]) if n} == {eight: 2, small: 1}
    assert planes["owner"] == [0, 0, 0, 0, 1]
    assert planes["played"][4 * 15 :] == planes["table"]
    assert (planes["hand"][eight + 1], planes["hand"][big]) == (2, 2)
    assert planes["unseen"][king] >= 1
    assert planes["counts"][4] == len(game.state.hidden.hands[0])
    assert planes["step"] == [0, 0, 0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_environment_shows_what_the_view_says(preset: str) -> None:
    env = baohuang_v0.env(preset)
    env.reset(seed=3)
    game = Game.from_hands(env.rules, [env.game.hand(seat) for seat in range(5)])
    draw = random.Random(1)
    while game.to_act and env.game.row[layout.REDEAL] == 0:
        seat = draw.randrange(5)
        assert (env.observe(AGENTS[seat])["observation"] == observe_view(game.view(seat))).all()
        seat = env.game.to_act
        ids = legal_ids(game.view(seat), game.legal_actions(seat))
        assert sorted(ids) == sorted(env.game.legal().tolist())
        number = draw.choice(list(ids))
        game.apply(seat, ids[number])
        env.step(number)


class Trained:
    """A bot as one would make it of a policy that was trained in the environment."""

    name = "trained"

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
        ids = legal_ids(view, legal_actions)
        values = observe_view(view).astype(float) @ self.weights
        return ids[max(ids, key=lambda number: values[number % len(values)])]


def test_a_policy_plays_as_a_bot() -> None:
    weights = np.random.default_rng(1).normal(size=(observe.SIZE, 40))
    for preset in PRESETS:
        game = Game.deal(RuleSet.preset(preset), seed=1)
        play_game(game, [Trained(weights), *(make_bot("random", seed=seat) for seat in range(1, 5))])
        assert game.outcome is not None


def test_a_spectator_observes_nothing() -> None:
    game = Game.deal(RuleSet.preset("jiaodong"), seed=1)
    with pytest.raises(RuleError, match="spectator"):
        observe_view(game.view(None))


def test_planes_stand_one_after_another() -> None:
    assert sum(plane.width for plane in PLANES) == observe.SIZE
    assert len({plane.name for plane in PLANES}) == len(PLANES)
    batch = np.arange(2 * observe.SIZE).astype(np.int8).reshape(2, observe.SIZE)
    assert (np.concatenate(list(split(batch).values()), axis=1) == batch).all()


def test_the_documents_list_all_planes() -> None:
    text = (ROOT / "docs/research.md").read_text("utf-8")
    rows = [
        f"| `{plane.name}` | {plane.width} | {plane.least} | {plane.most} | {plane.meaning} |"
        for plane in PLANES
    ]
    assert "\n".join(rows) in text
    assert f"{observe.SIZE} small numbers" in text
    assert f"(1000 × {observe.SIZE})" in text


def test_the_bounds_of_counted_yields_and_redeals_are_those_of_the_rules() -> None:
    """R5.2, R5.14."""
    most = {plane.name: plane.most for plane in PLANES}
    assert (most["yields"], most["redeals"]) == (MOST_YIELDS, MOST_REDEALS)


def test_hidden_counts_are_hidden() -> None:
    """R11.1: `show_counts`."""
    for show, expected in (("always", [34, 34, 34, 33, 33]), ("never", [34, -1, -1, -1, -1])):
        state = ArenaState(RuleSet.preset("lianzhong-simple", show_counts=show))
        state.reset(1)
        env = baohuang_v0.env(state.rules)
        env.reset(seed=1)
        counts = split(env.observe("player_0")["observation"])["counts"]
        assert counts.tolist() == expected
    few = Game.from_hands(
        RuleSet.preset("lianzhong-simple", show_counts="at_most_10"),
        ["EJ 7c", "GJ " + "8c " * 4 + "9c 9d Tc Td Jc Jd", "9c", "Tc", "Jc"],
    )
    assert split(observe_state(few.state, 0))["counts"].tolist() == [2, -1, 1, 1, 1]
    assert len(parse_cards("GJ " + "8c " * 4 + "9c 9d Tc Td Jc Jd")) == 11
