"""Random actions a second on one core: of the compiled simulator, of the environments, and of other projects'
card games where they are installed.

What counts is a player's action; deals and everything else take their time and count for nothing. Whole
hands: the policy `random` inside the compiled loop. Single actions: a Python loop that asks for the legal
actions, draws one, and does it, the same for all engines. Steps of an environment: one action with the
observation that follows, without drawing it.

Time is the process's own, so a busy machine disturbs it less; what else runs on the core still slows all of
them. Single steps are timed by the clock, and the median of short runs is taken.
"""

import random
import time
from collections.abc import Sequence

import numpy as np

from baohuang import PRESETS, RuleSet
from baohuang.arena import ArenaBatch, ArenaState, Results, simulate, warm_up
from baohuang.envs import BaohuangVector, baohuang_v0
from benchmarks import peers
from benchmarks.figures import Figure, figure

RUNS = 5
BATCH = 10_000
SIZES = (1, 10, 100, 1000, BATCH)
GOAL = 10_000_000
SINGLE_GOAL = 800_000
TIMES_OPENSPIEL = 20
TIMES_RLCARD = 10_000
TIMES_STEP = 20
SIMPLE = PRESETS["lianzhong-simple"]


def measure() -> list[Figure]:
    """Whole hands and single actions of each preset, by batch size, memory, and beside peers with ratios."""
    warm_up()
    figures = []
    for name, rules in PRESETS.items():
        simulate(rules, 10, seed=0)  # compiles the tables
        runs = [_of_whole_hands(rules, seed) for seed in range(RUNS)]
        figures.append(figure(f"simulator, {name}", "actions/s", runs, GOAL))
    for name, rules in PRESETS.items():
        state = ArenaState(rules)
        _of_single_actions(state, 20)
        runs = [_of_single_actions(state, 300) for _ in range(RUNS)]
        figures.append(figure(f"single actions, {name}", "actions/s", runs, SINGLE_GOAL))
    figures += _by_batch_size()
    figures += _memory()
    return figures + _beside_peers()


def _of_whole_hands(rules: RuleSet, seed: int, games: int = BATCH, calls: int = 1) -> float:
    actions = 0
    begin = time.process_time()
    for call in range(calls):
        actions += int(simulate(rules, games, seed=seed, first_game=call * games).actions.sum())
    return actions / (time.process_time() - begin)


def _of_single_actions(state: ArenaState, hands: int) -> float:
    draw = random.Random(hands).random
    actions = 0
    begin = time.process_time()
    for seed in range(hands):
        state.reset(seed)
        while not state.is_over:
            legal = state.legal()
            state.apply(legal[int(draw() * len(legal))])
            actions += 1
    return actions / (time.process_time() - begin)


