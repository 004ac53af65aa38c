"""When a process that ended is started again, and when no more."""

import pytest

from services.local.restarts import FORGIVEN_AFTER_SECONDS, MOST_RESTARTS, GaveUp, Restarts


def test_waits_grow_until_it_gives_up() -> None:
    restarts = Restarts()
    waits = []
    for now in range(MOST_RESTARTS):
        restarts.note_start("engine", now)
        waits.append(restarts.after_end("engine", now + 0.5))
    assert waits == [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 16.0)]
    restarts.note_start("engine", 10)
    with pytest.raises(GaveUp, match="engine was started again 5 times and ended each time"):
        restarts.after_end("engine", 11)


def test_one_that_ran_for_a_while_begins_anew() -> None:
    restarts = Restarts()
    for _ in range(3):
        restarts.note_start("bots", 0)
        restarts.after_end("bots", 1)
    restarts.note_start("bots", 0)
    assert restarts.after_end("bots", FORGIVEN_AFTER_SECONDS) == (1, 1.0)
    restarts.note_start("bots", 0)
    assert restarts.after_end("bots", FORGIVEN_AFTER_SECONDS - 1) == (2, 2.0)


def test_each_process_has_its_own_count() -> None:
    restarts = Restarts()
    for name in ("engine", "lobby"):
        restarts.note_start(name, 0)
        assert restarts.after_end(name, 1) == (1, 1.0)
