"""The environment for PettingZoo: PettingZoo's own tests, and what they do not look at."""

import pickle
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test

from baohuang import PRESETS, Due, DueKind, RuleError, RuleSet, RuleSetError
from baohuang.arena import ArenaState
from baohuang.arena.kernels import layout
from baohuang.envs import PLANES, Parts, baohuang_v0, parts, split
from baohuang.rules.shuffle import deal

EVERY_KIND = [(preset, "ids") for preset in PRESETS if preset != "shandong-folk"] + [
    (preset, "parts") for preset in PRESETS
]
"""What PettingZoo's tests run on; one with 442,243 ids costs them minutes."""

# PettingZoo knows by name which environments observe more than an array; and who is not to act has no
# legal action here, which its test takes for an oversight.
advice = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


def decorated(test: Callable[..., None]) -> Callable[..., None]:
    for mark in advice:
        test = mark(test)
    return test


def play(env: baohuang_v0.raw_env, seed: int = 1) -> Iterator[tuple[str, dict[str, np.ndarray], int]]:
    """Plays a random hand; before each step agent, observation and action."""
    draw = random.Random(seed)
    env.reset(seed=seed)
    while not any(env.terminations.values()):
        agent = env.agent_selection
        observation = env.observe(agent)
        action = draw.choice(np.flatnonzero(observation["action_mask"]).tolist())
        yield agent, observation, action
        env.step(action)


