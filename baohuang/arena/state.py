"""`ArenaState`: one game of the compiled engine, one action at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.encoding import ActionSpace
from baohuang.arena.jit import entry_point
from baohuang.arena.kernels import layout, run
from baohuang.arena.kernels.layout import Ids, Row
from baohuang.arena.kernels.policies import POLICIES
from baohuang.arena.snapshot import count_kinds, dues_array, dues_of, hand_of, row_of, seats_of
from baohuang.arena.tables import compile_tables
from baohuang.rules.actions import Action
from baohuang.rules.cards import CARDS, Card, Hand
from baohuang.rules.commands import Start
from baohuang.rules.errors import Reason, RuleError, RuleSetError
from baohuang.rules.outcome import Due, Termination
from baohuang.rules.roles import Role, Seat, check_seat
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.setup import start
from baohuang.rules.state import State

MOST_SEED: Final = 1 << 64
NO_DEALS: Final = np.zeros((0, layout.SEATS, layout.KINDS), np.int8)

_ROW = "int16[::1]"
_TABLES = "Array(int32, 1, 'C', readonly=True)"
_STREAM = "uint64[::1]"
_STREAMS = "uint64[:, ::1]"
_IDS = "int32[::1]"
_DEALS = "int8[:, :, ::1]"
_DUES = "int64[:, ::1]"


@lru_cache(maxsize=1)
def _kernels() -> tuple[Callable[..., Any], ...]:
    """`start_game`, `list_actions`, `step`, `choose_action` and `deal_again` without dispatch."""
    return (
        entry_point(
            run.start_game,
            f"({_ROW}, {_TABLES}, {_STREAMS}, {_IDS}, uint64, int64, int64, {_DUES}, {_DEALS})",
        ),
        entry_point(run.list_actions, f"int64({_ROW}, {_TABLES}, {_IDS}, int64)"),
        entry_point(run.step, f"int64({_ROW}, {_TABLES}, {_IDS}, int64, int64, int64)"),
        entry_point(run.choose_action, f"int64({_ROW}, {_TABLES}, {_STREAM}, {_IDS}, int64)"),
        entry_point(run.deal_again, f"({_ROW}, {_TABLES}, {_STREAM}, {_IDS}, {_DEALS})"),
    )


def check_seed(seed: int) -> int:
    """The seed; raises `RuleError` (`BAD_SEED`) unless 0 <= seed < 2**64."""
    if not 0 <= seed < MOST_SEED:
        raise RuleError(Reason.BAD_SEED, "a seed of the simulator is a whole number from 0 to 2**64 - 1")
    return seed


def check_dues(rules: RuleSet, owed: bool) -> None:
    """Raises `RuleSetError` if cards are `owed` where the rule set knows no dues (R10.6)."""
    if owed and not (rules.tribute or rules.hold_back_threes):
        raise RuleSetError(Reason.BAD_DEAL, f"{rules} has no debts or tribute", clause="R10.6")


def check_deals(rules: RuleSet, deals: NDArray[np.int8]) -> None:
    """Raises `RuleSetError` unless each deal, 5 × 56 counts, shares out the whole deck and leaves no hand
    empty (R2.7).
    """
    deck = np.bincount(rules.deck, minlength=layout.KINDS)
    if (deals < 0).any() or (deals.sum(axis=-2) != deck).any() or (deals.sum(axis=-1) == 0).any():
        raise RuleSetError(
            Reason.BAD_DEAL, f"each deal must share out the whole deck of {rules}", clause="R2.7"
        )


def given_deals(rules: RuleSet, deals: Sequence[Sequence[Iterable[Card]]]) -> NDArray[np.int8]:
    """Deals as R × 5 × 56 counts; raises `RuleSetError` as `check_deals`."""
    if not deals:
        return NO_DEALS
    if any(len(hands) != layout.SEATS for hands in deals):
        raise RuleSetError(Reason.BAD_DEAL, "a deal has five hands", clause="R2.7")
    given = np.array([[count_kinds(hand) for hand in hands] for hands in deals], np.int8)
    check_deals(rules, given)
    return given


class ArenaState:
    """One hand, played by whole numbers (`baohuang.arena.ActionSpace`). It changes in place.

    Made anew by `reset`, or from any state of the readable rules by `from_state`. In steps that several seats
    answer, `to_act` is the lowest of them; `legal_of` and `apply_by` are for the others.
    """

    def __init__(self, rules: RuleSet) -> None:
        self.rules: Final = rules
        self.space: Final = ActionSpace.of(rules)
        self.tables: Final = compile_tables(rules)
        self._start, self._list, self._step, self._choose, self._deal_again = _kernels()
        self.row: Row = np.zeros(layout.ROW, np.int16)
        self._streams: Final = np.zeros((2, 4), np.uint64)
        self._stream, self._deal_stream = self._streams
        self._out: Final[Ids] = np.empty(self.space.size, np.int32)
        self._other: Final[Ids] = np.empty(self.space.size, np.int32)
        self._deals = NO_DEALS
        self._count = 0
        self._views: dict[int, Ids] = {}
        self.row[layout.STEP] = layout.STEP_OVER
        self.row[layout.SEAT] = layout.NONE

    def reset(
        self,
        seed: int,
        *,
        game: int = 0,
        first_drawer: Seat = 0,
        dues: Sequence[Due] = (),
        deals: Sequence[Sequence[Iterable[Card]]] = (),
    ) -> None:
        """A new hand: the deal of game number `game` in `simulate` with the same seed.

        `deals` gives the hands instead, of this deal and of the redeals after it; the stream makes those
        beyond. Raises `RuleError` for a bad seed or seat, `RuleSetError` for dues or deals that the rule set
        cannot have.
        """
        check_seat(first_drawer)
        check_dues(self.rules, bool(dues))
        self._deals = given_deals(self.rules, deals)
        self._start(
            self.row,
            self.tables,
            self._streams,
            self._out,
            check_seed(seed),
            game,
            first_drawer,
            dues_array(dues),
            self._deals,
        )
        self._list_next()

    @classmethod
    def from_hands(
        cls,
        rules: RuleSet,
        hands: Sequence[Iterable[Card]],
        *,
        first_drawer: Seat = 0,
        dues: Sequence[Due] = (),
    ) -> ArenaState:
        """A hand with given cards, as `Game.from_hands`; raises `RuleSetError` for a deal that cannot be
        played (R2.7).
        """
        cards = tuple(tuple(hand) for hand in hands)
        return cls.from_state(start(Start(rules, first_drawer, tuple(dues), hands=cards))[1])

    @classmethod
    def from_state(cls, state: State) -> ArenaState:
        """A game that stands where a readable one stands; see `row_of` for what it leaves out."""
        arena = cls(state.public.rules)
        arena.load(row_of(state))
        return arena

    def load(self, row: Row) -> None:
        """Goes to the state of a row, which is copied."""
        self.row[:] = row
        self._deals = NO_DEALS
        self._list_next()

    def copy(self) -> ArenaState:
        """Another game in the same state."""
        other = ArenaState(self.rules)
        other.load(self.row)
        other._streams[:] = self._streams
        other._deals = self._deals
        return other

    def _list_next(self) -> None:
        seat = int(self.row[layout.SEAT])
        self._count = 0 if seat < 0 else self._list(self.row, self.tables, self._out, seat)

    @property
    def is_over(self) -> bool:
        return self._count == 0

    @property
    def to_act(self) -> Seat:
        """The seat whose action is awaited, the lowest of several; −1 when the hand is over."""
        return int(self.row[layout.SEAT])

    @property
    def awaited(self) -> tuple[Seat, ...]:
        """All seats whose action is awaited."""
        pending = int(self.row[layout.PENDING])
        if pending:
            return seats_of(pending)
        return (self.to_act,) if self.to_act >= 0 else ()

    def legal(self) -> Ids:
        """The ids of the legal actions of `to_act`, none when the hand is over. The array is valid until the
        next `apply`.
        """
        count = self._count
        view = self._views.get(count)
        if view is None:
            view = self._views[count] = self._out[:count]
        return view

    def apply(self, action: int) -> None:
        """Does an action of `to_act`; raises `RuleError` for one that is not among `legal`."""
        count = self._step(self.row, self.tables, self._out, layout.NONE, action, self._count)
        self._count = count if count >= 0 else self._not_done(count, self.to_act, action)

    def choose(self, policy: str = "random") -> int:
        """What a compiled policy does in the place of `to_act`; nothing is done.

        After `reset`, playing what is chosen gives the very game that `simulate` plays. Raises `RuleError`
        when the hand is over, `KeyError` for an unknown policy.
        """
        if self._count == 0:
            raise RuleError(Reason.GAME_OVER, "the hand is over")
        return int(self._choose(self.row, self.tables, self._stream, self._other, POLICIES[policy]))

    def legal_of(self, seat: Seat) -> Ids:
        """The ids of the legal actions of a seat, none if it is not awaited; an array of its own."""
        count = self._list(self.row, self.tables, self._other, seat)
        return self._other[:count].copy()

    def apply_by(self, seat: Seat, action: int) -> None:
        """Does an action of any seat that is awaited; raises `RuleError` if it is not, or may not do that."""
        legal = self._list(self.row, self.tables, self._other, seat)
        count = self._step(self.row, self.tables, self._other, seat, action, legal)
        if count < 0:
            self._count = self._not_done(count, seat, action)
        else:
            self._count = count
            self._out[:count] = self._other[:count]

    def _not_done(self, why: int, seat: Seat, action: int) -> int:
        """Deals again, if that is all that is missing; the number of legal actions then."""
        if why != run.AWAITS_DEAL:
            self._refuse(seat, action)
        self._deal_again(self.row, self.tables, self._deal_stream, self._out, self._deals)
        return int(self._list(self.row, self.tables, self._out, self.to_act))

    def _refuse(self, seat: Seat, action: int) -> NoReturn:
        if not self.awaited:
            raise RuleError(Reason.GAME_OVER, "the hand is over")
        if seat not in self.awaited:
            raise RuleError(Reason.NOT_YOUR_TURN, f"no action is awaited from seat {seat}", seat=seat)
        raise RuleError(
            Reason.NOT_OFFERED,
            f"action {action} is not legal for seat {seat} now",
            seat=seat,
            action=int(action),
        )

    def scores(self) -> tuple[int, ...]:
        """The five scores; all zero before the end."""
        return tuple(self.row[layout.SCORES : layout.SCORES + 5].tolist())

    def places(self) -> tuple[int, ...]:
        """The five places, 1 … 5, 0 for those not (yet) taken."""
        return tuple(self.row[layout.PLACES : layout.PLACES + 5].tolist())

    def roles(self) -> tuple[Role, ...] | None:
        """The five roles once the hand was played to its end, else None."""
        roles = self.row[layout.ROLES : layout.ROLES + 5].tolist()
        return None if layout.NONE in roles else tuple(list(Role)[role] for role in roles)

    @property
    def termination(self) -> Termination | None:
        """Why the hand ended; None before its end."""
        if self.row[layout.STEP] != layout.STEP_OVER:
            return None
        return list(Termination)[int(self.row[layout.TERMINATION])]

    def hand(self, seat: Seat) -> Hand:
        """The cards of a seat, in deck order."""
        return hand_of(self.row, seat)

    def marked_card(self, seat: Seat) -> Card | None:
        """As `baohuang.arena.encoding.marked_card`."""
        kind = layout.NONE
        if self.rules.calls:
            if not self.row[layout.SHOWN] or self.rules.called_card_is_top:
                kind = int(self.row[layout.CALLED])
        elif not self.row[layout.SHOWN]:
            kind = layout.GUARD_JOKER
        if kind == layout.NONE or not self.row[layout.HANDS + seat * layout.KINDS + kind]:
            return None
        return CARDS[kind]

    def action(self, number: int, seat: Seat | None = None) -> Action:
        """What an id means now, for `to_act` or another seat; raises `RuleError` as `ActionSpace.decode`."""
        who = self.to_act if seat is None else seat
        return self.space.decode(number, self.hand(who), self.marked_card(who))

    def number(self, action: Action | str, seat: Seat | None = None) -> int:
        """The id of an action, or of its text, for `to_act` or another seat; raises `RuleError` or
        `CardError`.
        """
        who = self.to_act if seat is None else seat
        parsed = Action.parse(action) if isinstance(action, str) else action
        return self.space.encode(parsed, self.marked_card(who))

    def dues(self) -> tuple[Due, ...]:
        """What the table's next hand starts with, once the hand is over (R10.4, R10.5)."""
        return dues_of(self.row)
