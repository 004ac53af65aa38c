"""Other projects' card games, where they are installed: `pip install baohuang[bench]` brings them.

OpenSpiel (`open_spiel`) and RLCard (`rlcard`) play Dou Dizhu with random players. What counts is a player's
action. OpenSpiel deals by 52 chance actions driven from Python, so there are two rates: without the time of
the deal, and with it. RLCard's figures are those of its own loop, `env.run`, with its own random agents, as
its examples call it and as they train; and of `env.step` alone.
"""

import importlib
import importlib.util
import random
import time
from typing import Any, NamedTuple


class OpenSpielRates(NamedTuple):
    playing: float
    dealing_too: float


def has_openspiel() -> bool:
    return importlib.util.find_spec("pyspiel") is not None


def has_rlcard() -> bool:
    return importlib.util.find_spec("rlcard") is not None


def of_openspiel(hands: int) -> OpenSpielRates:
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
    return OpenSpielRates(actions / playing, actions / (playing + dealing))


def _doudizhu() -> Any:
    return importlib.import_module("rlcard").make("doudizhu", config={"seed": 1})


def of_rlcard_run(hands: int, *, is_training: bool) -> float:
    """`env.run` with `RandomAgent`s; RLCard counts its steps itself."""
    environment = _doudizhu()
    agent: Any = importlib.import_module("rlcard.agents").RandomAgent
    environment.set_agents(
        [agent(num_actions=environment.num_actions) for _ in range(environment.num_players)]
    )
    begin = time.process_time()
    for _ in range(hands):
        environment.run(is_training=is_training)
    return float(environment.timestep / (time.process_time() - begin))


def of_rlcard_step(hands: int) -> float:
    """`env.step`, without the time of deals and of drawing an action."""
    environment = _doudizhu()
    draw = random.Random(hands).random
    stepping = 0.0
    for _ in range(hands):
        state, _player = environment.reset()
        while not environment.is_over():
            legal = list(state["legal_actions"])
            action = legal[int(draw() * len(legal))]
            begin = time.perf_counter()
            state, _player = environment.step(action)
            stepping += time.perf_counter() - begin
    return float(environment.timestep / stepping)
