"""`Game`: one hand with its events, the friendly face of `baohuang.rules`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from baohuang.record import Record, replay
from baohuang.rules.actions import Action
from baohuang.rules.autoplay import auto_action
from baohuang.rules.cards import Card, Hand, parse_cards
from baohuang.rules.commands import Act, AutoAct, Command, Forfeit, Start, StartAutoPlay, StopAutoPlay
from baohuang.rules.decide import execute
from baohuang.rules.errors import CardError, Reason, RuleError, RuleSetError
from baohuang.rules.events import AutoPlayReason, Event, ForfeitReason, Viewer
from baohuang.rules.legal import legal_actions
from baohuang.rules.outcome import Due, Outcome
from baohuang.rules.roles import Opening, Seat, check_seat
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.state import State, View
from baohuang.rules.views import view


class Game:
    """One hand, from the deal to its outcome.

    Make one with `deal`, `from_hands` or `replay`. Every change goes through the same `decide` and `evolve`
    as on the platform; `state` and `events` are frozen values, safe to keep.
    """

    def __init__(self, events: Iterable[Event], state: State) -> None:
        self._events = list(events)
        self._state = state

    @classmethod
    def start(cls, command: Start) -> Game:
        """A game from a `Start` command with all its fields; raises `RuleError` or `RuleSetError`."""
        return cls(*execute(None, command))

    @classmethod
    def deal(cls, rules: RuleSet, *, seed: int, first_drawer: Seat = 0, dues: Sequence[Due] = ()) -> Game:
        """A game dealt from `seed` (0 … 2**256 − 1), the same hands each time; no commitment is made.

        `dues` are what the last hand left to pay (R10.6). Raises `RuleError` or `RuleSetError`.
        """
        return cls.start(Start(rules, first_drawer, _dues(dues), seed=seed))

    @classmethod
    def from_hands(
        cls,
        rules: RuleSet,
        hands: Sequence[str | Iterable[Card]],
        *,
        first_drawer: Seat = 0,
        opening: Opening | None = None,
        dues: Sequence[Due] = (),
    ) -> Game:
        """A game with given hands by seat, text or cards: any five out of the rule set's deck.

        With `opening` it starts at play. Raises `RuleSetError` for a deal that cannot be played (R2.7).
        """
        if not isinstance(hands, Iterable):
            raise RuleSetError(Reason.BAD_DEAL, "a deal is five hands", clause="R2.7")
        cards = tuple(_hand(hand) for hand in hands)
        return cls.start(Start(rules, first_drawer, _dues(dues), hands=cards, opening=opening))

    @classmethod
    def replay(cls, text: str | bytes) -> Game:
        """The game of a record, checked step by step; raises `RecordError` with the first faulty line."""
        return cls(*replay(Record.loads(text)))

    @property
    def state(self) -> State:
        return self._state

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far; `len(game.events) == game.version`."""
        return tuple(self._events)

    @property
    def version(self) -> int:
        return self._state.version

    @property
    def rules(self) -> RuleSet:
        return self._state.public.rules

    @property
    def to_act(self) -> tuple[Seat, ...]:
        """The seats whose action is awaited, empty when the hand is over."""
        return self._state.to_act

    @property
    def outcome(self) -> Outcome | None:
        """None until the hand is over."""
        return self._state.public.outcome

    def legal_actions(self, seat: Seat) -> list[Action]:
        """The actions of `seat`, equal plays listed once (R11.4); empty when none is awaited from it."""
        check_seat(seat)
        return legal_actions(self._state, seat)

    def apply(self, seat: Seat, action: Action | str) -> tuple[Event, ...]:
        """The events that follow from an action, given as such or as text.

        Raises `RuleError` if the rules forbid it, `CardError` if it is no action.

        Any cards held that form a legal play are accepted, listed or not.
        """
        if isinstance(action, str):
            action = Action.parse(action)
        elif not isinstance(action, Action):
            raise CardError(Reason.MALFORMED_ACTION, f"{str(action)[:40]!r} is no action", clause="R12")
        return self._execute(Act(seat, Action.of(*action)))

    def auto_action(self, seat: Seat) -> Action:
        """What auto-play would do for `seat`, whose action is awaited (R9.1, R9.2)."""
        check_seat(seat)
        if seat not in self.to_act:
            raise RuleError(
                Reason.NOT_YOUR_TURN, f"no action is awaited from seat {seat}", clause="R9.1", seat=seat
            )
        return auto_action(self._state, seat)

    def start_auto_play(self, seat: Seat, why: AutoPlayReason = AutoPlayReason.REQUEST) -> tuple[Event, ...]:
        return self._execute(StartAutoPlay(seat, why))

    def stop_auto_play(self, seat: Seat) -> tuple[Event, ...]:
        """Takes back control; raises `RuleError` from the fourth auto-play of a hand on (R9.3)."""
        return self._execute(StopAutoPlay(seat))

    def auto_act(self, seat: Seat) -> tuple[Event, ...]:
        """Plays R9's action for a seat on auto-play."""
        return self._execute(AutoAct(seat))

    def forfeit(self, seat: Seat, why: ForfeitReason = ForfeitReason.FORCED_EXIT) -> tuple[Event, ...]:
        """The player left by force or was removed: −40 in `penalties` (R8.5); `apply` plays on."""
        return self._execute(Forfeit(seat, why))

    def view(self, viewer: Viewer) -> View:
        """What a seat, or a spectator (None), may know."""
        if viewer is not None:
            check_seat(viewer)
        return view(self._state, viewer)

    def record(self) -> Record:
        return Record(self.events)

    def _execute(self, command: Command) -> tuple[Event, ...]:
        events, self._state = execute(self._state, command)
        self._events += events
        return events


def _dues(dues: object) -> tuple[Due, ...]:
    if not isinstance(dues, Iterable):
        raise RuleSetError(Reason.BAD_DEAL, "dues are Dues in the order of their payment", clause="R10.6")
    return tuple(dues)


def _hand(hand: object) -> Hand:
    if isinstance(hand, str):
        return parse_cards(hand)
    cards = tuple(hand) if isinstance(hand, Iterable) else (hand,)
    if any(type(card) is not Card for card in cards):
        raise CardError(Reason.MALFORMED_CARD, "a hand is a text, or Cards")
    return cards
