"""Perft: how many sequences of actions small fixed deals have, by depth (tests/data/perft/*.json)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from baohuang import PRESETS, Game, Opening, RuleSet, parse_cards
from baohuang.rules.cards import Hand, without
from baohuang.rules.events import Step
from baohuang.testing.oracle import is_legal_play, sub_hands

FILES = sorted((Path(__file__).resolve().parents[2] / "data/perft").glob("*.json"))
DEALS = [deal for path in FILES for deal in json.loads(path.read_text("utf-8"))]


def game_of(deal: dict[str, Any]) -> Game:
    rules = RuleSet.preset(deal["rules"], **deal.get("options", {}))
    opening = None
    if "opening" in deal:
        values = dict(deal["opening"])
        if "called" in values:
            values["called"] = parse_cards(values["called"])[0]
        opening = Opening(**values)
    return Game.from_hands(rules, deal["hands"], first_drawer=deal.get("first_drawer", 0), opening=opening)


def perft(game: Game, depth: int) -> int:
    """Sequences of `depth` actions, fewer where the hand ends; where several are awaited the first acts."""
    if depth == 0 or not game.to_act:
        return 1
    seat = game.to_act[0]
    actions = game.legal_actions(seat)
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        after = Game(game.events, game.state)
        after.apply(seat, action)
        total += perft(after, depth - 1)
    return total


@pytest.mark.parametrize("deal", DEALS, ids=lambda deal: deal["name"])
def test_node_counts(deal: dict[str, Any]) -> None:
    game = game_of(deal)
    assert [perft(game, depth) for depth in range(1, len(deal["nodes"]) + 1)] == deal["nodes"]


@dataclass(frozen=True)
class Position:
    """Play a second time, in few words: no folk rules, roles fixed, the guard public."""

    hands: tuple[Hand, ...]
    royals: frozenset[int]
    turn: int
    owner: int | None = None
    table: Hand | None = None
    passes: int = 0

    @property
    def is_over(self) -> bool:
        holding = {seat for seat in range(5) if self.hands[seat]}
        return not holding & self.royals or not holding - self.royals

    def next_holder(self, seat: int) -> int:
        return next(each % 5 for each in range(seat + 1, seat + 6) if self.hands[each % 5])

    def after_play(self, cards: Hand) -> Position:
        hands = list(self.hands)
        hands[self.turn] = without(hands[self.turn], cards)
        after = replace(self, hands=tuple(hands), owner=self.turn, table=cards, passes=0)
        return after if after.is_over else replace(after, turn=after.next_holder(self.turn))

    def after_pass(self) -> Position:
        assert self.owner is not None
        others = sum(bool(hand) for seat, hand in enumerate(self.hands) if seat != self.owner)
        if self.passes + 1 < others:
            return replace(self, passes=self.passes + 1, turn=self.next_holder(self.turn))
        leader = self.owner if self.hands[self.owner] else self.next_holder(self.owner)
        return replace(self, turn=leader, owner=None, table=None, passes=0)


def plays_of(rules: RuleSet, hand: Hand, table: Hand | None) -> list[Hand]:
    """One play of each kind: the same number of each plain rank and of each joker's rank (R11.4)."""
    kinds: dict[tuple[tuple[int, int], ...], Hand] = {}
    for cards in sorted(sub_hands(hand)):
        if is_legal_play(rules, hand, cards, table, None):
            kinds.setdefault(tuple(sorted(Counter(card.rank for card in cards).items())), cards)
    return list(kinds.values())


@lru_cache(maxsize=1 << 16)
def count_again(rules: RuleSet, position: Position, depth: int) -> int:
    if depth == 0 or position.is_over:
        return 1
    plays = plays_of(rules, position.hands[position.turn], position.table)
    total = sum(count_again(rules, position.after_play(cards), depth - 1) for cards in plays)
    return total + (count_again(rules, position.after_pass(), depth - 1) if position.table else 0)


def is_simple(deal: dict[str, Any]) -> bool:
    """Whether a deal can be counted by the words above: a pair with a public guard, and no clearing."""
    game = game_of(deal)
    public = game.state.public
    return (
        public.step is Step.PLAY
        and public.guard not in (None, public.emperor)
        and not public.rules.hold_back_threes
    )


SIMPLE_DEALS = [deal for deal in DEALS if is_simple(deal)]


@pytest.mark.parametrize("deal", SIMPLE_DEALS, ids=lambda deal: deal["name"])
def test_node_counts_by_other_means(deal: dict[str, Any]) -> None:
    game = game_of(deal)
    public = game.state.public
    assert public.emperor is not None
    assert public.guard is not None
    start = Position(game.state.hidden.hands, frozenset({public.emperor, public.guard}), public.emperor)
    counted = [count_again(public.rules, start, depth) for depth in range(1, len(deal["nodes"]) + 1)]
    assert counted == deal["nodes"]


def test_every_preset_is_counted_from_the_opening_and_some_by_other_means() -> None:
    assert {deal["rules"] for deal in DEALS if "opening" not in deal} == set(PRESETS)
    assert len(SIMPLE_DEALS) >= 3
