"""`simulate`: whole hands by the thousand in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baohuang.arena.kernels import layout, run
from baohuang.arena.kernels.policies import POLICIES
from baohuang.arena.state import NO_DEALS, check_deals, check_dues, check_seed
from baohuang.arena.tables import compile_tables, space_size
from baohuang.rules.ruleset import RuleSet

CHUNK: Final = 256
"""Games that a thread takes at a time."""


@dataclass(frozen=True)
class Results:
    """What became of the hands of a run; one entry, or row of five by seat, a game.

    Numbers stand for words: `terminations` indexes `list(Termination)`, `solos` indexes `list(Solo)`, `roles`
    indexes `list(Role)`. Where a hand was not played (R8.6), `places` are 0 and `roles` −1. `actions` counts
    what each seat did. `dues` are 8 × (index in `list(DueKind)`, giver, receiver), −1 after the last.
    """

    scores: NDArray[np.int16]
    places: NDArray[np.int16]
    roles: NDArray[np.int16]
    terminations: NDArray[np.int16]
    solos: NDArray[np.int16]
    multipliers: NDArray[np.int16]
    actions: NDArray[np.int32]
    next_first_drawers: NDArray[np.int16]
    dues: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.scores)


def simulate(  # noqa: PLR0913 - all but three have a default that most callers want
    rules: RuleSet,
    games: int,
    *,
    seed: int,
    policies: ArrayLike | Sequence[str] = "random",
    first_game: int = 0,
    first_drawers: ArrayLike = 0,
    dues: ArrayLike | None = None,
    deals: ArrayLike | None = None,
    threads: int = 1,
) -> Results:
    """Plays hands from the deal to the end.

    Game number `first_game` + i depends on the seed and that number alone, not on how many are played in one
    call or by how many threads. `policies` are names of `POLICIES`: one for all, five by seat, or games × 5.
    `first_drawers` is a seat or one a game; `dues` games × 8 × 3 as `Results.dues`; `deals` games × R × 5 ×
    56 counts of cards for the first R deals of each game, the stream makes those after them (and all by
    default). Raises `RuleError` for a bad seed, `ValueError` for shapes, seats or policies that cannot be,
    and `RuleSetError` for deals that are not of the rule set's whole deck.
    """
    tables, size = compile_tables(rules), space_size(rules)
    word = np.uint64(check_seed(seed))
    # Copies throughout: Numba compiles anew for an array that is read-only or laid out otherwise.
    players = _per_game(_policy_ids(policies), games, (layout.SEATS,))
    drawers = _per_game(np.asarray(first_drawers, np.int64), games, ())
    if drawers.size and not (drawers.min() >= 0 and drawers.max() < layout.SEATS):
        raise ValueError("a first drawer is a seat, 0 to 4")
    owed = _dues(rules, games, dues)
    given = _deals(rules, games, deals)
    results = np.empty((games, layout.ROW - layout.RESULT), np.int16)
    actions = np.zeros((games, layout.SEATS), np.int32)

    def play(begin: int, end: int) -> None:
        run.play_games(
            tables,
            word,
            first_game + begin,
            players[begin:end] if len(players) > 1 else players,
            drawers[begin:end] if len(drawers) > 1 else drawers,
            owed[begin:end] if len(owed) > 1 else owed,
            given[begin:end] if len(given) > 1 else given,
            results[begin:end],
            actions[begin:end],
            np.empty(layout.ROW, np.int16),
            np.empty((2, 4), np.uint64),
            np.empty(size, np.int32),
        )

    if threads <= 1:
        play(0, games)
    else:
        play(0, 0)  # compiled, if it must be, once
        with ThreadPoolExecutor(threads) as pool:
            starts = range(0, games, CHUNK)
            list(pool.map(play, starts, [min(start + CHUNK, games) for start in starts]))
    return _results(results, actions)


def _per_game(values: NDArray[np.int64], games: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Values of that shape as an array of one for all games, or of one for each of them."""
    one_for_all = values.ndim <= len(shape)
    return np.array(np.broadcast_to(values, (1 if one_for_all else games, *shape)), order="C")


def _policy_ids(policies: ArrayLike | Sequence[str]) -> NDArray[np.int64]:
    names = np.asarray(policies)
    unknown = set(names.ravel().tolist()) - set(POLICIES)
    if unknown:
        raise ValueError(f"no policy {min(map(str, unknown))!r}; there are {', '.join(POLICIES)}")
    return np.array([POLICIES[name] for name in names.ravel().tolist()], np.int64).reshape(names.shape)


def _dues(rules: RuleSet, games: int, dues: ArrayLike | None) -> NDArray[np.int64]:
    shape = (layout.MOST_DUES, 3)
    if dues is None:
        return np.full((1, *shape), -1, np.int64)
    owed = _per_game(np.asarray(dues, np.int64), games, shape)
    used = owed[owed[:, :, 0] >= 0]
    check_dues(rules, len(used) > 0)
    seats = used[:, 1:]
    if ((seats < 0) | (seats >= layout.SEATS)).any() or (seats[:, 0] == seats[:, 1]).any():
        raise ValueError("a due goes from one seat to another")
    return owed


def _deals(rules: RuleSet, games: int, deals: ArrayLike | None) -> NDArray[np.int8]:
    if deals is None:
        return np.zeros((1, *NO_DEALS.shape), np.int8)
    given = np.array(deals, np.int8, order="C")
    if given.ndim != 4 or given.shape[0] != games or given.shape[2:] != (layout.SEATS, layout.KINDS):
        raise ValueError(f"deals are games × R × 5 × 56 counts, not {given.shape}")
    check_deals(rules, given)
    return given


def _results(results: NDArray[np.int16], actions: NDArray[np.int32]) -> Results:
    def column(field: int, width: int) -> NDArray[np.int16]:
        return results[:, field - layout.RESULT :][:, :width]

    return Results(
        scores=column(layout.SCORES, layout.SEATS),
        places=column(layout.PLACES, layout.SEATS),
        roles=column(layout.ROLES, layout.SEATS),
        terminations=results[:, layout.TERMINATION - layout.RESULT],
        solos=results[:, layout.SOLO - layout.RESULT],
        multipliers=results[:, layout.MULTIPLIER - layout.RESULT],
        actions=actions,
        next_first_drawers=results[:, layout.NEXT_FIRST - layout.RESULT],
        dues=column(layout.OWED, 3 * layout.MOST_DUES).reshape(-1, layout.MOST_DUES, 3),
    )
