"""A game as the script in a page shows it: every step's parts, drawn here, each different one once.

The script draws nothing. A step names only the parts that differ from the step before, by the number of a
fragment of HTML, and the script puts them into the places (slots) that the page has for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from baohuang.phrases import Phrase
from baohuang.rules import events as ev
from baohuang.rules.roles import SEATS, Seat
from services.replay.drawing import (
    draw_hand,
    draw_item,
    draw_middle,
    draw_plate,
    draw_remark,
    draw_said,
    draw_spot,
)
from services.replay.faces import Style
from services.replay.known import KnownGame
from services.replay.look import Look
from services.replay.moments import moment_of, said

SLOTS: Final = (
    "item",
    "said",
    "middle",
    "remark",
    *[f"{part}-{seat}" for part in ("plate", "spot", "hand") for seat in SEATS],
)
"""The parts of a step; `item` is its line in the list."""

_CLOCKWISE: Final = frozenset({"lianzhong-simple", "lianzhong-classic"})


class Frames(msgspec.Struct, frozen=True):
    """The steps `first`, `first + 1` … of a game.

    Each step is a flat list of pairs, a slot's index and a fragment's; the first names all its slots.
    `tricks` are the steps with which tricks begin. `positions` says where each seat is drawn: 0 is near, then
    in playing order.
    """

    game_id: str
    mark: str
    is_running: bool
    first: int
    slots: Sequence[str]
    fragments: Sequence[str]
    steps: Sequence[Sequence[int]]
    tricks: Sequence[int]
    positions: Sequence[int]


def frames_of(game: KnownGame, look: Look, names: Sequence[str] | None = None, *, first: int = 1) -> Frames:
    """The steps from `first` on as they look; the step in `look` plays no part."""
    fragments: dict[str, int] = {}
    steps = []
    last: list[int] = [-1] * len(SLOTS)
    for step in range(first, len(game.steps) + 1):
        here = [fragments.setdefault(part, len(fragments)) for part in parts_of(game, step, look, names)]
        steps.append(
            [number for slot, part in enumerate(here) if part != last[slot] for number in (slot, part)]
        )
        last = here
    return Frames(
        game_id=game.game_id,
        mark=game.mark,
        is_running=game.is_running,
        first=first,
        slots=SLOTS,
        fragments=[str(fragment) for fragment in fragments],
        steps=steps,
        tricks=game.trick_starts,
        positions=positions(look),
    )


def parts_of(game: KnownGame, step: int, look: Look, names: Sequence[str] | None) -> Iterator[str]:
    """What is in each slot at a step."""
    moment = moment_of(game, step, look.language, look.viewpoint(game), names)
    style = style_of(game, look)
    yield item_of(game, step, look, moment.said)
    yield draw_said(moment.said, style)
    yield draw_middle(moment.middle, style)
    yield draw_remark(moment.remark, style)
    for plate in moment.plates:
        yield draw_plate(plate, style)
    for spot in moment.spots:
        yield draw_spot(spot, style)
    near = positions(look).index(0)
    for plate, hand in zip(moment.plates, moment.hands, strict=True):
        yield draw_hand(hand, plate.count, moment.called, style, is_near=plate.seat == near)


def items_of(game: KnownGame, look: Look, current: int) -> list[str]:
    """The list of steps, the current one marked; the script marks it itself."""
    viewpoint = look.viewpoint(game)
    return [
        item_of(game, step, look, said(game.seen(step, viewpoint), look.language), is_current=step == current)
        for step in range(1, len(game.steps) + 1)
    ]


def item_of(
    game: KnownGame, step: int, look: Look, told: tuple[Phrase, ...], *, is_current: bool = False
) -> str:
    """The line of a step in the list of steps."""
    first = game.events[game.steps[step - 1].first - 1]
    move: Seat | None = None
    if isinstance(first, ev.Played | ev.Passed):
        move = first.seat
    return draw_item(
        step,
        f"?{look.but(step=step).query()}",
        told,
        style_of(game, look),
        trick=game.trick_starts.index(step) + 1 if step in game.trick_starts else 0,
        move=move,
        cards=first.cards if isinstance(first, ev.Played) else (),
        is_current=is_current,
    )


def style_of(game: KnownGame, look: Look) -> Style:
    """How the cards of a game are drawn."""
    return Style(look.language, not game.rules.calls)


def positions(look: Look) -> tuple[int, ...]:
    """Where each seat is drawn, 0 near and then in playing order."""
    near = look.view.seat or 0
    return tuple([(seat - near) % 5 for seat in SEATS])


def is_clockwise(preset: str) -> bool:
    """In which direction the seats of a rule set are drawn (R2.4)."""
    return preset in _CLOCKWISE
