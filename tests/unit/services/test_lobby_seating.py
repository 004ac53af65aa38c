"""Decisions about seats, on plain values: whatever is done in whatever order, a table stays one."""

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.errors import PlatformError
from services.lobby import seating
from services.lobby.callers import Caller
from services.lobby.seating import FREE, Place, Seating

PEOPLE = [
    Caller(f"p{number}", f"P{number}", number == 6, f"t{number}", frozenset({"play"})) for number in range(7)
]


def table(**fields):
    return Seating("t", "gathering", "p0", True, (Place("p0"), FREE, FREE, FREE, FREE), **fields)


def commands():
    people, seats = st.sampled_from(PEOPLE), st.integers(0, 4)
    return st.lists(
        st.one_of(
            st.tuples(st.just(seating.join), people, st.one_of(st.none(), seats)),
            st.tuples(st.just(seating.seat_bot), people, seats, st.sampled_from(["greedy", "nobody"])),
            st.tuples(st.just(seating.unseat_bot), people, seats),
            st.tuples(st.just(seating.start), people, st.just("random")),
            st.tuples(
                st.just(lambda before, who, ready: seating.set_ready(before, who.player_id, ready)),
                people,
                st.booleans(),
            ),
            st.tuples(st.just(lambda before, who: seating.free(before, who.player_id)), people),
        ),
        max_size=25,
    )


@given(commands())
def test_whatever_is_done_a_table_stays_a_table(steps):
    state = table()
    for command, *arguments in steps:
        before = state
        with contextlib.suppress(PlatformError):
            state = command(state, *arguments)
        assert len(state.places) == 5
        assert len(set(state.players)) == len(state.players), "a player sits twice"
        assert not any(place.player_id and place.bot for place in state.places)
        assert state.host_id in (None, *state.players), "a host who left"
        changed = [seat for seat in range(5) if before.places[seat] != state.places[seat]]
        if command is not seating.start:
            assert len(changed) <= 1, "a command moves one seat"


@pytest.mark.parametrize("status", ["starting", "playing", "finished", "dissolved", "failed"])
def test_seats_change_only_while_a_table_gathers(status):
    state = replace(table(), status=status)
    for command in (
        lambda: seating.join(state, PEOPLE[1], None),
        lambda: seating.seat_bot(state, PEOPLE[0], 1, "greedy"),
        lambda: seating.unseat_bot(state, PEOPLE[0], 1),
        lambda: seating.start(state, PEOPLE[0], "greedy"),
    ):
        with pytest.raises(PlatformError) as refused:
            command()
        assert (refused.value.reason, refused.value.details) == ("WRONG_PHASE", {"status": status})
