"""Building the events of one command, each on the state that the ones before it made."""

from __future__ import annotations

from baohuang.rules.events import Event
from baohuang.rules.evolve import evolve
from baohuang.rules.state import State


class Flow:
    """The events of a command so far and the state after them."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)
        self.state = evolve(self.state, event)
