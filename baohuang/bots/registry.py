"""The built-in bots by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from baohuang.bots.bot import Bot, BotError
from baohuang.bots.greedy import GreedyBot
from baohuang.bots.random import RandomBot
from baohuang.rules.errors import Reason

_MAKERS: Final[dict[str, Callable[[int], Bot]]] = {
    "random": RandomBot,
    "greedy": lambda _seed: GreedyBot(),
}
BOT_NAMES: Final = tuple(_MAKERS)
"""The names that `make_bot` knows, weakest first."""


def make_bot(name: str, *, seed: int = 0) -> Bot:
    """A built-in bot; `seed` makes its chances repeatable. Raises `BotError` for an unknown name."""
    maker = _MAKERS.get(name)
    if maker is None:
        raise BotError(Reason.UNKNOWN_BOT, f"no bot {name!r}; there are {', '.join(BOT_NAMES)}", bot=name)
    return maker(seed)
