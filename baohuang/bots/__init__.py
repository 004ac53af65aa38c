"""Bots: what one is, the built-in ones, and a runner for games of bots in this process.

>>> import baohuang
>>> from baohuang.bots import make_bot, play_game
>>> game = baohuang.Game.deal(baohuang.RuleSet.preset("jiaodong"), seed=7)
>>> outcome = play_game(game, [make_bot("greedy")] * 5)
>>> sum(outcome.scores)
0
"""

from baohuang.bots.bot import Bot, BotError
from baohuang.bots.choice import Candidate, Choice
from baohuang.bots.greedy import GreedyBot
from baohuang.bots.random import RandomBot
from baohuang.bots.registry import BOT_NAMES, make_bot
from baohuang.bots.runner import play_game

__all__ = [
    "BOT_NAMES",
    "Bot",
    "BotError",
    "Candidate",
    "Choice",
    "GreedyBot",
    "RandomBot",
    "make_bot",
    "play_game",
]
