"""Baohuang for PettingZoo: `env(rules="jiaodong")` plays one hand, one decision at a time (AEC).

Agents are `player_0` … `player_4`, by seat. In steps that several answer at once (R5.0) they answer in the
order of their seats, and no observation shows an answer before all have given theirs. The hand's scores are
the rewards of its last action; there are none before. docs/research.md has the observations and actions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from baohuang.arena.jit import entry_point
from baohuang.arena.kernels import layout, observe
from baohuang.arena.state import ArenaState
from baohuang.envs import parts
from baohuang.envs.observations import bounds
from baohuang.envs.parts import Parts
from baohuang.envs.render import draw_game, write_game
from baohuang.rules.errors import Reason, RuleError, RuleSetError
from baohuang.rules.ruleset import RuleSet

AGENTS: Final = tuple(f"player_{seat}" for seat in range(5))
SEAT_OF: Final = {agent: seat for seat, agent in enumerate(AGENTS)}

Observation = dict[str, NDArray[np.int8]]


class raw_env(AECEnv[str, Any, Any]):  # noqa: N801 - PettingZoo's name for it
    """The environment. Illegal actions and calls before `reset` it refuses itself, without a wrapper.

    `rules` is a preset's name, with options as in `RuleSet.preset`, or a `RuleSet`. `actions` is `"ids"`, one
    number for each action (`ActionSpace`), or `"parts"`, several small numbers one after another
    (`baohuang.envs.parts`), for which the same agent is asked again.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as PettingZoo declares it
        "name": "baohuang_v0",
        "render_modes": ["human", "ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: RuleSet | str = "lianzhong-simple",
        *,
        actions: str = "ids",
        render_mode: str | None = None,
        **options: object,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if actions not in ("ids", "parts"):
            raise RuleSetError(Reason.UNKNOWN_OPTION, f"actions are 'ids' or 'parts', not {actions!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise RuleSetError(Reason.UNKNOWN_OPTION, f"no render mode {render_mode!r}")
        self.rules: Final = (
            RuleSet.preset(rules, **options) if isinstance(rules, str) else rules.replace(**options)
        )
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.game: Final = ArenaState(self.rules)
        """The hand itself, with everybody's cards."""
        self._in_parts: Final = actions == "parts"
        self._parts: Parts | None = None
        self.planes: Final = parts.PART_PLANES if self._in_parts else observe.PLANES
        self._played: Final = np.zeros(observe.PLAYED, np.int8)
        self._observe, self._note = _kernels()
        self._seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._number = -1
        self._size: Final = parts.SIZE if self._in_parts else self.game.space.size
        least, most = bounds(self.planes)
        self._width: Final = len(least)
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(least, most, dtype=np.int8),
                    "action_mask": spaces.Box(0, 1, (self._size,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(self._size) for agent in AGENTS}
        bound = np.iinfo(np.int16)
        self.state_space: Final = spaces.Box(bound.min, bound.max, (layout.ROW,), np.int16)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """A new hand: the first of a seed from 0 to 2**64 − 1, or without one the next of the same seed.

        Options are `first_drawer`, `dues` and `deals`. Raises `RuleError` or `RuleSetError` as
        `ArenaState.reset`, which takes the same.
        """
        if seed is not None:
            self._seed, self._number = seed, -1
        wanted = options or {}
        self.game.reset(
            self._seed,
            game=self._number + 1,
            first_drawer=wanted.get("first_drawer", 0),
            dues=wanted.get("dues", ()),
            deals=wanted.get("deals", ()),
        )
        self._number += 1
        self._played[:] = 0
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._ask()

    def _ask(self) -> None:
        self.agent_selection = AGENTS[self.game.to_act]
        if self._in_parts:
            self._parts = Parts(self.game.space, self.game.legal())

    def step(self, action: int | None) -> None:
        """The action of `agent_selection`; None if the hand is over.

        Raises `RuleError` for an illegal one, and changes nothing then.
        """
        if not self.agents:
            raise RuleError(Reason.NOT_STARTED, "no hand is being played: call reset")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = -1 if action is None else int(action)
        if self._parts is not None:
            settled = self._parts.choose(number)
            if settled is None:
                self._show()
                return
            number = settled
        self.game.apply(number)
        self._note(self.game.tables, self._played, SEAT_OF[agent], number)
        if self.game.is_over:
            self._end()
        else:
            self._ask()
        self._show()

    def _end(self) -> None:
        self._parts = None
        roles, places = self.game.roles(), self.game.places()
        for seat, agent in enumerate(AGENTS):
            self.rewards[agent] = self.game.scores()[seat]
            self.terminations[agent] = True
            self.infos[agent] = {"place": places[seat], "role": roles[seat] if roles else None}
        self._accumulate_rewards()
        self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """Of `agent` what it may know (`planes`) and what it may do; nothing unless it is its turn."""
        observation = np.empty(self._width, np.int8)
        self._observe(
            self.game.row, self.game.tables, self._played, SEAT_OF[agent], observation[: observe.SIZE]
        )
        mask = np.zeros(self._size, np.int8)
        is_asked = not self.game.is_over and agent == self.agent_selection
        if self._in_parts:
            observation[observe.SIZE :] = 0
            if is_asked and self._parts is not None:
                self._parts.observe(observation[observe.SIZE :])
                mask[self._parts.options()] = 1
        elif is_asked:
            mask[self.game.legal()] = 1
        return {"observation": observation, "action_mask": mask}

    def state(self) -> NDArray[np.int16]:
        """The whole hand with everybody's cards, for a critic of all agents and for no agent.

        It is the game's row (`baohuang.arena.kernels.layout`), without the key of the deals to come.
        """
        row = self.game.row.copy()
        row[layout.KEY : layout.KEY + 4] = 0
        return row

    def render(self) -> str | NDArray[np.uint8] | None:
        """The hand with everybody's cards: printed, as text, or as an image, by `render_mode`."""
        if self.render_mode == "rgb_array":
            return draw_game(self.game)
        text = write_game(self.game)
        if self.render_mode == "ansi":
            return text
        if self.render_mode == "human":
            sys.stdout.write(f"{text}\n")
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Nothing is held that must be let go."""

    def __reduce__(self) -> tuple[Callable[[], raw_env], tuple[()]]:
        """A copy by pickle, for another process, stands before its first `reset`."""
        actions = "parts" if self._in_parts else "ids"
        return partial(raw_env, self.rules, actions=actions, render_mode=self.render_mode), ()


env = raw_env
"""The same: there is nothing to wrap."""


@lru_cache(maxsize=1)
def _kernels() -> tuple[Callable[..., Any], ...]:
    """`observe_game` and `note_in_game` without dispatch."""
    tables, counts = "Array(int32, 1, 'C', readonly=True)", "int8[:, ::1]"
    return (
        entry_point(observe.observe_game, f"(int16[::1], {tables}, {counts}, int64, int8[::1])"),
        entry_point(observe.note_in_game, f"({tables}, {counts}, int64, int64)"),
    )
