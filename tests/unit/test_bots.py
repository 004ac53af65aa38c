"""Bots: what they are given, what becomes of bad answers, and what the built-in ones are worth."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from baohuang import PRESETS, Action, ActionKind, Game, Opening, RuleSet, View, parse_cards
from baohuang.bots import BOT_NAMES, Bot, BotError, make_bot, play_game
from baohuang.rules.actions import NO, PASS
from baohuang.rules.cards import Hand
from baohuang.rules.commands import Start
from baohuang.rules.events import Step


class Scripted:
    """Answers what it is told to, else the first legal action; keeps what it was given."""

    name = "scripted"

    def __init__(self, answer: object = None) -> None:
        self.answer = answer
        self.given: list[tuple[View, list[Action], float | None]] = []

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
        self.given.append((view, list(legal_actions), time_limit))
        return legal_actions[0] if self.answer is None else self.answer  # type: ignore[return-value]


def choice(game: Game, seat: int, name: str = "greedy") -> str:
    return str(make_bot(name).choose(game.view(seat), game.legal_actions(seat), None))


def at_play(preset: str, hands: list[str], *, guard: int = 1, **options: object) -> Game:
    """A hand at play: seat 0 is emperor and leads."""
    rules = RuleSet.preset(preset, **options)
    return Game.from_hands(rules, hands, opening=Opening(emperor=0, guard=guard))


# Names and runner.


def test_bots_are_made_by_name() -> None:
    assert BOT_NAMES == ("random", "greedy")
    assert [make_bot(name, seed=1).name for name in BOT_NAMES] == list(BOT_NAMES)


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(BotError, match=r"^UNKNOWN_BOT: no bot 'gready'; there are random, greedy"):
        make_bot("gready")


def test_a_bot_is_given_its_view_its_actions_and_the_limit() -> None:
    game = Game.deal(RuleSet.preset("shandong-folk"), seed=2)
    bots = [Scripted() for _ in range(5)]
    assert play_game(game, bots, time_limit=0.5) == game.outcome
    for seat, bot in enumerate(bots):
        assert bot.given
        for view, legal_actions, time_limit in bot.given:
            assert (view.viewer, time_limit) == (seat, 0.5)
            assert view.hands is None
            assert legal_actions


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (PASS, "WRONG_STEP"),
        (Action.parse("play 7c"), "WRONG_STEP"),
        ("keep", "MALFORMED_ACTION"),
        (7, "MALFORMED_ACTION"),
        ((ActionKind.KEEP, ()), "MALFORMED_ACTION"),
        (Action("keep"), "MALFORMED_ACTION"),  # type: ignore[arg-type]
        (Action(ActionKind.PLAY, ("7c",)), "MALFORMED_ACTION"),  # type: ignore[arg-type]
        (Action(ActionKind.PLAY, [7]), "MALFORMED_ACTION"),  # type: ignore[arg-type]
        (Action(ActionKind.PLAY), "MALFORMED_ACTION"),
    ],
)
def test_an_answer_that_is_no_legal_action_is_an_error_that_names_the_bot(
    answer: object, reason: str
) -> None:
    game = Game.deal(RuleSet.preset("jiaodong"), seed=7)
    events = game.events
    with pytest.raises(BotError, match="bot scripted in seat") as caught:
        play_game(game, [Scripted(answer)] * 5)
    assert caught.value.reason == reason
    assert game.events == events


def test_what_a_bot_raises_comes_through() -> None:
    class Broken(Scripted):
        def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play_game(Game.deal(RuleSet.preset("jiaodong"), seed=7), [Broken()] * 5)


def test_seats_on_auto_play_are_played_for() -> None:
    game = Game.deal(RuleSet.preset("jiaodong"), seed=7)
    for seat in (1, 3):
        game.start_auto_play(seat)
    bots = [Scripted() for _ in range(5)]
    assert play_game(game, bots).auto_play == (False, True, False, True, False)
    assert not bots[1].given
    assert not bots[3].given


def test_a_game_needs_five_bots_and_dealt_cards() -> None:
    rules = RuleSet.preset("jiaodong")
    with pytest.raises(ValueError, match="five bots, not 4"):
        play_game(Game.deal(rules, seed=7), [make_bot("random")] * 4)
    with pytest.raises(ValueError, match="not dealt yet"):
        play_game(Game.start(Start(rules, seed=7, await_nonces=True)), [make_bot("random")] * 5)


# What a choice depends on.


@pytest.mark.parametrize("name", BOT_NAMES)
@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_view_gives_the_same_choice(name: str, preset: str) -> None:
    """Also to a bot made anew and asked in another order: only view and actions go into a choice."""
    moments: list[tuple[View, list[Action], Action]] = []

    class Noting:
        def __init__(self, bot: Bot) -> None:
            self.name, self.bot = bot.name, bot

        def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
            action = self.bot.choose(view, legal_actions, time_limit)
            moments.append((view, list(legal_actions), action))
            return action

    play_game(Game.deal(RuleSet.preset(preset), seed=4), [Noting(make_bot(name, seed=9)) for _ in range(5)])
    random.Random(1).shuffle(moments)
    for view, legal_actions, action in moments:
        assert make_bot(name, seed=9).choose(view, legal_actions, 0.1) == action


@pytest.mark.parametrize("name", BOT_NAMES)
def test_hands_that_differ_in_unseen_cards_give_the_same_choice(name: str) -> None:
    ours = "7c 7d 9h Ts SJ"
    one = at_play("jiaodong", [ours, "8c Jd GJ", "9c 9d", "Tc Th", "Jc 2c"])
    two = at_play("jiaodong", [ours, "8c Jd GJ", "Jc 2c", "9c 9d", "Tc Th"])
    assert choice(one, 0, name) == choice(two, 0, name)


def test_random_bots_of_other_seeds_play_other_games() -> None:
    records = set()
    for seed in range(5):
        game = Game.deal(RuleSet.preset("jiaodong"), seed=7)
        play_game(game, [make_bot("random", seed=seed)] * 5)
        records.add(game.record().dumps())
    assert len(records) == 5


# Greedy's habits.


def test_greedy_leads_its_lowest_whole_set() -> None:
    assert (
        choice(at_play("marked-guard", ["7c 7d 9h 9s Kc SJ", "8c GJ", "9c", "Tc", "Jc"]), 0) == "play 7c 7d"
    )


def test_greedy_goes_out_when_it_can() -> None:
    hands = ["7c 7d 8c", "7h 9d 9s SJ GJ", "9c Tc", "Tc Td", "Jc Jd"]
    game = at_play("marked-guard", hands)
    game.apply(0, "play 7c 7d")
    assert (
        choice(at_play("marked-guard", ["Kc Kd SJ BJ", "8c GJ", "9c", "Tc", "Jc"]), 0) == "play Kc Kd SJ BJ"
    )
    game = at_play("marked-guard", ["7c 7d 8c", "GJ SJ", "9c Tc", "Tc Td", "Jc Jd"])
    game.apply(0, "play 7c 7d")
    assert choice(game, 1) == "play SJ GJ"


def test_greedy_runs_home_on_big_jokers() -> None:
    hands = ["7c 9h 9s BJ", "8c GJ", "9c Ac", "Tc Ac", "Jc Ac"]
    assert choice(at_play("marked-guard", hands), 0) == "play 7c BJ"


def test_greedy_beats_with_the_cheapest_play_and_tears_no_set_up_for_little() -> None:
    game = at_play("marked-guard", ["7c 7d 8c", "GJ 2c", "8c 9c 9d Jc Kc Kd SJ", "Tc Td", "Jc Jd"])
    game.apply(0, "play 8c")
    game.apply(1, "pass")
    assert choice(game, 2) == "play Jc"


def test_greedy_lets_its_known_partners_play_stand() -> None:
    game = at_play("marked-guard", ["7c 7d 8c", "9c 9d Tc Ts GJ", "9h 9s Tc Kc", "Tc Td", "Jc Jd"])
    game.apply(0, "play 7c 7d")
    assert choice(game, 1) == "pass"  # The guard knows the emperor.
    game.apply(1, "pass")
    assert choice(game, 2) == "play 9h 9s"


def test_greedy_spends_jokers_only_when_it_matters() -> None:
    def after(lead: str) -> str:
        many = "6c 7c 8c 9c Tc Jc Qc Kc Ac 2c"
        game = at_play("marked-guard", [f"{lead} {many}", "GJ 8d", f"SJ BJ {many}", "Tc", "Jc"])
        game.apply(0, f"play {lead}")
        game.apply(1, "pass")
        return choice(game, 2)

    assert after("2d 2h") == "pass"
    few = at_play("marked-guard", ["2d 2h 7c", "GJ 8d", "SJ BJ 7d 8c 9c", "Tc", "Jc"])
    few.apply(0, "play 2d 2h")
    few.apply(1, "pass")
    assert choice(few, 2) == "play SJ BJ"


def test_greedy_declares_nothing_and_gives_its_lowest_card() -> None:
    seen: set[Step] = set()

    class Watching:
        name = "watching"

        def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
            action = make_bot("greedy").choose(view, legal_actions, time_limit)
            step = view.public.step
            seen.add(step)
            if step in (Step.CLAIM, Step.DECLARE, Step.COUNTER, Step.RECOUNTER):
                assert action == NO
            if step is Step.TRIBUTE:
                assert action == min(legal_actions, key=lambda each: each.cards)
            return action

    dues = ()
    for seed in range(6):
        game = Game.deal(RuleSet.preset("shandong-folk"), seed=seed, dues=dues)
        dues = play_game(game, [Watching()] * 5).dues
        play_game(Game.deal(RuleSet.preset("jiaodong"), seed=seed), [Watching()] * 5)
    assert {Step.TRIBUTE, Step.THRONE, Step.CALL, Step.CLAIM, Step.DECLARE, Step.PLAY} <= seen


def test_greedy_calls_the_lowest_card_whose_fourth_copy_is_elsewhere() -> None:
    hands: list[str | Hand] = ["EJ 7c 7c 7c 7c 9d 9d 9d Th Th Th", "9d Th", "GJ 8c", "8d", "8h"]
    game = Game.from_hands(RuleSet.preset("lianzhong-classic"), hands)
    game.apply(0, "keep")
    assert choice(game, 0) == "call 9d"


def test_greedy_takes_an_offered_throne_with_a_strong_hand_only() -> None:
    strong = "2c 2c 2c 2d 2d SJ SJ BJ BJ"
    hands = ["EJ GJ 7c", "7d 8d", strong, "2h 8c 9c", "9d Tc"]
    game = Game.from_hands(RuleSet.preset("jiaodong"), hands)
    assert choice(game, 0) == "keep"
    game.apply(0, "yield")
    assert choice(game, 2) == "take"
    game.apply(2, "decline")
    assert choice(game, 3) == "decline"


@pytest.mark.parametrize("preset", PRESETS)
def test_greedy_beats_random(preset: str) -> None:
    """Each deal twice, greedy in two or three seats and then in the others; total score over fixed seeds."""
    total = 0
    for seed in range(5):
        greedy = {seed % 5, (seed + 1 + seed % 2) % 5}
        for seats in (greedy, set(range(5)) - greedy):
            bots = [make_bot("greedy" if seat in seats else "random", seed=seed) for seat in range(5)]
            outcome = play_game(Game.deal(RuleSet.preset(preset), seed=seed), bots)
            total += sum(outcome.scores[seat] for seat in seats)
    assert total > 0


def test_cards_of_a_view_are_those_of_the_hand() -> None:
    game = at_play("marked-guard", ["7c 7d", "8c GJ", "9c", "Tc", "Jc"])
    own = game.view(1).own
    assert own is not None
    assert own.hand == parse_cards("8c GJ")
