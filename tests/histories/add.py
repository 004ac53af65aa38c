"""`python -m tests.histories.add v2`: adds the histories of a new version; never touches those of an old one.

To be run when what is written changes: a new schema version of stored events or of records, a new event,
rules that give other events for the same hand. What it writes is committed and stays for ever.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence

from baohuang import PRESETS, Due, DueKind, Game, RuleError, RuleSet
from baohuang.bots import make_bot
from baohuang.rpc.codec import encode_events
from baohuang.rules.commands import AddNonce, Deal, Start
from baohuang.rules.decide import execute
from baohuang.rules.events import AutoPlayReason, Event, ForfeitReason
from baohuang.rules.roles import SEATS, Opening
from baohuang.testing.options import pairwise
from tests.histories.history import CHECKSUMS, FOLDER, History, StoredCommit, checksum

SCHEMA_VERSION = 1
"""Of stored events, as the engine writes them now."""

SALT = bytes(range(32))


def play_on(game: Game, seed: int, *, upsets: float = 0.0) -> None:
    """To the end, by bots and chance; `upsets` is how often a player's presence changes before a move."""
    chance = random.Random(seed)
    bots = [make_bot("greedy" if chance.random() < 0.7 else "random", seed=seed + seat) for seat in SEATS]
    while game.to_act:
        seat = chance.choice(game.to_act)
        if chance.random() < upsets:
            upset(game, chance)
        if game.state.public.auto_play[seat]:
            game.auto_act(seat)
        else:
            game.apply(seat, bots[seat].choose(game.view(seat), game.legal_actions(seat), None))


def upset(game: Game, chance: random.Random) -> None:
    """A player leaves, is removed, runs out of time or comes back, if the rules allow it now."""
    seat = chance.choice(SEATS)
    changes: list[Callable[[], Sequence[Event]]] = [
        lambda: game.start_auto_play(seat, chance.choice(list(AutoPlayReason))),
        lambda: game.stop_auto_play(seat),
        lambda: game.stop_auto_play(seat),
        lambda: game.forfeit(seat, chance.choice(list(ForfeitReason))),
    ]
    try:
        chance.choice(changes)()
    except RuleError:
        return


def games() -> Iterator[tuple[str, Game]]:
    """Every preset, every pair of options that can go together, and every way for a hand to begin and end."""
    for preset in PRESETS:
        rules = RuleSet.preset(preset)
        yield preset, Game.start(Start(rules, first_drawer=2, seed=1, salt=SALT))
        for number, options in enumerate(pairwise(preset), 1):
            yield f"{preset}-options-{number}", Game.deal(options, seed=number, first_drawer=number % 5)
        yield f"{preset}-upsets", Game.deal(rules, seed=5)
    folk = RuleSet.preset("shandong-folk", tribute_return=True)
    dues = (Due(DueKind.DEBT, 3, 0), *[Due(DueKind.TRIBUTE, giver, giver + 2) for giver in (0, 1, 2)])
    yield "dues", Game.start(Start(folk, dues=dues, seed=6, salt=SALT))
    yield "nonces", with_nonces()
    plain = RuleSet.preset("marked-guard")
    yield "given-hands", Game.from_hands(plain, ["EJ 9s 9h", "GJ 7c 7d", "8h 8d", "6c 6d", "Ts Th Ac"])
    yield (
        "given-opening",
        Game.from_hands(plain, ["EJ 9s 9h", "GJ 7c 7d", "8h 8d", "6c 6d", "Ts Th Ac"], opening=Opening(0, 1)),
    )
    void = Game.from_hands(
        RuleSet.preset("jiaodong", all_refuse="void"), ["EJ GJ 7c", "8c", "9c", "Tc", "Jc"]
    )
    void.apply(0, "yield")
    while void.to_act:
        void.apply(void.to_act[0], "decline")
    yield "void", void


def with_nonces() -> Game:
    game = Game.start(Start(RuleSet.preset("lianzhong-simple"), seed=8, salt=SALT, await_nonces=True))
    events, state = list(game.events), game.state
    for command in (AddNonce(0, "清风徐来"), AddNonce(3, "nonce"), Deal()):
        more, state = execute(state, command)
        events += more
    return Game(events, state)


def stored(game: Game, seed: int) -> tuple[StoredCommit, ...]:
    """The events in commits of one to a few, or all in one as a tournament stores them."""
    chance, commits, done = random.Random(seed), [], 0
    while done < game.version:
        end = game.version if seed % 4 == 0 else min(done + chance.choice((1, 1, 2, 3, 20)), game.version)
        commits.append(StoredCommit(SCHEMA_VERSION, end, encode_events(game.events[done:end])))
        done = end
    return tuple(commits)


def histories(version: str) -> Iterator[History]:
    """Those of the code as it is now."""
    for seed, (name, game) in enumerate(games()):
        play_on(game, seed, upsets=0.15 if name.endswith("upsets") else 0.0)
        yield History(f"{version}/{name}", game.record().dumps(), stored(game, seed))


def add(version: str) -> int:
    """Writes the histories of a version; gives how many. Raises `FileExistsError` if it has some."""
    (FOLDER / version).mkdir()
    count = 0
    with CHECKSUMS.open("a", encoding="utf-8") as sums:
        for history in histories(version):
            count += 1
            for path, text in history.files.items():
                (FOLDER / path).write_text(text, "utf-8")
                sums.write(f"{checksum(text)}  {path}\n")
    return count


def main() -> int:
    """Gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.histories.add")
    parser.add_argument("version", help="such as v2; a folder that is not there yet")
    version = parser.parse_args().version
    try:
        print(f"{add(version)} histories of {version}; commit them, and never change them")
    except FileExistsError:
        print(f"there are histories of {version}, and they stay as they are: name a new one", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
