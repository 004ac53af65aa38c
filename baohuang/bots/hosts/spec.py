"""From the name of a bot to the bot: `greedy`, `mymodule:Clever`, `clever.py:Clever`, `grpc://host:port`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from baohuang.bots.bot import Bot, BotError
from baohuang.bots.hosts.host import Host
from baohuang.bots.registry import BOT_NAMES, make_bot
from baohuang.rules.errors import Reason

Maker = Callable[[int], Bot]
"""Makes a bot for one game from the seed of its chances."""

_SERVICES = ("grpc://", "grpcs://")


def open_host(spec: str, *, shows_output: bool = False) -> Host:
    """A host for a bot; whether the bot works shows at its start.

    Built-in bots run in this process, others in one of their own, whose output is dropped unless
    `shows_output`. Raises `BotError` for what cannot be the name of a bot.
    """
    if is_built_in(spec):
        from baohuang.bots.hosts.direct import DirectHost

        return DirectHost(spec, load_maker(spec))
    if spec.startswith(_SERVICES):
        from baohuang.bots.hosts.service import ServiceHost

        return ServiceHost(spec)
    place, _, name = spec.partition(":")
    if not place or not name.isidentifier():
        others = "or MODULE:NAME, FILE.py:NAME, grpc://HOST:PORT"
        raise _unknown(spec, f"no bot {spec[:80]!r}; there are {', '.join(BOT_NAMES)}, {others}")
    from baohuang.bots.hosts.process import ProcessHost

    return ProcessHost(spec, shows_output=shows_output)


def is_built_in(spec: str) -> bool:
    """Whether it names a bot of this library, `NAME` or `NAME:BUDGET`."""
    return spec.partition(":")[0] in BOT_NAMES


def load_maker(spec: str) -> Maker:
    """What makes the bots of a spec, its module imported into this process.

    The name after the colon is a class or function, called for each game; it is given `seed` if it has a
    parameter of that name. Raises `BotError`, or whatever the module raises.
    """
    if is_built_in(spec):
        return lambda seed: make_bot(spec, seed=seed)
    place, _, name = spec.partition(":")
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(spec, place)
    try:
        make: Any = getattr(module, name)
    except AttributeError:
        raise _unknown(spec, f"{place} has no {name}") from None
    if not callable(make):
        raise _unknown(spec, f"{name} in {place} is neither a class nor a function that makes a bot")
    if _takes_seed(make):
        return lambda seed: make(seed=seed)
    return lambda _seed: make()


def _import_module(spec: str, name: str) -> object:
    # As `python -m` does: modules of the folder in which the author stands are found.
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # one that the module itself wants
        raise _unknown(spec, f"there is no module {name}") from error


def _import_file(path: Path) -> object:
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None or not path.is_file():
        raise _unknown(str(path), f"there is no file {path}")
    sys.path.insert(0, str(path.resolve().parent))
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    return module


def _takes_seed(make: Callable[..., Any]) -> bool:
    try:
        return "seed" in inspect.signature(make).parameters
    except (TypeError, ValueError):
        return False


def _unknown(spec: str, message: str) -> BotError:
    return BotError(Reason.UNKNOWN_OPTION, message, bot=spec)
