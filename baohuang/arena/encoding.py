"""Actions as whole numbers: one fixed set of ids for each rule set.

Ids 0 … 117 are the same everywhere: pass, keep, take, yield, decline, solo, guard, rebel, counter, no; then
`call` with each of the 52 cards that are no jokers; then `give` with each of the 56 cards, in deck order.
From 118 on come the plays, one id for each class of R11.4: rank and number of the plain cards, twos that
fill, small and big jokers, and how many revealing cards are among them. Which cards a play's id means depends
on the hand: the first ones in deck order.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.kernels import layout
from baohuang.arena.tables import compile_tables
from baohuang.rules.actions import (
    COUNTER,
    DECLINE,
    GUARD,
    KEEP,
    NO,
    PASS,
    REBEL,
    SOLO,
    TAKE,
    YIELD,
    Action,
    ActionKind,
)
from baohuang.rules.cards import (
    BIG_JOKER,
    CARDS,
    RANK_NAMES,
    SMALL_JOKER,
    TWO,
    Card,
    Hand,
)
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.legal import revealing_card
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.state import State

_SIMPLE: Final = (PASS, KEEP, TAKE, YIELD, DECLINE, SOLO, GUARD, REBEL, COUNTER, NO)
"""Actions without cards, by id."""
_SIMPLE_IDS: Final = {action: number for number, action in enumerate(_SIMPLE)}

COLUMNS: Final = ("kind", "rank", "plain", "fillers", "small", "big", "marked", "card")
"""What the columns of `ActionSpace.table` hold."""


class ActionSpace:
    """The action ids of a rule set. `size` is how many there are; `ActionSpace.of` gives a shared one."""

    def __init__(self, rules: RuleSet) -> None:
        tables = compile_tables(rules)
        self.rules: Final = rules
        self._codes: Final = tables[tables[layout.S_CODES] :]
        self.size: Final = layout.PLAY + len(self._codes)
        self._low: Final = int(tables[layout.T_LOW])
        self._marks: Final = int(tables[layout.T_MARKS])
        self._strides: Final = (
            int(tables[layout.T_RANK_STRIDE]),
            int(tables[layout.T_KEPT_STRIDE]),
            int(tables[layout.T_FILLER_STRIDE]),
        )
        self._joker_plays: Final = int(tables[layout.T_JOKER_PLAYS])

    @staticmethod
    @lru_cache(maxsize=64)
    def of(rules: RuleSet) -> ActionSpace:
        """The space of a rule set; equal rule sets share it."""
        return ActionSpace(rules)

    @cached_property
    def table(self) -> NDArray[np.int8]:
        """What every id means, size × 8 (`COLUMNS`), read-only.

        Its kind as index in `list(ActionKind)`, −1 for the ids that no action has, and the parts of a play.
        `rank` is 0 … 12, −1 for jokers alone; `plain` counts the cards of that rank without `fillers`; `card`
        is that of a call or gift, else −1.
        """
        kinds = list(ActionKind)
        table = np.zeros((self.size, len(COLUMNS)), np.int8)
        table[: layout.PLAY, [1, 7]] = -1
        for number, action in enumerate(_SIMPLE):
            table[number, 0] = kinds.index(action.kind)
        for first, kind, count in (
            (layout.CALL, ActionKind.CALL, layout.SUITED),
            (layout.GIVE, ActionKind.GIVE, layout.KINDS),
        ):
            table[first : first + count, 0] = kinds.index(kind)
            table[first : first + count, 7] = np.arange(count)
        codes, plays = self._codes, table[layout.PLAY :]
        used = codes != layout.NONE
        plays[:, 0] = np.where(used, kinds.index(ActionKind.PLAY), -1)
        rank = codes & 15
        parts = (
            np.where(rank == layout.NO_RANK, -1, rank),
            codes >> layout.CODE_KEPT & 31,
            codes >> layout.CODE_FILLERS & 31,
            codes >> layout.CODE_SMALL & 7,
            codes >> layout.CODE_BIG & 7,
            codes >> layout.CODE_MARKED & 7,
            np.full(len(codes), -1),
        )
        for column, part in enumerate(parts, start=1):
            plays[:, column] = np.where(used, part, -1)
        table.flags.writeable = False
        return table

    def encode(self, action: Action, mark: Card | None = None) -> int:
        """The id of an action; `mark` is the `marked_card` of the seat. Raises `RuleError` for cards that are
        no play.

        Plays of the same class have the same id: of `play 7c`, `play 7d` the hand decides which is meant.
        """
        kind, cards = action
        if kind is ActionKind.PLAY:
            return self._encode_play(cards, mark)
        if kind is ActionKind.CALL and not cards[0].is_joker:
            return layout.CALL + cards[0]
        if kind is ActionKind.GIVE:
            return layout.GIVE + cards[0]
        number = _SIMPLE_IDS.get(action)
        if number is None:
            raise RuleError(Reason.MALFORMED_ACTION, f"{action} is no action of the game", action=str(action))
        return number

    def _encode_play(self, cards: Hand, mark: Card | None) -> int:
        shape = self.rules.require_shape(cards)
        marked = 0 if mark is None else cards.count(mark)
        jokers = (5 * shape.small + shape.big) * self._marks + marked
        if not shape.plain:
            return self._joker_plays + jokers
        rank = cards[0] >> 2
        fillers = 0
        if rank != TWO:
            fillers = sum([card >> 2 == TWO for card in cards])
        by_rank, by_kept, by_filler = self._strides
        return (
            layout.PLAY
            + (rank - self._low) * by_rank
            + (shape.plain - fillers - 1) * by_kept
            + fillers * by_filler
            + jokers
        )

    def decode(self, number: int, hand: Hand = (), mark: Card | None = None) -> Action:
        """The action of an id for a seat that holds `hand`, with `mark` its `marked_card`.

        Raises `RuleError` for an id that no action has, or one for which the hand lacks the cards.
        """
        if 0 <= number < layout.CALL:
            return _SIMPLE[number]
        if layout.CALL <= number < layout.GIVE:
            return Action(ActionKind.CALL, (CARDS[number - layout.CALL],))
        if layout.GIVE <= number < layout.PLAY:
            return Action(ActionKind.GIVE, (CARDS[number - layout.GIVE],))
        if not 0 <= number < self.size or self._codes[number - layout.PLAY] == layout.NONE:
            raise RuleError(Reason.MALFORMED_ACTION, f"{number} is no action of {self.rules}", id=number)
        code = int(self._codes[number - layout.PLAY])
        rank = code & 15
        marked = code >> layout.CODE_MARKED & 7
        groups = (
            (range(4 * rank, 4 * rank + 4), code >> layout.CODE_KEPT & 31),
            (range(4 * TWO, SMALL_JOKER), code >> layout.CODE_FILLERS & 31),
            (range(SMALL_JOKER, BIG_JOKER), code >> layout.CODE_SMALL & 7),
            (range(BIG_JOKER, layout.KINDS), code >> layout.CODE_BIG & 7),
        )
        cards: list[Card] = []
        for kinds, count in groups:
            cards += _choose([card for card in hand if card in kinds], count, mark, marked) if count else []
        if len(cards) != sum(count for _, count in groups):
            raise RuleError(
                Reason.CARDS_NOT_HELD,
                f"the hand lacks the cards of action {number}",
                clause="R3.1",
                id=number,
            )
        return Action(ActionKind.PLAY, tuple(cards))

    def name(self, number: int) -> str:
        """A text of an id without a hand, such as `play 8x3 2x1 SJ BJx2 (1 marked)`, for people."""
        if number < layout.PLAY:
            return str(self.decode(number))
        kind, rank, plain, fillers, small, big, marked, _ = self.table[number].tolist()
        if kind < 0:
            return "no action"
        parts = ((RANK_NAMES[rank], plain), (RANK_NAMES[TWO], fillers), ("SJ", small), ("BJ", big))
        words = [name if count == 1 else f"{name}x{count}" for name, count in parts if count]
        return " ".join(["play", *words, *([f"({marked} marked)"] if marked else [])])


def _choose(cards: list[Card], count: int, mark: Card | None, marked: int) -> list[Card]:
    """The first `count` of `cards`, `marked` of them the marked one if it is among them (R11.4)."""
    if mark is None or mark not in cards:
        return cards[:count]
    others = [card for card in cards if card != mark]
    among = [mark] * min(marked, cards.count(mark))
    return sorted(others[: count - marked] + among)


def marked_card(state: State, seat: int) -> Card | None:
    """The kind of card whose number in a play of `seat` makes a difference (R11.4), if it holds any.

    The called card where it may be top; else what can reveal the guard, until he is public.
    """
    public = state.public
    top = public.called if public.rules.called_card_is_top else None
    mark = top if top is not None else revealing_card(state)
    return mark if mark in state.hidden.hands[seat] else None
