"""Baohuang (保皇): the five-player Shandong card game as a library.

>>> import baohuang
>>> rules = baohuang.RuleSet.preset("lianzhong-simple", kaopai=True)
>>> rules.beats("BJ BJ 8s 8h", "BJ 7s 7h")
True
"""

import typing

from baohuang.game import Game
from baohuang.record import Record
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import Card, format_cards, parse_cards
from baohuang.rules.errors import BaohuangError, CardError, Reason, RecordError, RuleError, RuleSetError
from baohuang.rules.outcome import Due, DueKind, Outcome, Termination
from baohuang.rules.roles import Opening, Role, Solo
from baohuang.rules.ruleset import PRESETS, RuleSet
from baohuang.rules.state import View

__all__ = [
    "PRESETS",
    "Action",
    "ActionKind",
    "BaohuangError",
    "Card",
    "CardError",
    "Due",
    "DueKind",
    "Game",
    "Opening",
    "Outcome",
    "Reason",
    "Record",
    "RecordError",
    "Role",
    "RuleError",
    "RuleSet",
    "RuleSetError",
    "Solo",
    "Termination",
    "View",
    "format_cards",
    "parse_cards",
]

__version__: str
"""The installed version, "0+unknown" where the library is not installed but only found."""

if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        # Looked up when it is asked for: the packages' metadata take longer to load than the library.
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(__name__)
        except PackageNotFoundError:
            return "0+unknown"
