"""Golden playthroughs: every public answer at every step of a fixed hand.

`python -m tests.golden.renew` writes them anew; look at what git then shows before committing it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path

from baohuang import PRESETS, Action, Game, Outcome, RuleSet, format_cards
from baohuang.rules.cards import Card
from baohuang.rules.events import Event, Viewer, redact
from baohuang.rules.outcome import Due
from baohuang.rules.roles import Opening

FOLDER = Path(__file__).parent
LONGEST_LIST = 6
"""Legal actions that are written out; of more, only their number."""

PLAYTHROUGHS: dict[str, tuple[RuleSet, int]] = {
    **{name: (rules, 1) for name, rules in PRESETS.items()},
    "jiaodong-must-play": (RuleSet.preset("jiaodong", all_refuse="must_play", kaopai=True), 16),
    "marked-guard-three-twos": (RuleSet.preset("marked-guard", three_twos_beat_big_joker=True), 2),
    "lianzhong-simple-kaopai": (RuleSet.preset("lianzhong-simple", kaopai=True, hold_back_sixes=True), 3),
    "lianzhong-classic-top": (
        RuleSet.preset("lianzhong-classic", called_card_is_top=True, show_counts="never"),
        4,
    ),
    "shandong-folk-plain": (
        RuleSet.preset("shandong-folk", hold_back_threes=False, show_counts="at_most_10"),
        5,
    ),
}
"""Rule set and seed of each file."""


def choice(seed: int, step: int, number: int) -> int:
    """A number below `number` that is the same on every machine and in every version."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{step}".encode()).digest()[:8], "big") % number


def digest(game: Game, viewer: Viewer) -> str:
    """What a viewer sees, as eight digits. Options, which never change, are left out."""
    view = game.view(viewer)
    shown = repr(replace(view, public=replace(view.public, rules=None)))  # type: ignore[arg-type]
    return hashlib.sha256(shown.encode()).hexdigest()[:8]


def show(value: object) -> str:
    """A field of an event as text."""
    match value:
        case None:
            return "-"
        case Action() | Card() | StrEnum() | int() | str() | bytes() | RuleSet():
            return str(value)
        case Due():
            return f"{value.kind} {value.giver}->{value.receiver}"
        case Outcome() | Opening():
            return (
                "{"
                + ", ".join(f"{field.name}={show(getattr(value, field.name))}" for field in fields(value))
                + "}"
            )
        case tuple() if value and all(isinstance(card, Card) for card in value):
            return format_cards(value)
        case tuple():
            return "(" + ", ".join(map(show, value)) + ")"
    raise TypeError(f"no text for {value!r}")


def show_event(event: Event) -> str:
    """An event with all its fields."""
    parts = [f"{field.name}={show(getattr(event, field.name))}" for field in fields(event)]
    return " ".join([type(event).__name__, *parts])


def event_lines(events: tuple[Event, ...]) -> Iterator[str]:
    """The events, and where it differs what a spectator gets of them."""
    for event in events:
        yield f"  {show_event(event)}"
        seen = redact(event, None)
        if seen != event:
            yield f"    spectator: {show_event(seen)}"


def position_lines(game: Game) -> Iterator[str]:
    """Where the game stands, and what each seat may do."""
    public = game.view(None).public
    yield (
        f"{game.version}: {public.step} to_act={show(game.to_act)}"
        f" public={show(public.to_act)}@{public.version} counts={show(public.counts)}"
        f" views={' '.join(digest(game, viewer) for viewer in (None, 0, 1, 2, 3, 4))}"
    )
    for seat in game.to_act:
        legal = game.legal_actions(seat)
        listed = " | ".join(map(str, legal)) if len(legal) <= LONGEST_LIST else f"{len(legal)} actions"
        yield f"  seat {seat}: {listed}; auto {game.auto_action(seat)}"


def transcript(rules: RuleSet, seed: int) -> str:
    """The whole hand as text."""
    game = Game.deal(rules, seed=seed, first_drawer=seed % 5)
    lines = [f"{rules}, seed {seed}", *event_lines(game.events)]
    step = 0
    while game.to_act:
        lines += position_lines(game)
        seat = game.to_act[choice(seed, 2 * step, len(game.to_act))]
        legal = game.legal_actions(seat)
        action = legal[choice(seed, 2 * step + 1, len(legal))]
        lines.append(f"> {seat} {action}")
        lines += event_lines(game.apply(seat, action))
        step += 1
    lines += position_lines(game)
    return "\n".join(lines) + "\n"


def path_of(name: str) -> Path:
    """The file of a playthrough."""
    return FOLDER / f"{name}.txt"


def main() -> None:
    """Writes all playthroughs and removes files that belong to none."""
    for path in FOLDER.glob("*.txt"):
        if path.stem not in PLAYTHROUGHS:
            path.unlink()
    for name, (rules, seed) in PLAYTHROUGHS.items():
        path_of(name).write_text(transcript(rules, seed), "utf-8")


if __name__ == "__main__":
    main()