@decorated
@pytest.mark.parametrize(("preset", "actions"), EVERY_KIND)
def test_the_api_is_as_pettingzoo_tests_it(
    preset: str, actions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api_test(baohuang_v0.env(rules=preset, actions=actions), num_cycles=100)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize(("preset", "actions"), EVERY_KIND)
def test_equal_seeds_give_equal_hands_as_pettingzoo_tests_it(preset: str, actions: str) -> None:
    seed_test(lambda: baohuang_v0.env(rules=preset, actions=actions), num_cycles=60)


def test_it_renders_as_pettingzoo_tests_it(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(baohuang_v0.env)
    assert "lianzhong-simple, " in capsys.readouterr().out


def test_it_runs_pettingzoos_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(baohuang_v0.env())
    assert "Finished performance benchmark" in capsys.readouterr().out


@pytest.mark.parametrize("preset", PRESETS)
def test_only_the_agent_to_act_has_legal_actions(preset: str) -> None:
    env = baohuang_v0.env(preset)
    for step, (agent, observation, _) in enumerate(play(env)):
        assert np.flatnonzero(observation["action_mask"]).tolist() == sorted(env.game.legal().tolist())
        others = [other for other in env.agents if other != agent]
        assert step % 20 or not any(env.observe(other)["action_mask"].any() for other in others)
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)


@pytest.mark.parametrize("preset", ["jiaodong", "shandong-folk"])
def test_an_answer_is_not_seen_before_all_have_answered(preset: str) -> None:
    """R5.0: claims, declarations, counters and returned cards, whatever those before have said."""
    env = baohuang_v0.env(preset, actions="parts")
    twins = [baohuang_v0.env(env.rules, actions="parts") for _ in range(2)]
    steps = set()
    for seed in range(30):
        options = (
            {"dues": [Due(DueKind.TRIBUTE, 0, 3), Due(DueKind.TRIBUTE, 1, 4)]} if env.rules.tribute else {}
        )
        draw, done = random.Random(seed), []
        env.reset(seed=seed, options=options)
        while env.game.row[layout.STEP] < layout.STEP_PLAY:
            legal = env.game.legal().tolist()
            if len(env.game.awaited) > 1 and len(legal) > 1:
                for twin, answer in zip(twins, (legal[0], legal[-1]), strict=True):
                    twin.reset(seed=seed, options=options)
                    for action in (*done, answer):
                        twin.step(action)
                seen = [[twin.observe(agent) for agent in twin.agents] for twin in twins]
                for one, other in zip(*seen, strict=True):
                    assert all((one[key] == other[key]).all() for key in one)
                steps.add(int(env.game.row[layout.STEP]))
            claims = env.game.row[layout.STEP] == layout.STEP_CLAIM
            done.append(legal[-1] if claims and draw.random() < 0.9 else draw.choice(legal))
            env.step(done[-1])
    first = layout.STEP_TRIBUTE if env.rules.tribute else layout.STEP_CLAIM
    assert first in steps
    assert preset != "jiaodong" or {layout.STEP_DECLARE, layout.STEP_COUNTER, layout.STEP_RECOUNTER} <= steps


def test_it_plays_the_hands_of_the_simulator() -> None:
    env, state = baohuang_v0.env("jiaodong"), ArenaState(RuleSet.preset("jiaodong"))
    state.reset(1)
    for agent, _, action in play(env):
        assert agent == f"player_{state.to_act}"
        state.apply(action)
    assert tuple(env.rewards[agent] for agent in env.possible_agents) == state.scores()
    assert [env.infos[agent]["place"] for agent in env.agents] == list(state.places())
    assert tuple(env.infos[agent]["role"] for agent in env.agents) == state.roles()


def test_a_reset_without_a_seed_goes_on_to_the_next_hand() -> None:
    env, state = baohuang_v0.env(), ArenaState(RuleSet.preset("lianzhong-simple"))
    env.reset(seed=5)
    for game in (0, 1, 2):
        state.reset(5, game=game)
        assert env.game.hand(0) == state.hand(0)
        env.reset()
    env.reset(seed=5)
    state.reset(5)
    assert env.game.hand(0) == state.hand(0)
    assert baohuang_v0.env()._seed != baohuang_v0.env()._seed, "unseeded ones differ"


def test_options_of_a_reset_say_how_the_hand_begins() -> None:
    env = baohuang_v0.env("shandong-folk", actions="parts")
    hands = deal(env.rules, 3)
    env.reset(seed=1, options={"first_drawer": 2, "deals": [hands], "dues": [Due(DueKind.TRIBUTE, 0, 4)]})
    assert env.agent_selection == "player_4", "who received tribute gives a card back (R10.6)"
    assert len(env.game.hand(4)) == len(hands[4]) + 1
    with pytest.raises(RuleSetError, match="whole deck"):
        env.reset(options={"deals": [[*hands[:4], hands[4][1:]]]})
    with pytest.raises(RuleError, match="seed"):
        env.reset(seed=-1)


@pytest.mark.parametrize("actions", ["ids", "parts"])
def test_an_illegal_action_is_refused_and_changes_nothing(actions: str) -> None:
    env = baohuang_v0.env(actions=actions)
    env.reset(seed=1)
    before = env.observe(env.agent_selection)
    for action in (-1, 0, 147, 10**6, None):
        with pytest.raises(RuleError):
            env.step(action)
    after = env.observe(env.agent_selection)
    assert all((before[key] == after[key]).all() for key in before)


def test_before_the_first_reset_nothing_can_be_done() -> None:
    with pytest.raises(RuleError, match="call reset"):
        baohuang_v0.env().step(0)


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(RuleSetError, match="actions are"):
        baohuang_v0.env(actions="words")
    with pytest.raises(RuleSetError, match="render mode"):
        baohuang_v0.env(render_mode="film")
    with pytest.raises(RuleSetError, match="no rule set"):
        baohuang_v0.env("bridge")
    with pytest.raises(RuleSetError, match="grab_solo"):
        baohuang_v0.env("jiaodong", grab_solo=False)


def test_it_can_be_sent_to_another_process() -> None:
    env = baohuang_v0.env("lianzhong-classic", actions="parts", kaopai=True)
    copy = pickle.loads(pickle.dumps(env))  # noqa: S301 - our own
    assert copy.rules == env.rules
    for one, other in zip(play(env), play(copy), strict=True):
        assert one[0] == other[0]
        assert (one[1]["observation"] == other[1]["observation"]).all()


def test_the_state_holds_all_hands_and_no_deals_to_come() -> None:
    env = baohuang_v0.env()
    env.reset(seed=1)
    first = env.state()
    assert env.state_space.contains(first)
    env.reset(seed=1, options={"deals": [deal(env.rules, 1)]})
    other = env.state()
    env.reset(seed=2, options={"deals": [deal(env.rules, 1)]})
    assert (env.state() == other).all(), "the seed of redeals does not show"
    assert not (first == other).all()


# ------------------------------------------------------------------------------------------------------ parts
@pytest.mark.parametrize("preset", PRESETS)
def test_parts_lead_to_every_legal_action_and_to_no_other(preset: str) -> None:
    state = ArenaState(
        RuleSet.preset(preset, **({"called_card_is_top": True} if "classic" in preset else {}))
    )
    draw = random.Random(1)

    def reached(chosen: list[int]) -> list[int]:
        choice = Parts(state.space, state.legal())
        for part in chosen:
            if (number := choice.choose(part)) is not None:
                return [number]
        return [number for part in choice.options().tolist() for number in reached([*chosen, part])]

    for game in range(3):
        state.reset(1, game=game)
        while not state.is_over:
            legal = state.legal().tolist()
            if len(legal) < 100 or draw.random() < 0.2:
                assert sorted(reached([])) == sorted(legal)
            state.apply(draw.choice(legal))


def test_what_was_chosen_before_is_seen() -> None:
    env = baohuang_v0.env("shandong-folk", actions="parts")
    several = 0
    chosen: list[int] = []
    for _, observation, action in play(env):
        planes = split(observation["observation"], parts.PART_PLANES)
        asked = np.flatnonzero(planes["asked"]).tolist()
        assert observation["action_mask"].shape == (parts.SIZE,)
        if asked:
            several += 1
            assert parts.RANK + np.flatnonzero(planes["chosen_rank"])[0] == chosen[0]
            assert set(chosen[1:]) - {parts.NUMBER} <= {parts.NUMBER + int(n) for n in planes["chosen"]}
            chosen.append(action)
        else:
            chosen = [action]
            assert not planes["chosen"].any()
            assert not planes["chosen_rank"].any()
    assert several > 20


def test_parts_have_names() -> None:
    state = ArenaState(RuleSet.preset("jiaodong"))
    state.reset(1)
    choice = Parts(state.space, state.legal())
    names = [
        choice.name(part) for part in (0, 10, parts.RANK, parts.JOKERS_ALONE, parts.NUMBER, parts.SIZE - 1)
    ]
    assert names == ["pass", "call 3c", "play 3", "play jokers", "0", "16"]


def test_planes_of_parts_follow_those_of_all() -> None:
    assert parts.PART_PLANES[: len(PLANES)] == PLANES
    assert baohuang_v0.env(actions="parts").planes == parts.PART_PLANES
