"""Plays one game in the readable and in the compiled engine and compares everything after every action."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from baohuang import Action, Card, Due, Game, RuleSet
from baohuang.arena import ArenaState, marked_card, row_of
from baohuang.arena.encoding import ActionSpace
from baohuang.arena.kernels import layout
from baohuang.rules.roles import SEATS
from baohuang.rules.shuffle import deal

FIELDS = {
    value: name
    for name, value in reversed(vars(layout).items())
    if isinstance(value, int)
    and name.isupper()
    and not name.startswith(("T_", "S_", "STEP_", "CODE_", "DEALS_", "SOLO_", "ROLE_", "DUE_", "THRONE_"))
}
"""Names of the row's fields by offset, for messages."""

NOT_COMPARED = slice(layout.KEY, layout.DEALS + 1)
"""Each engine has its own way of shuffling, and here the compiled one is handed the deals."""


class Count(NamedTuple):
    """What was compared."""

    hands: int
    actions: int
    legal: int


def run_hands(rules: RuleSet, first: int, hands: int) -> Count:
    """Random hands with the seeds from `first` on; raises `AssertionError` at the first difference."""
    arena = ArenaState(rules)
    actions = legal = 0
    for seed in range(first, first + hands):
        draw = random.Random(seed)
        first_drawer = draw.choice(SEATS)
        dues = _dues_before(rules, draw)
        game = Game.deal(rules, seed=seed, first_drawer=first_drawer, dues=dues)
        deals = [deal(rules, seed, redeal=redeal, first_drawer=first_drawer) for redeal in range(4)]
        arena.reset(seed, first_drawer=first_drawer, dues=dues, deals=deals)
        played = play_both(game, arena, draw)
        actions += played.actions
        legal += played.legal
    return Count(hands, actions, legal)


def _dues_before(rules: RuleSet, draw: random.Random) -> tuple[Due, ...]:
    """Debts and tribute, if the rule set has any, as a hand before this one may have left them."""
    if not (rules.tribute or rules.hold_back_threes) or draw.random() < 0.3:
        return ()
    before = ArenaState(rules)
    before.reset(draw.getrandbits(64))
    while not before.is_over:
        before.apply(draw.choice(before.legal().tolist()))
    return before.dues()


def play_both(game: Game, arena: ArenaState, draw: random.Random) -> Count:
    """Plays on in both to the end, whoever is awaited answering in any order."""
    actions = compared = 0
    while True:
        compare_rows(game, arena)
        assert arena.awaited == game.to_act
        if not game.to_act:
            assert arena.is_over
            compare_outcomes(game, arena)
            return Count(1, actions, compared)
        seat = draw.choice(game.to_act)
        legal = game.legal_actions(seat)
        mark = marked_card(game.state, seat)
        ids = [_id_of(arena.space, action, mark) for action in legal]
        place = draw.randrange(len(ids))
        listed = arena.legal_of(seat).tolist()
        assert sorted(ids) == sorted(listed), _difference(game, arena, seat, legal, ids, listed)
        if actions % 4 == 0:
            assert arena.action(ids[place], seat) == legal[place]
            assert not any(len(arena.legal_of(other)) for other in SEATS if other not in game.to_act)
        game.apply(seat, legal[place])
        if seat == arena.to_act:
            assert arena.legal().tolist() == listed
            arena.apply(ids[place])
        else:
            arena.apply_by(seat, ids[place])
        actions += 1
        compared += len(ids)


def compare_rows(game: Game, arena: ArenaState) -> None:
    """Every field of the compiled state is what the readable state makes it."""
    expected = row_of(game.state)
    expected[NOT_COMPARED] = arena.row[NOT_COMPARED]
    if expected.tobytes() == arena.row.tobytes():
        return
    differing = np.flatnonzero(expected != arena.row)
    wrong = [f"{_field(at)}: {arena.row[at]}, not {expected[at]}" for at in differing.tolist()]
    raise AssertionError(f"{game.rules}, {game.state.public.step}: {', '.join(wrong)}")


def compare_outcomes(game: Game, arena: ArenaState) -> None:
    """Scores, places, roles, termination, solo, multiplier and dues as `Outcome` has them."""
    outcome = game.outcome
    assert outcome is not None
    assert arena.scores() == outcome.scores
    assert tuple(place or None for place in arena.places()) == (outcome.places or (None,) * 5)
    assert arena.termination is outcome.termination
    assert sum(arena.scores()) == 0
    assert arena.dues() == outcome.dues


@lru_cache(maxsize=1 << 18)
def _id_of(space: ActionSpace, action: Action, mark: Card | None) -> int:
    return space.encode(action, mark)


def _field(offset: int) -> str:
    start = max(known for known in FIELDS if known <= offset)
    return f"{FIELDS[start]}[{offset - start}]"


def _difference(
    game: Game, arena: ArenaState, seat: int, legal: list[Action], ids: list[int], listed: list[int]
) -> str:
    missing = [str(action) for action, number in zip(legal, ids, strict=True) if number not in listed]
    extra = [arena.space.name(number) for number in listed if number not in ids]
    public = game.state.public
    return f"{game.rules}, {public.step}, table {public.table}, seat {seat}: missing {missing}, extra {extra}"
