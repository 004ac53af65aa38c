"""Games of bots in this process."""

from __future__ import annotations

from collections.abc import Sequence

from baohuang.bots.bot import Bot, BotError
from baohuang.bots.choice import checked_choice
from baohuang.game import Game
from baohuang.rules.errors import BaohuangError
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import SEATS, Seat


def play_game(game: Game, bots: Sequence[Bot], *, time_limit: float | None = None) -> Outcome:
    """Plays `game` to its end, the bot at index s in seat s, and gives back its outcome.

    Each bot is handed its view and its legal actions, nothing else; seats on auto-play are played for.
    `time_limit` (seconds a move) is told to the bots, not enforced. Raises `BotError`, naming the bot, for
    an answer that is no legal action; the game then stands where it stood. What a bot itself raises comes
    through as it is. Raises `ValueError` for a game that is not dealt yet, and unless there are five bots.
    """
    if len(bots) != len(SEATS):
        raise ValueError(f"a game has five bots, not {len(bots)}")
    while game.outcome is None:
        if not game.to_act:
            raise ValueError("the game awaits nonces; its cards are not dealt yet")
        # Who answers a step together does so in seat order; nobody sees the others' answers before all have.
        for seat in game.to_act:
            if game.state.public.auto_play[seat]:
                game.auto_act(seat)
            else:
                _move(game, seat, bots[seat], time_limit)
    return game.outcome


def _move(game: Game, seat: Seat, bot: Bot, time_limit: float | None) -> None:
    answer = bot.choose(game.view(seat), game.legal_actions(seat), time_limit)
    try:
        game.apply(seat, checked_choice(answer).choice.action)
    except BaohuangError as error:
        message = f"bot {bot.name} in seat {seat}: {error.message}"
        raise BotError(error.reason, message, clause=error.clause, seat=seat) from error
