"""A self-play loop: many hands between built-in bots, totals by bot, the last hand's record on request.

python examples/self_play.py --rules jiaodong --hands 50 --bots greedy,greedy,random,random,random
"""

import argparse
from collections import defaultdict
from pathlib import Path

from baohuang import PRESETS, Due, Game
from baohuang.bots import BOT_NAMES, make_bot, play_game


def main() -> None:
    """Plays the hands and prints each bot's mean."""
    parser = argparse.ArgumentParser(description="Plays hands between bots and prints the mean score a hand.")
    parser.add_argument("--rules", choices=PRESETS, default="lianzhong-simple")
    parser.add_argument("--hands", type=int, default=20)
    parser.add_argument(
        "--bots", type=five_bots, default="greedy,greedy,random,random,random", help=" ".join(BOT_NAMES)
    )
    parser.add_argument("--record", type=Path, help="where the last hand's record goes")
    arguments = parser.parse_args()

    rules, names = PRESETS[arguments.rules], arguments.bots
    totals: defaultdict[str, int] = defaultdict(int)
    first_drawer = 0
    dues: tuple[Due, ...] = ()
    for hand in range(arguments.hands):
        game = Game.deal(rules, seed=hand, first_drawer=first_drawer, dues=dues)
        # The bots move on by one seat a hand, so that no seat favours anyone.
        seated = [names[(seat + hand) % 5] for seat in range(5)]
        outcome = play_game(game, [make_bot(name, seed=hand) for name in seated])
        for name, score in zip(seated, outcome.scores, strict=True):
            totals[name] += score
        # As at a table: the emperor draws first in the next hand, and debts and tribute are carried on.
        first_drawer, dues = outcome.next_first_drawer, outcome.dues
        if arguments.record is not None:
            try:
                arguments.record.write_text(game.record().dumps(), "utf-8", newline="\n")
            except OSError as error:
                parser.error(f"argument --record: {error}")

    for name in sorted(totals):
        seats = names.count(name) * arguments.hands
        print(f"{name}: {totals[name] / seats:+.2f} a hand over {seats} seats")


def five_bots(text: str) -> list[str]:
    """The names of five built-in bots, with commas between them."""
    names = text.split(",")
    if len(names) != 5 or not set(names) <= set(BOT_NAMES):
        raise argparse.ArgumentTypeError(f"five of {', '.join(BOT_NAMES)}, with commas between them")
    return names


if __name__ == "__main__":
    main()
