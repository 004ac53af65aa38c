"""Playing and passing, and what follows: going out, clearing, wind, the end (R3, R6, R10.4)."""

from __future__ import annotations

from baohuang.rules import events as ev
from baohuang.rules.cards import GUARD_JOKER, THREE, Hand, format_cards, holds
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.flow import Flow
from baohuang.rules.plays import check_held_back
from baohuang.rules.roles import SEATS, Seat, Solo, downstream
from baohuang.rules.scoring import played_outcome
from baohuang.rules.state import State, in_play, known, next_in_play
from baohuang.rules.throne import end_hand


def play_cards(flow: Flow, seat: Seat, cards: Hand) -> None:
    """The play of `seat`, whose turn it is; raises `RuleError` if it is not legal."""
    state = flow.state
    public, hand = state.public, state.hidden.hands[seat]
    _check_play(state, seat, cards)
    beaten = public.table
    flow.emit(ev.Played(seat, cards))
    if public.guard is None:
        _reveal_by_play(flow, seat, cards)
    ended = False
    if len(cards) == len(hand):
        flow.emit(ev.WentOut(seat, _first_free(flow.state)))
        ended = True
    if beaten is not None and public.rules.hold_back_threes and public.places[beaten.seat] is None:
        left = state.hidden.hands[beaten.seat]
        if left[-1].rank == THREE:
            flow.emit(ev.Cleared(beaten.seat, _last_free(flow.state), by=seat))
            ended = True
    if ended and _is_decided(flow.state):
        end_hand(flow, played_outcome(flow.state, _fill_places(flow.state, seat)))


def pass_turn(flow: Flow, seat: Seat) -> None:
    """A pass of `seat`, whose turn it is; ends the trick when all others have passed in a row (R3.4)."""
    table = flow.state.public.table
    if table is None:
        raise RuleError(
            Reason.LEADER_CANNOT_PASS, f"seat {seat} leads and must play", clause="R3.2", seat=seat
        )
    flow.emit(ev.Passed(seat))
    public = flow.state.public
    others = public.places.count(None) - (public.places[table.seat] is None)
    if public.passes >= others:
        out = public.places[table.seat] is not None
        leader = next_in_play(public, table.seat) if out else table.seat
        flow.emit(ev.TrickEnded(table.seat, leader))


def _check_play(state: State, seat: Seat, cards: Hand) -> None:
    public, hand = state.public, state.hidden.hands[seat]
    if not holds(hand, cards):
        raise RuleError(
            Reason.CARDS_NOT_HELD,
            f"play {format_cards(cards)}: seat {seat} does not hold all these cards",
            clause="R3.1",
            cards=format_cards(cards),
        )
    shape = public.rules.require_shape(cards, public.called)
    check_held_back(public.rules, hand, cards)
    table = public.table
    if table is not None and not public.rules.cover.beats(shape, table.shape):
        raise RuleError(
            Reason.DOES_NOT_BEAT,
            f"{format_cards(cards)} does not beat {format_cards(table.cards)} of seat {table.seat}",
            clause="R4.1",
            cards=format_cards(cards),
            table=format_cards(table.cards),
        )


def _reveal_by_play(flow: Flow, seat: Seat, cards: Hand) -> None:
    """The guard joker, a called card, or a solo emperor's fourth copy of it shows who is guard (R11.2)."""
    public, hidden = flow.state.public, flow.state.hidden
    guard, emperor = known(hidden.guard), known(public.emperor)
    if public.rules.calls:
        called = public.called
        shows = called in cards and seat == guard and (seat != emperor or called not in hidden.hands[seat])
    else:
        shows = GUARD_JOKER in cards
    if shows:
        flow.emit(ev.GuardRevealed(emperor, guard))


def _first_free(state: State) -> int:
    return next(place for place in (1, 2, 3, 4, 5) if place not in state.public.places)


def _last_free(state: State) -> int:
    return next(place for place in (5, 4, 3, 2, 1) if place not in state.public.places)


def _is_decided(state: State) -> bool:
    """Whether the hand is over (R6.3, R6.4, R10.4)."""
    public, solo = state.public, state.solo
    playing = in_play(public)
    emperor, guard = public.emperor, state.hidden.guard
    if solo is Solo.NONE:
        royal = (emperor, guard)
        return not any(seat in royal for seat in playing) or all(seat in royal for seat in playing)
    if emperor not in playing or playing == (emperor,):
        return True
    cleared = [debt.giver for debt in public.cleared]
    out = [seat for seat in SEATS if seat not in playing and seat not in cleared]
    return len(out) >= (1 if solo is Solo.OPEN else 2)


def _fill_places(state: State, last: Seat) -> tuple[int, ...]:
    """All five places: free ones go to the remaining players in seat order downstream from `last` (R6.3)."""
    places = list(state.public.places)
    free = [place for place in (1, 2, 3, 4, 5) if place not in places]
    for steps in (1, 2, 3, 4, 5):
        seat = downstream(last, steps)
        if places[seat] is None:
            places[seat] = free.pop(0)
    return tuple([place for place in places if place is not None])
