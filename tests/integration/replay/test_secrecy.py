"""A running game keeps its secrets: worlds that differ only in them look the same, byte for byte (R11.3)."""

import random
from collections.abc import Iterator

import pytest

from baohuang import Game, Record, RuleError, RuleSet
from baohuang.rules.cards import SMALL_JOKER, Card, Hand
from baohuang.rules.events import Answered, Dealt, Event, redact
from baohuang.rules.roles import SEATS
from baohuang.words import Language
from services.replay.games import GameSummary
from services.replay.known import KnownGame
from services.replay.library import Shelved
from services.replay.pages import render_replay
from tests.integration.replay.scene import ALL_PRESETS, Move, play

SUMMARY = GameSummary("game", "jiaodong", {}, 0)


def shown(events: tuple[Event, ...]) -> list[str]:
    """What the service shows of a game: its record, and pages in both languages, the newest step last."""
    shelved = Shelved(SUMMARY, KnownGame("game", events))
    assert shelved.game.is_running
    last = shelved.game.version
    pages = [
        render_replay(shelved, step, language, is_step_given=True)
        for step in (*range(1, last, 9), last)
        for language in (Language.CHINESE, Language.ENGLISH)
    ]
    return [shelved.record().dumps(), *pages]


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
    assert not any(isinstance(event, Answered) for event in now.events)
    assert now.at(now.version).public.answered == (0, 1)


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_a_running_game_shows_the_public_events_and_no_hand_at_any_length(preset: str) -> None:
    game = Game.deal(RuleSet.preset(preset), seed=2)
    play(game, 2)
    for length in range(1, game.version):
        known = KnownGame("game", game.events[:length])
        assert known.events == tuple(redact(event, None) for event in game.events[: known.version])
        moment = known.at(known.version)
        assert moment.hands is moment.carried is None
        assert moment.guard == moment.public.guard
        dealt = [event for event in known.events if isinstance(event, Dealt)]
        assert all(hand is None for event in dealt for hand in event.hands)
    assert not KnownGame("game", game.events).is_running


@pytest.mark.parametrize("show_counts", ["at_most_10", "never"])
def test_counts_that_the_rules_hide_are_not_shown_while_the_game_runs(show_counts: str) -> None:
    game = Game.deal(RuleSet.preset("jiaodong", show_counts=show_counts), seed=2)
    play(game, 2, until=40)
    known = KnownGame("game", game.events)
    for step in range(2, known.version + 1):
        assert all(count is None or count <= 10 for count in known.at(step).public.counts)
    assert "cards not shown" in shown(game.events)[-1]


def test_the_record_of_a_running_game_can_be_read() -> None:
    game = Game.deal(RuleSet.preset("lianzhong-classic"), seed=2)
    play(game, 2, until=40)
    text = shown(game.events)[0]
    assert Record.loads(text).events == KnownGame("game", game.events).events