def _by_batch_size() -> list[Figure]:
    """Whole hands a call, and one action in each game a call, without observations and with them."""
    figures = []
    for games in SIZES:
        steps = max(20, min(1000, 300_000 // games))
        measured = {
            "whole hands": [_of_whole_hands(SIMPLE, seed, games, max(1, 1000 // games)) for seed in range(3)],
            "one action in each": [_of_batches(games, steps) for _ in range(3)],
            "the same with observations": [_of_vectors(games, steps) for _ in range(3)],
        }
        for series, runs in measured.items():
            named = figure(f"{games:,} games at once, {series}", "actions/s", runs)
            figures.append(named._replace(series=series, at=games))
    return sorted(figures, key=lambda each: list(measured).index(str(each.series)))


def _drawn(ids: np.ndarray, offsets: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """A random one of each game's legal actions."""
    counts = np.diff(offsets)
    return np.append(ids, 0)[offsets[:-1] + (draw.random(len(counts)) * counts).astype(np.int64)]


def _of_batches(games: int, steps: int) -> float:
    batch = ArenaBatch(SIMPLE, games)
    batch.reset(1)
    draw = np.random.default_rng(1)
    actions = 0
    begin = time.process_time()
    for _ in range(steps):
        ids, offsets = batch.legal()
        actions += int((~batch.is_over).sum())
        batch.step(_drawn(ids, offsets, draw))
        if batch.is_over.all():
            batch.reset(1)
    return actions / (time.process_time() - begin)


def _of_vectors(games: int, steps: int) -> float:
    vector = BaohuangVector(SIMPLE, games)
    turns = vector.reset(1)
    draw = np.random.default_rng(1)
    begin = time.process_time()
    for _ in range(steps):
        turns = vector.step(_drawn(turns.ids, turns.offsets, draw))
    return games * steps / (time.process_time() - begin)


def _of_pettingzoo(hands: int) -> float:
    """`step` and `last`, which together give what RLCard's `step` gives."""
    env = baohuang_v0.env(SIMPLE)
    draw = random.Random(hands).random
    actions, stepping = 0, 0.0
    for seed in range(hands):
        env.reset(seed=seed)
        observation, _reward, is_over, *_ = env.last()
        while not is_over:
            legal = np.flatnonzero(observation["action_mask"])
            action = int(legal[int(draw() * len(legal))])
            begin = time.perf_counter()
            env.step(action)
            observation, _reward, is_over, *_ = env.last()
            stepping += time.perf_counter() - begin
            actions += 1
    return actions / stepping


def _memory() -> list[Figure]:
    """Bytes of what `simulate` gives back, and of the states of a batch."""
    results: Results = simulate(SIMPLE, BATCH, seed=1)
    owners = [array if array.base is None else array.base for array in vars(results).values()]
    kept = sum({id(owner): owner.nbytes for owner in owners}.values())
    batch = ArenaBatch(SIMPLE, BATCH)
    return [
        figure(f"results of {BATCH:,} games", "kB", [kept / 1000]),
        figure(f"states of {BATCH:,} games side by side", "kB", [batch.rows.nbytes / 1000]),
        figure(f"observations of {BATCH:,} games", "kB", [batch.observe().nbytes / 1000]),
    ]


def _beside_peers() -> list[Figure]:
    """All of them in turns, so that what else the machine does disturbs all alike."""
    state = ArenaState(SIMPLE)
    whole, single, stepped = [], [], []
    playing, dealing_too = [], []
    run, training, peers_step = [], [], []
    for seed in range(RUNS):
        whole.append(_of_whole_hands(SIMPLE, seed))
        single.append(_of_single_actions(state, 300))
        stepped.append(_of_pettingzoo(10))
        if peers.has_openspiel():
            rates = peers.of_openspiel(300)
            playing.append(rates.playing)
            dealing_too.append(rates.dealing_too)
        if peers.has_rlcard():
            run.append(peers.of_rlcard_run(6, is_training=False))
            training.append(peers.of_rlcard_run(12, is_training=True))
            peers_step.append(peers.of_rlcard_step(12))
    figures = [figure("PettingZoo, step and last", "actions/s", stepped)]
    if peers.has_openspiel():
        figures += [
            figure("OpenSpiel dou_dizhu without deals", "actions/s", playing),
            figure("OpenSpiel dou_dizhu", "actions/s", dealing_too),
            _ratio("simulator / OpenSpiel without deals", whole, playing, TIMES_OPENSPIEL),
            _ratio("simulator / OpenSpiel", whole, dealing_too, TIMES_OPENSPIEL),
            _ratio("single actions / OpenSpiel without deals", single, playing, 1),
            _ratio("single actions / OpenSpiel", single, dealing_too, 1),
        ]
    if peers.has_rlcard():
        figures += [
            figure("RLCard doudizhu, env.run", "actions/s", run),
            figure("RLCard doudizhu, env.run(is_training=True)", "actions/s", training),
            figure("RLCard doudizhu, env.step", "actions/s", peers_step),
            _ratio("simulator / RLCard env.run", whole, run, TIMES_RLCARD),
            _ratio("simulator / RLCard env.run(is_training=True)", whole, training),
            _ratio("simulator / RLCard env.step", whole, peers_step),
            _ratio("PettingZoo step / RLCard env.step", stepped, peers_step, TIMES_STEP),
            _ratio("single actions / RLCard env.step", single, peers_step),
        ]
    return figures


def _ratio(name: str, ours: Sequence[float], theirs: Sequence[float], goal: float | None = None) -> Figure:
    """How many times as fast, run by run."""
    return figure(name, "times", [own / other for own, other in zip(ours, theirs, strict=True)], goal)
