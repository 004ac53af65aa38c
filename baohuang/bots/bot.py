"""What a bot is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from baohuang.rules.actions import Action
from baohuang.rules.errors import BaohuangError
from baohuang.rules.state import View

if TYPE_CHECKING:
    from baohuang.bots.choice import Choice


class BotError(BaohuangError):
    """A bot gave an answer that cannot be taken, or there is no bot of that name."""


class Bot(Protocol):
    """A player. Any object with these two members is one."""

    @property
    def name(self) -> str:
        """What the bot is called in results and messages."""
        ...

    def choose(
        self, view: View, legal_actions: Sequence[Action], time_limit: float | None
    ) -> Action | Choice:
        """The action of the seat `view.viewer` within `time_limit` seconds (None: no limit).

        `view` is all that the bot may know. `legal_actions` is never empty and lists equal plays once
        (R11.4); other cards of the hand that form a legal play may be answered too. A `Choice` adds a note
        and what else was considered.
        """
        ...
