"""A bot of one's own: one method. It plays its longest set, keeps its jokers and declares nothing.

python examples/simple_bot.py
"""

import argparse
from collections.abc import Sequence

from baohuang import Action, ActionKind, Game, RuleSet, View
from baohuang.bots import make_bot, play_game


class LongestSetBot:
    """Plays as many plain cards at once as it can."""

    name = "longest-set"

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
        """The longest play without jokers; else a pass; before play, the last answer listed."""
        plays = [action for action in legal_actions if action.kind is ActionKind.PLAY]
        plain = [play for play in plays if not any(card.is_joker for card in play.cards)]
        if plain:
            return max(plain, key=lambda play: len(play.cards))
        return legal_actions[-1]


def main() -> None:
    """Plays one hand against four greedy bots."""
    argparse.ArgumentParser(description=main.__doc__).parse_args()
    game = Game.deal(RuleSet.preset("jiaodong"), seed=7)
    bots = [LongestSetBot(), *[make_bot("greedy") for _ in range(4)]]
    outcome = play_game(game, bots)
    for seat, bot in enumerate(bots):
        print(f"seat {seat}  {bot.name:<12} {outcome.scores[seat]:+d}")


if __name__ == "__main__":
    main()
