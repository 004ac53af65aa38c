"""Nothing that is sent tells secrets: worlds that differ only in them look the same to the byte (R11.3)."""

import random
from collections.abc import Iterator
from itertools import takewhile
from unittest.mock import patch

import msgspec
import pytest

from baohuang import Game, Record, RuleError, RuleSet
from baohuang.rules.cards import SMALL_JOKER, Card, Hand
from baohuang.rules.events import Answered, Dealt, Event, HandEnded, redact
from baohuang.rules.roles import SEATS
from baohuang.words import Language
from services.replay.frames import frames_of, parts_of
from services.replay.games import GameSummary
from services.replay.known import REVEALED, SPECTATOR, KnownGame, Viewpoint
from services.replay.library import Shelved
from services.replay.live import news_of
from services.replay.look import SEAT_VIEWS, Look, Reveal, View
from services.replay.sittings import Sitting
from services.replay.viewer import render_replay
from tests.integration.replay.scene import ALL_PRESETS, Move, play
from tests.property.twins import Twins

SUMMARY = GameSummary("game", "jiaodong", {}, 0)
LOOKS = [Look(language) for language in Language]


def shown(events: tuple[Event, ...]) -> list[str]:
    """All that the service sends of a running game: record, frames, messages, pages; the newest step last."""
    shelved = Shelved(SUMMARY, KnownGame("game", events), 0)
    assert shelved.game.is_running
    last = len(shelved.game.steps)
    # Whatever an address asks for.
    wished = [*LOOKS, Look(Language.ENGLISH, view=View.SEAT_2, reveal=Reveal.YES)]
    frames = [msgspec.json.encode(frames_of(shelved.game, look)).decode() for look in wished]
    with patch("time.time", return_value=1.0):
        messages = [
            news_of(shelved, look, None, seen).data.decode() for look in wished for seen in (None, "3.0", "x")
        ]
    pages = [
        render_replay(shelved, Sitting(), look.but(step=step), is_embedded=is_embedded)
        for step in (*range(1, last, 9), last)
        for look in wished
        for is_embedded in (True, False)
    ]
    return [shelved.record().dumps(), *frames, *messages, *pages]


def other_worlds(hands: tuple[Hand, ...], seen: set[Card], chance: random.Random) -> Iterator[list[Hand]]:
    """The same deal with two cards exchanged between two seats, neither a joker nor a card that was seen."""
    while True:
        one, other = chance.sample(SEATS, 2)
        given, taken = chance.choice(hands[one]), chance.choice(hands[other])
        if given == taken or {given, taken} & seen or max(given, taken) >= SMALL_JOKER:
            continue
        changed = [list(hand) for hand in hands]
        changed[one][changed[one].index(given)] = taken
        changed[other][changed[other].index(taken)] = given
        yield [tuple(sorted(hand)) for hand in changed]


def told(rules: RuleSet, hands: list[Hand], moves: list[Move]) -> Game | None:
    """The game of these moves from these hands, if they can be made."""
    game = Game.from_hands(rules, hands)
    try:
        for seat, action in moves:
            game.apply(seat, action)
    except RuleError:
        return None
    return game


@pytest.mark.parametrize("until", [8, 20, 60])
@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_hands_that_differ_only_in_unseen_cards_look_the_same(preset: str, until: int) -> None:
    rules = RuleSet.preset(preset)
    dealt = Game.deal(rules, seed=11).state.hidden.hands
    game = Game.from_hands(rules, dealt)
    moves = play(game, 11, until=until)
    public = [redact(event, None) for event in game.events]
    seen = {card for event in public for card in getattr(event, "cards", ())} | {game.state.public.called}
    expected = shown(game.events)
    compared = 0
    for tried, hands in enumerate(other_worlds(dealt, seen, random.Random(until))):
        assert tried < 400, f"found only {compared} other worlds"
        other = told(rules, hands, moves)
        # A move of the opening may be another one by rule there, such as the card that is laid down.
        if other is None or [redact(event, None) for event in other.events] != public:
            continue
        assert other.events != game.events
        assert shown(other.events) == expected
        compared += 1
        if compared == 3:
            break


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_twins_look_the_same_from_a_seat_until_it_can_tell_them_apart(preset: str) -> None:
    rules = RuleSet.preset(preset)
    compared = 0
    for seed in range(12):
        twins = Twins(rules, seed)
        twins.run()
        for game in twins.games:
            play(game, seed)
        viewer = twins.viewer
        one, other = (KnownGame("game", game.events) for game in twins.games)
        seen = [[redact(event, viewer) for event in game.events] for game in (one, other)]
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(*seen, strict=False))
        common = [event for event, _ in alike if not isinstance(event, HandEnded)]
        view = View.PUBLIC if viewer is None else SEAT_VIEWS[viewer]
        for step, span in enumerate(one.steps, 1):
            # The next event tells where the step ends.
            if span.last >= len(common):
                break
            for look in [look.but(view=view, reveal=Reveal.NO) for look in LOOKS]:
                assert list(parts_of(one, step, look, None)) == list(parts_of(other, step, look, None))
            compared += 1
    assert compared > 30


