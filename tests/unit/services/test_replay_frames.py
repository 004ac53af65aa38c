"""Frames for the script: the same parts as the server draws, each once, put together step by step."""

import pytest

from baohuang import Action, Game, Opening, RuleSet
from baohuang.bots.choice import Candidate, Choice
from baohuang.rules.actions import PASS
from baohuang.rules.events import Played
from baohuang.words import Language
from services.replay.frames import SLOTS, Frames, frames_of, parts_of, positions
from services.replay.known import KnownGame
from services.replay.look import SEAT_VIEWS, Look, Reveal, View
from tests.integration.replay.scene import ALL_PRESETS, play, played_game

LOOKS = [
    Look(Language.ENGLISH),
    Look(Language.CHINESE, view=View.SEAT_3, reveal=Reveal.NO),
    Look(Language.ENGLISH, view=View.SEAT_1, reveal=Reveal.YES),
]


def unfolded(frames: Frames) -> list[list[str]]:
    """The parts of each step, as the script puts them together."""
    here = [-1] * len(frames.slots)
    steps = []
    for changes in frames.steps:
        for slot, part in zip(changes[::2], changes[1::2], strict=True):
            here[slot] = part
        steps.append([frames.fragments[part] for part in here])
    return steps


@pytest.mark.parametrize("look", LOOKS, ids=["all", "seat", "revealed"])
@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_frames_put_together_are_what_the_server_draws(preset: str, look: Look) -> None:
    game = KnownGame("g", played_game(preset).events)
    for first in (1, 40, len(game.steps)):
        frames = frames_of(game, look, first=first)
        assert frames.first == first
        assert tuple(frames.slots) == SLOTS
        assert len(set(frames.fragments)) == len(frames.fragments)
        assert unfolded(frames) == [
            list(parts_of(game, step, look, None)) for step in range(first, len(game.steps) + 1)
        ]


def test_a_viewer_sits_near_and_the_others_in_playing_order() -> None:
    assert positions(Look(Language.ENGLISH)) == (0, 1, 2, 3, 4)
    assert positions(Look(Language.ENGLISH, view=View.SEAT_3)) == (2, 3, 4, 0, 1)


def test_a_guard_joker_is_marked_only_where_it_makes_the_guard() -> None:
    for preset, is_marked in (("lianzhong-simple", True), ("lianzhong-classic", False)):
        game = KnownGame("g", played_game(preset).events)
        assert ("guard-joker" in "".join(frames_of(game, LOOKS[0]).fragments)) is is_marked


def test_a_hidden_solo_is_told_to_the_emperor_alone() -> None:
    rules = RuleSet.preset("jiaodong")
    hands = ["EJ GJ 9s 9h", "7c Ac", "8h Ks", "Qc Qd", "Ts Th"]
    game = Game.from_hands(rules, hands, opening=Opening(emperor=0, guard=0))
    play(game, 1)
    known = KnownGame("g", game.events)
    for view, is_told in ((View.PUBLIC, False), (View.SEAT_0, True), (View.SEAT_1, False)):
        parts = "".join(parts_of(known, 1, Look(Language.CHINESE, view=view, reveal=Reveal.NO), None))
        assert ("暗独" in parts) is is_told
    assert "暗独" in "".join(parts_of(known, 1, Look(Language.CHINESE), None))


def test_what_a_bot_wrote_is_read_by_itself_and_by_who_sees_everything() -> None:
    events = played_game("marked-guard").events
    number = next(number for number, event in enumerate(events, 1) if isinstance(event, Played))
    seat = events[number - 1].seat  # type: ignore[attr-defined]
    choice = Choice(
        PASS, "<i>mine are 6c 7c</i>", (Candidate(PASS, 0.25), Candidate(Action.parse("play 7c"), -1))
    )
    game = KnownGame("g", events, remarks={number: choice})
    step = game.step_of(number)

    def remark(view: View, reveal: Reveal) -> str:
        look = Look(Language.ENGLISH, view=view, reveal=reveal)
        return list(parts_of(game, step, look, None))[SLOTS.index("remark")]

    told = remark(View.PUBLIC, Reveal.YES)
    for words in (f"What Seat {seat} wrote", "&lt;i&gt;mine are 6c 7c", "passes", "0.25", "-1"):
        assert words in told
    assert remark(SEAT_VIEWS[seat], Reveal.NO) == told
    assert remark(SEAT_VIEWS[(seat + 1) % 5], Reveal.NO) == remark(View.PUBLIC, Reveal.NO) == ""
    running = KnownGame("g", events[:number], remarks={number: choice})
    assert running.remark(running.step_of(number)) is None
