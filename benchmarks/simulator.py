"""Random actions a second of the compiled simulator on one core, and of other card games' environments if
installed.

What counts is a player's action; deals and everything else take their time and count for nothing. Whole
hands: the policy `random` inside the compiled loop. Single actions: a Python loop that asks for the legal
actions, draws one, and does it, the same for all engines. OpenSpiel (`open_spiel`) and RLCard (`rlcard`) play
Dou Dizhu: `pip install baohuang[bench]` brings them. OpenSpiel deals by 52 chance actions driven from Python,
so its figure is given with the deal and without.

Time is the process's own, so a busy machine disturbs it less; what else runs on the core still slows all of
them.
"""

import importlib
import importlib.util
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from baohuang import PRESETS, RuleSet
from baohuang.arena import ArenaBatch, ArenaState, Results, simulate, warm_up
from benchmarks.figures import Figure, figure

RUNS = 5
BATCH = 10_000
GOAL = 10_000_000
SINGLE_GOAL = 800_000
TIMES_OPENSPIEL = 20
TIMES_RLCARD = 10_000
SIMPLE = PRESETS["lianzhong-simple"]


def measure() -> list[Figure]:
    """Whole hands and single actions of each preset, peers with ratios, and the memory of a batch."""
    warm_up()
    figures = []
    for name, rules in PRESETS.items():
        simulate(rules, 10, seed=0)  # compiles the tables
        whole = [_of_whole_hands(rules, seed) for seed in range(RUNS)]
        figures.append(figure(f"simulator, {name}", "actions/s", whole, GOAL))
    for name, rules in PRESETS.items():
        state = ArenaState(rules)
        _of_single_actions(state, 20)
        single = [_of_single_actions(state, 300) for _ in range(RUNS)]
        figures.append(figure(f"single actions, {name}", "actions/s", single, SINGLE_GOAL))
    for games in (1, 100, BATCH):
        runs = [_of_batches(games) for _ in range(3)]
        figures.append(figure(f"batch of {games:,} stepped together", "actions/s", runs))
    figures += _memory()
    whole = [_of_whole_hands(SIMPLE, seed) for seed in range(RUNS)]
    state = ArenaState(SIMPLE)
    single = [_of_single_actions(state, 300) for _ in range(RUNS)]
    return figures + _peers(whole, single)


def _of_whole_hands(rules: RuleSet, seed: int) -> float:
    begin = time.process_time()
    results = simulate(rules, BATCH, seed=seed)
    return int(results.actions.sum()) / (time.process_time() - begin)


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


def _of_batches(games: int) -> float:
    """A hundred random actions in each of many games, one call for all of them at a time."""
    batch = ArenaBatch(SIMPLE, games)
    batch.reset(1)
    draw = np.random.default_rng(1)
    actions = 0
    begin = time.process_time()
    for _ in range(100):
        ids, offsets = batch.legal()
        counts = np.diff(offsets)
        chosen = np.append(ids, 0)[offsets[:-1] + (draw.random(games) * counts).astype(np.int64)]
        actions += int((counts > 0).sum())
        batch.step(chosen)
    return actions / (time.process_time() - begin)


def _memory() -> list[Figure]:
    """Bytes of what `simulate` gives back, and of the states of a batch."""
    results: Results = simulate(SIMPLE, BATCH, seed=1)
    owners = [array if array.base is None else array.base for array in vars(results).values()]
    kept = sum({id(owner): owner.nbytes for owner in owners}.values())
    rows = ArenaBatch(SIMPLE, BATCH).rows.nbytes
    return [
        figure(f"results of {BATCH:,} games", "kB", [kept / 1000]),
        figure(f"states of {BATCH:,} games side by side", "kB", [rows / 1000]),
    ]


def _peers(whole: list[float], single: list[float]) -> list[Figure]:
    figures = []
    if importlib.util.find_spec("pyspiel"):
        runs = [_of_openspiel(300) for _ in range(RUNS)]
        playing, dealing_too = [run[0] for run in runs], [run[1] for run in runs]
        figures += [
            figure("OpenSpiel dou_dizhu without deals", "actions/s", playing),
            figure("OpenSpiel dou_dizhu", "actions/s", dealing_too),
            _ratio("simulator / OpenSpiel without deals", whole, playing, TIMES_OPENSPIEL),
            _ratio("simulator / OpenSpiel", whole, dealing_too, TIMES_OPENSPIEL),
            _ratio("single actions / OpenSpiel without deals", single, playing, 1),
            _ratio("single actions / OpenSpiel", single, dealing_too, 1),
        ]
    if importlib.util.find_spec("rlcard"):
        runs_of_rlcard = [_of_rlcard(4) for _ in range(3)]
        figures += [
            figure("RLCard doudizhu, env.step", "actions/s", runs_of_rlcard),
            _ratio("simulator / RLCard", whole, runs_of_rlcard, TIMES_RLCARD),
            _ratio("single actions / RLCard", single, runs_of_rlcard, 1),
        ]
    return figures


def _ratio(name: str, ours: list[float], theirs: list[float], goal: float) -> Figure:
    """How many times as fast, run by run; the slowest of ours against the fastest of theirs is the least."""
    own, other = figure("", "", ours), figure("", "", theirs)
    return Figure(
        name, "times", own.median / other.median, own.least / other.most, own.most / other.least, goal
    )


def _of_openspiel(hands: int) -> tuple[float, float]:
    """Actions a second while playing, and with the time of the deals."""
    game: Any = importlib.import_module("pyspiel").load_game("dou_dizhu")
    draw = random.Random(hands).random
    actions = 0
    playing = dealing = 0.0
    for _ in range(hands):
        begin = time.process_time()
        state = game.new_initial_state()
        while state.is_chance_node():
            outcomes = state.chance_outcomes()
            state.apply_action(outcomes[int(draw() * len(outcomes))][0])
        dealt = time.process_time()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            actions += 1
        playing += time.process_time() - dealt
        dealing += dealt - begin
    return actions / playing, actions / (playing + dealing)


def _of_rlcard(hands: int) -> float:
    make: Callable[..., Any] = importlib.import_module("rlcard").make
    environment = make("doudizhu", config={"seed": 1})
    draw = random.Random(hands).random
    actions = 0
    begin = time.process_time()
    for _ in range(hands):
        state, _player = environment.reset()
        while not environment.is_over():
            legal = list(state["legal_actions"])
            state, _player = environment.step(legal[int(draw() * len(legal))])
            actions += 1
    return actions / (time.process_time() - begin)
