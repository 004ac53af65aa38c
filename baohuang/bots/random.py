"""`random`: any legal action."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from baohuang.rules.actions import Action
from baohuang.rules.cards import format_cards
from baohuang.rules.state import View


class RandomBot:
    """Chooses uniformly among the listed actions.

    The choice follows from seed and view alone, so a bot that is made anew for every move, in whatever
    process, plays the same game.
    """

    name: Final = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed: Final = seed

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
        """One of `legal_actions`, each as likely as any other."""
        own = view.own
        hand = "" if own is None else f"{format_cards(own.hand)} {len(own.answers)}"
        moment = f"{self.seed} {view.viewer} {view.public.version} {hand}"
        return random.Random(moment).choice(legal_actions)
