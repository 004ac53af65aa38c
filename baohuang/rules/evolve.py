"""`evolve` and `fold`: the state after an event, or several. They trust them; `decide` has judged them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, overload

from baohuang.rules import events as ev
from baohuang.rules.actions import ActionKind
from baohuang.rules.cards import EMPEROR_JOKER, GUARD_JOKER, without
from baohuang.rules.events import Event, Step
from baohuang.rules.roles import SEATS, Seat
from baohuang.rules.ruleset import OpenGuard, Rebellion, Throne
from baohuang.rules.state import (
    ClearedDebt,
    HiddenState,
    Move,
    PublicState,
    State,
    TablePlay,
    change,
    known,
    next_in_play,
    put,
)


def evolve(state: State | None, event: Event) -> State:
    """The state after `event`; only `GameStarted` may come first (`state` None)."""
    if isinstance(event, ev.GameStarted):
        return _started(event)
    before = known(state)
    public, hidden = _EVOLVE[type(event)](before, event)
    return State(before.version + 1, public, hidden)


@overload
def fold(events: Iterable[Event], state: State) -> State: ...
@overload
def fold(events: Iterable[Event], state: State | None = None) -> State | None: ...
def fold(events: Iterable[Event], state: State | None = None) -> State | None:
    """The state after `state` (None: before the first event) and these events, in order.

    None only if there was no state and no event. As `evolve` it trusts the events.
    """
    for event in events:
        state = evolve(state, event)
    return state


_After = tuple[PublicState, HiddenState]


def _seen(state: State, **changes: Any) -> PublicState:
    """The public state after an event that everybody sees."""
    version = state.version + 1
    return change(state.public, version=version, opened_version=version, **changes)


def _noted(state: State, **changes: Any) -> PublicState:
    """The public state after an event that everybody sees and that leaves the awaited decision as it was."""
    return change(state.public, version=state.version + 1, **changes)


def _started(event: ev.GameStarted) -> State:
    public = PublicState(
        rules=event.rules,
        first_drawer=event.first_drawer,
        dues=event.dues,
        commitment=event.commitment,
        version=1,
        opened_version=1,
        given_deal=event.seed is None and event.commitment is None,
    )
    return State(1, public, HiddenState(seed=event.seed, salt=event.salt))


def _nonce_added(state: State, event: ev.NonceAdded) -> _After:
    return _seen(state, nonces=put(state.public.nonces, event.seat, event.nonce)), state.hidden


def _dealt(state: State, event: ev.Dealt) -> _After:
    hands = tuple(hand or () for hand in event.hands)
    old = state.public
    # What a refused deal left behind is gone; auto-play and forfeits last for the whole hand.
    fresh = PublicState(old.rules, old.first_drawer, old.dues, old.commitment)
    public = change(
        fresh,
        version=state.version + 1,
        opened_version=state.version + 1,
        nonces=old.nonces,
        auto_play=old.auto_play,
        auto_play_starts=old.auto_play_starts,
        forfeited=old.forfeited,
        given_deal=event.deck is not None,
        deck=event.deck or old.rules.deck,
        redeal=event.redeal,
        counts=tuple(map(len, hands)),
    )
    return _open_throne(public, HiddenState(state.hidden.seed, state.hidden.salt, hands))


def _opening_given(state: State, event: ev.OpeningGiven) -> _After:
    given = event.opening
    rules = state.public.rules
    solo = given.guard == given.emperor
    public = _seen(
        state,
        emperor=given.emperor,
        called=given.called,
        open_solo=given.open_solo,
        open_guard=given.open_guard,
        rebels=given.rebels,
        rebellion=rebellion_stands(rules.rebellion, len(given.rebels)),
        counters=given.counters,
        recounters=given.recounters,
    )
    hidden = change(state.hidden, guard=given.guard)
    public = change(public, counter=_counter_stands(public, hidden, Step.COUNTER, given.counters))
    public = change(
        public, recounter=not solo and _counter_stands(public, hidden, Step.RECOUNTER, given.recounters)
    )
    return _start_play(public, hidden)


def _card_given(state: State, event: ev.CardGiven) -> _After:
    public, hidden = state.public, state.hidden
    card = known(event.card)
    hands = put(hidden.hands, event.giver, without(hidden.hands[event.giver], (card,)))
    hands = put(hands, event.receiver, tuple(sorted((*hands[event.receiver], card))))
    hidden = change(hidden, hands=hands, gifts=(*hidden.gifts, event))
    public = _seen(state, counts=tuple(map(len, hands)))
    if public.rules.tribute_return and not event.returned:
        receivers = {gift.receiver for gift in hidden.gifts}
        return _ask_all(public, hidden, Step.TRIBUTE, tuple(sorted(receivers)))
    return public, hidden


def _throne_answered(state: State, event: ev.ThroneAnswered) -> _After:
    public, hidden = state.public, state.hidden
    seat, hands = event.seat, hidden.hands
    asked = () if event.asked is None else (event.asked,)
    laid = event.laid or ()
    yields = public.yields + (event.answer in (ActionKind.YIELD, ActionKind.DECLINE))
    carried = hidden.carried
    if laid:
        hands = put(hands, seat, without(hands[seat], laid))
        carried += laid
    if event.answer is ActionKind.TAKE:
        hands = put(hands, seat, tuple(sorted(hands[seat] + carried)))
        if public.rules.throne is Throne.OFFER:
            giver = known(public.first_holder)
            hands = put(hands, giver, without(hands[giver], (EMPEROR_JOKER,)))
            hands = put(hands, seat, (*hands[seat], EMPEROR_JOKER))
    elif (
        event.answer is ActionKind.YIELD
        and public.rules.throne is Throne.UPSTREAM
        and event.asked is not None
    ):
        hands = put(hands, seat, without(hands[seat], (EMPEROR_JOKER,)))
        hands = put(hands, event.asked, (*hands[event.asked], EMPEROR_JOKER))
    taken = event.answer is ActionKind.TAKE
    seen = _seen(
        state,
        to_act=asked,
        holder=seat if event.asked is None else event.asked,
        yields=yields,
        counts=tuple(map(len, hands)),
        carried_count=0 if taken else public.carried_count + event.laid_count,
    )
    return seen, change(
        hidden, hands=hands, carried=carried, laid=put(hidden.laid, seat, hidden.laid[seat] + laid)
    )


def _enthroned(state: State, event: ev.Enthroned) -> _After:
    rules, hidden = state.public.rules, state.hidden
    if state.public.step is Step.CLAIM:
        public = _seen(state, emperor=event.emperor, called=None, open_solo=True)
        return _after_open_solo(public, change(hidden, guard=event.emperor))
    public = _seen(state, emperor=event.emperor, holder=event.emperor)
    if rules.calls:
        return change(public, step=Step.CALL, to_act=(event.emperor,)), hidden
    guard = next(seat for seat in SEATS if GUARD_JOKER in hidden.hands[seat])
    return _after_roles(public, change(hidden, guard=guard))


def _call_answered(state: State, event: ev.CallAnswered) -> _After:
    if event.card is None:
        return _after_open_solo(_seen(state, open_solo=True), change(state.hidden, guard=event.seat))
    guard = next(
        (seat for seat in SEATS if seat != event.seat and event.card in state.hidden.hands[seat]), event.seat
    )
    return _after_roles(_seen(state, called=event.card), change(state.hidden, guard=guard))


def _answered(state: State, event: ev.Answered) -> _After:
    public, hidden = state.public, state.hidden
    answers = put(hidden.answers, event.seat, (*hidden.answers[event.seat], known(event.action)))
    wanted = 1
    if event.step is Step.TRIBUTE:
        wanted = sum(gift.receiver == event.seat and not gift.returned for gift in hidden.gifts)
    if len(answers[event.seat]) < wanted:
        return public, change(hidden, answers=answers)
    pending = tuple([seat for seat in hidden.pending if seat != event.seat])
    # The public version stands still: an open step looks the same to everyone else (R5.0).
    return (
        change(public, answered=tuple(sorted((*public.answered, event.seat)))),
        change(hidden, answers=answers, pending=pending),
    )


def _step_closed(state: State, event: ev.StepClosed) -> _After:
    hidden = change(state.hidden, answers=((),) * 5)
    public = _seen(state, to_act=(), answered=())
    by_kind: dict[ActionKind, tuple[Seat, ...]] = {}
    for seat, kind in event.declared:
        by_kind[kind] = (*by_kind.get(kind, ()), seat)
    match event.step:
        case Step.TRIBUTE:
            return _open_throne(public, hidden)
        case Step.CLAIM:
            return (public, hidden) if event.stands else _after_claims(public, hidden)
        case Step.DECLARE:
            rebels = by_kind.get(ActionKind.REBEL, ())
            rebellion = rebellion_stands(public.rules.rebellion, len(rebels))
            public = change(
                public, open_guard=ActionKind.GUARD in by_kind, rebels=rebels, rebellion=rebellion
            )
            return _ask_counter(public, hidden) if event.stands else _start_play(public, hidden)
        case Step.COUNTER:
            counters = by_kind.get(ActionKind.COUNTER, ())
            public = change(public, counters=counters, counter=event.stands)
            if event.stands and hidden.guard != public.emperor:
                return _ask_all(
                    public, hidden, Step.RECOUNTER, countering_side(public, hidden.guard, Step.RECOUNTER)
                )
            return _start_play(public, hidden)
        case _:
            recounters = by_kind.get(ActionKind.COUNTER, ())
            return _start_play(change(public, recounters=recounters, recounter=event.stands), hidden)


def _guard_revealed(state: State, event: ev.GuardRevealed) -> _After:
    return _seen(state, guard=event.guard), state.hidden


def _played(state: State, event: ev.Played) -> _After:
    public, hidden = state.public, state.hidden
    seat = event.seat
    hand = without(hidden.hands[seat], event.cards)
    shape = known(public.rules.find_shape(event.cards, public.called))
    seen = change(
        public,
        version=state.version + 1,
        opened_version=state.version + 1,
        to_act=(next_in_play(public, seat),),
        counts=put(public.counts, seat, len(hand)),
        table=TablePlay(seat, event.cards, shape),
        passes=0,
        trick=(*public.trick, Move(seat, event.cards)),
    )
    return seen, change(hidden, hands=put(hidden.hands, seat, hand))


def _passed(state: State, event: ev.Passed) -> _After:
    public, seat = state.public, event.seat
    seen = change(
        public,
        version=state.version + 1,
        opened_version=state.version + 1,
        to_act=(next_in_play(public, seat),),
        passes=public.passes + 1,
        trick=(*public.trick, Move(seat, ())),
    )
    return seen, state.hidden


def _went_out(state: State, event: ev.WentOut) -> _After:
    return _seen(state, places=put(state.public.places, event.seat, event.place)), state.hidden


def _cleared(state: State, event: ev.Cleared) -> _After:
    public = _seen(
        state,
        places=put(state.public.places, event.seat, event.place),
        cleared=(*state.public.cleared, ClearedDebt(event.seat, event.by)),
    )
    if None in public.places:
        public = change(public, to_act=(next_in_play(public, event.by),))
    return public, state.hidden


def _trick_ended(state: State, event: ev.TrickEnded) -> _After:
    tricks = (*state.public.tricks, state.public.trick)
    return _seen(state, to_act=(event.leader,), table=None, passes=0, trick=(), tricks=tricks), state.hidden


def _auto_play_started(state: State, event: ev.AutoPlayStarted) -> _After:
    starts = state.public.auto_play_starts
    public = _noted(
        state,
        auto_play=put(state.public.auto_play, event.seat, True),
        auto_play_starts=put(starts, event.seat, starts[event.seat] + 1),
    )
    return public, state.hidden


def _auto_play_ended(state: State, event: ev.AutoPlayEnded) -> _After:
    return _noted(state, auto_play=put(state.public.auto_play, event.seat, False)), state.hidden


def _seat_forfeited(state: State, event: ev.SeatForfeited) -> _After:
    public = _noted(
        state,
        forfeited=put(state.public.forfeited, event.seat, True),
        auto_play=put(state.public.auto_play, event.seat, False),
    )
    return public, state.hidden


def _hand_ended(state: State, event: ev.HandEnded) -> _After:
    places = event.outcome.places or state.public.places
    public = _seen(
        state,
        step=Step.OVER,
        to_act=(),
        answered=(),
        places=places,
        guard=state.hidden.guard,
        outcome=event.outcome,
    )
    return public, change(state.hidden, pending=())


_EVOLVE: Final[dict[type[Event], Callable[[State, Any], _After]]] = {
    ev.NonceAdded: _nonce_added,
    ev.Dealt: _dealt,
    ev.OpeningGiven: _opening_given,
    ev.CardGiven: _card_given,
    ev.ThroneAnswered: _throne_answered,
    ev.Enthroned: _enthroned,
    ev.CallAnswered: _call_answered,
    ev.Answered: _answered,
    ev.StepClosed: _step_closed,
    ev.GuardRevealed: _guard_revealed,
    ev.Played: _played,
    ev.Passed: _passed,
    ev.WentOut: _went_out,
    ev.Cleared: _cleared,
    ev.TrickEnded: _trick_ended,
    ev.AutoPlayStarted: _auto_play_started,
    ev.AutoPlayEnded: _auto_play_ended,
    ev.SeatForfeited: _seat_forfeited,
    ev.HandEnded: _hand_ended,
}


# The order of the opening (R5.0): each step goes to the next that the rule set and the hand need.


def _open_throne(public: PublicState, hidden: HiddenState) -> _After:
    first: Seat | None = public.first_drawer
    if public.rules.throne is not Throne.BOTTOM_CARDS:
        first = next((seat for seat in SEATS if EMPEROR_JOKER in hidden.hands[seat]), None)
    # A fixed throne is not asked for: `Enthroned` follows at once. So does a given opening.
    asked = () if first is None or public.rules.throne is Throne.FIXED else (first,)
    return change(public, step=Step.THRONE, to_act=asked, first_holder=first, holder=first), hidden


def _after_roles(public: PublicState, hidden: HiddenState) -> _After:
    if public.rules.asks_claims:
        return _ask_all(public, hidden, Step.CLAIM, SEATS)
    return _after_claims(public, hidden)


def _after_claims(public: PublicState, hidden: HiddenState) -> _After:
    if public.rules.open_guard is OpenGuard.NONE and public.rules.rebellion is Rebellion.NONE:
        return _start_play(public, hidden)
    return _ask_all(public, hidden, Step.DECLARE, SEATS)


def _after_open_solo(public: PublicState, hidden: HiddenState) -> _After:
    # No open guard and no rebellion after an open solo, only the counter (R5.7).
    return _ask_counter(change(public, guard=public.emperor), hidden)


def _ask_counter(public: PublicState, hidden: HiddenState) -> _After:
    if not public.rules.counters:
        return _start_play(public, hidden)
    return _ask_all(public, hidden, Step.COUNTER, countering_side(public, hidden.guard, Step.COUNTER))


def _ask_all(public: PublicState, hidden: HiddenState, step: Step, seats: tuple[Seat, ...]) -> _After:
    return (
        change(public, step=step, to_act=seats, answered=()),
        change(hidden, pending=seats, answers=((),) * 5),
    )


def _start_play(public: PublicState, hidden: HiddenState) -> _After:
    return change(public, step=Step.PLAY, to_act=(known(public.emperor),)), change(hidden, pending=())


def rebellion_stands(rebellion: Rebellion, declared: int) -> bool:
    """Whether a rebellion that `declared` rebels have declared stands (R5.9)."""
    return declared >= (2 if rebellion is Rebellion.DOUBLES else 1)


def countering_side(public: PublicState, guard: Seat | None, step: Step) -> tuple[Seat, ...]:
    """Who may counter, or recounter (R5.10, R5.11)."""
    royal = (public.emperor, guard)
    # The royal side's declaration (an open solo, an open guard) is countered by the rebels, a rebellion
    # alone by the royals.
    royals_declared = public.open_solo or public.open_guard
    rebels_answer = royals_declared is (step is Step.COUNTER)
    return tuple([seat for seat in SEATS if (seat not in royal) is rebels_answer])


def needed_to_counter(public: PublicState, guard: Seat | None, step: Step) -> int:
    """How many must counter (or recounter) for it to stand: one of the royal side, two rebels (R5.11)."""
    return 1 if public.emperor in countering_side(public, guard, step) else 2


def _counter_stands(public: PublicState, hidden: HiddenState, step: Step, declared: tuple[Seat, ...]) -> bool:
    return bool(declared) and len(declared) >= needed_to_counter(public, hidden.guard, step)