def test_a_secret_that_is_shown_is_found_by_the_tests_above() -> None:
    twins = Twins(RuleSet.preset("jiaodong"), 1)
    one, other = (game.events for game in twins.games)
    for game in twins.games:
        play(game, 1)
    one, other = (KnownGame("game", game.events) for game in twins.games)
    look = Look(Language.ENGLISH, reveal=Reveal.YES)
    assert list(parts_of(one, 1, look, None)) != list(parts_of(other, 1, look, None))


@pytest.mark.parametrize("preset", ["jiaodong", "marked-guard", "lianzhong-simple"])
def test_answers_of_an_open_step_look_the_same_whatever_they_are(preset: str) -> None:
    rules = RuleSet.preset(preset, grab_solo=True)
    games = []
    for answer in ("solo", "no"):
        game = Game.deal(rules, seed=5)
        while game.state.public.step != "claim":
            game.apply(game.to_act[0], "keep")
        game.apply(game.to_act[1], answer)
        game.apply(game.to_act[0], "no")
        games.append(game)
    first, second = games
    assert first.events != second.events
    assert shown(first.events) == shown(second.events)
    # The step and its version stand still until it closes; only who has answered is seen (R5.0).
    before = KnownGame("game", first.events[:-2])
    now = KnownGame("game", first.events)
    assert now.version == before.version
    assert now.steps == before.steps
    assert now.mark != before.mark
    assert not any(isinstance(event, Answered) for event in now.events)
    assert now.at(len(now.steps)).public.answered == (0, 1)


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_a_running_game_shows_the_public_events_and_no_hand_at_any_length(preset: str) -> None:
    game = Game.deal(RuleSet.preset(preset), seed=2)
    play(game, 2)
    for length in range(1, game.version):
        known = KnownGame("game", game.events[:length])
        assert known.events == tuple(redact(event, None) for event in game.events[: known.version])
        moment = known.at(len(known.steps))
        assert moment.hands == (None,) * 5
        assert moment.carried is None
        assert moment.is_solo is (
            moment.public.guard is not None and moment.public.guard == moment.public.emperor
        )
        dealt = [event for event in known.events if isinstance(event, Dealt)]
        assert all(hand is None for event in dealt for hand in event.hands)
        for viewpoint in (REVEALED, Viewpoint(2)):
            with pytest.raises(ValueError, match="as spectators see it"):
                known.at(1, viewpoint)
        with pytest.raises(ValueError, match="secret"):
            known.state(1)
    assert not KnownGame("game", game.events).is_running


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_plays_that_are_held_back_change_nothing_that_is_shown(preset: str) -> None:
    game = Game.deal(RuleSet.preset(preset), seed=2)
    play(game, 2)
    plays = [number for number, event in enumerate(game.events) if type(event).__name__ == "Played"]
    for length in range(plays[5] + 1, game.version, 29):
        known = KnownGame("game", game.events[:length], delay_plays=3)
        held = [number for number in plays if number < length][-3]
        assert known.version == held
        assert known.at(len(known.steps)) == KnownGame("game", game.events[:held]).at(len(known.steps))
        assert frames_of(known, LOOKS[0]) == frames_of(KnownGame("game", game.events[:held]), LOOKS[0])
    early = KnownGame("game", game.events[: plays[1] + 1], delay_plays=3)
    assert early.version == plays[0], "the opening is shown"
    assert KnownGame("game", game.events, delay_plays=3).events == game.events, (
        "nothing is held back at the end"
    )


@pytest.mark.parametrize("show_counts", ["at_most_10", "never"])
def test_counts_that_the_rules_hide_are_not_shown_while_the_game_runs(show_counts: str) -> None:
    game = Game.deal(RuleSet.preset("jiaodong", show_counts=show_counts), seed=2)
    play(game, 2, until=40)
    known = KnownGame("game", game.events)
    for step in range(1, len(known.steps) + 1):
        assert all(count is None or count <= 10 for count in known.at(step, SPECTATOR).public.counts)
    assert "cards not shown" in shown(game.events)[-1]


def test_the_record_of_a_running_game_can_be_read() -> None:
    game = Game.deal(RuleSet.preset("lianzhong-classic"), seed=2)
    play(game, 2, until=40)
    text = shown(game.events)[0]
    assert Record.loads(text).events == KnownGame("game", game.events).events
