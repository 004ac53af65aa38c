"""The presets and options that there are, read from the rules themselves."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_type_hints

from baohuang import PRESETS, RuleSet
from baohuang.bots import BOT_NAMES
from services.lobby.messages.common import OPTION_NAMES
from services.lobby.messages.tables import Option, Preset, RulesCatalogue


@cache
def rules_catalogue() -> RulesCatalogue:
    """Presets with all their values, options with their choices, and the built-in bots."""
    hints = get_type_hints(RuleSet)
    return RulesCatalogue(
        presets=[
            Preset(preset.name, {name: _plain(getattr(preset, name)) for name in OPTION_NAMES})
            for preset in PRESETS.values()
        ],
        options=[Option(name, _choices(hints[name])) for name in OPTION_NAMES],
        bots=list(BOT_NAMES),
    )


def _plain(value: Any) -> bool | int | str | None:
    return str(value) if isinstance(value, StrEnum) else value


def _choices(hint: Any) -> list[str] | None:
    kind = (get_args(hint) or (hint,))[0]
    if kind is bool:
        return ["true", "false"]
    if issubclass(kind, StrEnum):
        return [str(choice) for choice in kind]
    return None
