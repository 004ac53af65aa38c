"""R5.0 to R5.4, R5.14, R10.1: who gets the throne."""

from typing import ClassVar

import pytest

from baohuang import PRESETS, Action, Game, RuleSet, Termination, format_cards
from baohuang.rules.events import CallAnswered, Dealt, Enthroned, GuardRevealed, Step, ThroneAnswered
from baohuang.testing.scenarios import start_at_opening, start_with_hand, walk_to
from tests.unit.rules.refused import why_refused

JIAODONG = PRESETS["jiaodong"]
SIMPLE = PRESETS["lianzhong-simple"]
CLASSIC = PRESETS["lianzhong-classic"]
FOLK = PRESETS["shandong-folk"]


def texts(game: Game, seat: int) -> list[str]:
    return [str(action) for action in game.legal_actions(seat)]


def answer_all(game: Game, *texts: str) -> None:
    for text in texts:
        game.apply(game.to_act[0], text)


class TestOfferedThrone:
    """R5.1."""

    def test_holder_of_one_marked_joker_can_only_keep_and_is_asked_all_the_same(self) -> None:
        game = start_at_opening(JIAODONG, emperor=3)
        assert game.to_act == (3,)
        assert texts(game, 3) == ["keep"]
        assert why_refused(game.apply, 3, "yield") == ("CANNOT_YIELD", "R5.1")
        assert why_refused(game.apply, 3, "take") == ("CANNOT_TAKE", "R5.1")
        assert why_refused(game.apply, 3, "solo") == ("WRONG_STEP", "R5.0")
        game.apply(3, "keep")
        assert game.state.public.emperor == 3
        assert game.state.hidden.guard == 2

    @pytest.mark.parametrize("giver", range(5))
    def test_holder_of_both_offers_to_the_second_third_fourth_and_first_after_him(self, giver: int) -> None:
        game = start_at_opening(JIAODONG, emperor=giver, guard=giver)
        assert texts(game, giver) == ["keep", "yield"]
        game.apply(giver, "yield")
        asked = []
        while game.to_act:
            asked.append((game.to_act[0] - giver) % 5)
            assert texts(game, game.to_act[0]) == ["take", "decline"]
            assert game.state.public.holder == game.to_act[0]
            game.apply(game.to_act[0], "decline")
        assert asked == [2, 3, 4, 1]

    def test_who_accepts_is_emperor_with_the_emperor_joker_and_the_giver_his_known_guard(self) -> None:
        game = start_at_opening(JIAODONG, emperor=0, guard=0)
        before = [len(hand) for hand in game.state.hidden.hands]
        answer_all(game, "yield", "decline", "take")
        public, hands = game.state.public, game.state.hidden.hands
        assert (public.emperor, public.guard) == (3, 0)
        assert "EJ" in format_cards(hands[3])
        assert "GJ" in format_cards(hands[0])
        assert "EJ" not in format_cards(hands[0])
        assert public.counts == (before[0] - 1, before[1], before[2], before[3] + 1, before[4])
        walk_to(game, Step.DECLARE)
        assert texts(game, 0) == ["guard", "no"], "he may still declare open guard"
        walk_to(game)
        assert game.to_act == (3,)

    def test_all_refuse_and_the_giver_loses(self) -> None:
        game = start_at_opening(JIAODONG, emperor=1, guard=1)
        answer_all(game, "yield", *["decline"] * 4)
        outcome = game.outcome
        assert outcome is not None
        assert outcome.termination is Termination.REFUSED
        assert outcome.scores == (3, -12, 3, 3, 3)
        assert outcome.places is outcome.roles is None
        assert outcome.next_first_drawer == 1

    def test_all_refuse_and_the_hand_is_void(self) -> None:
        game = start_at_opening(JIAODONG.replace(all_refuse="void"), emperor=1, guard=1, first_drawer=4)
        answer_all(game, "yield", *["decline"] * 4)
        outcome = game.outcome
        assert outcome is not None
        assert outcome.termination is Termination.VOID
        assert outcome.scores == (0,) * 5
        assert outcome.next_first_drawer == 4, "after a void hand the same player draws first again (R2.2)"

    def test_all_refuse_and_the_giver_must_play_a_known_solo_that_he_may_still_open(self) -> None:
        rules = JIAODONG.replace(all_refuse="must_play")
        game = start_at_opening(rules, emperor=1, guard=1)
        answer_all(game, "yield", *["decline"] * 4)
        public = game.state.public
        assert (public.emperor, public.guard, public.open_solo) == (1, 1, False)
        assert public.step is Step.CLAIM
        assert texts(game, 1) == ["solo", "no"]
        walk_to(game)
        assert str(game.state.solo) == "hidden"


class TestYieldUpstream:
    """R5.2."""

    def start(self) -> Game:
        words = {**{seat: ["2d", "2c"] for seat in range(4)}, 4: ["2s", "2h"]}
        return start_at_opening(SIMPLE, words, emperor=1, guard=3)

    def test_it_goes_upstream_and_the_first_holder_adds_nothing(self) -> None:
        game = self.start()
        assert texts(game, 1) == ["keep", "yield"]
        events = game.apply(1, "yield")
        assert events == (ThroneAnswered(1, events[0].answer, 0, (), 0, (), 0),)
        assert game.to_act == (0,)
        assert "EJ" in format_cards(game.state.hidden.hands[0])
        assert texts(game, 0) == ["take", "yield"]

    def test_each_receiver_who_passes_it_on_adds_his_first_two_and_they_travel(self) -> None:
        game = self.start()
        game.apply(1, "yield")
        travelling = []
        for seat in (0, 4, 3, 2, 1):
            before = game.state.hidden.hands[seat]
            event = game.apply(seat, "yield")[0]
            assert isinstance(event, ThroneAnswered)
            assert format_cards(event.laid or ()) == ("2c" if seat != 4 else "2h")
            assert len(game.state.hidden.hands[seat]) == len(before) - 2, "the joker and a two"
            travelling.append(event.carried_count)
        assert travelling == [1, 2, 3, 4, 5]
        assert game.state.public.carried_count == 5

    def test_who_takes_it_keeps_the_added_cards(self) -> None:
        game = self.start()
        answer_all(game, "yield", "yield", "yield", "take")
        hand = format_cards(game.state.hidden.hands[3])
        assert hand.count("2c") == 2
        assert hand.count("2h") == 1
        assert "EJ" in hand
        assert game.state.public.carried_count == 0
        assert game.state.public.emperor == 3

    def test_without_a_two_the_highest_plain_card_is_added_and_with_jokers_alone_none(self) -> None:
        for hand, added in (("Kd Kc SJ 7h", "Kc"), ("SJ BJ", "")):
            game = start_with_hand(SIMPLE, hand.split(), seat=4)
            game.apply(0, "yield")
            event = game.apply(4, "yield")[0]
            assert isinstance(event, ThroneAnswered)
            assert format_cards(event.laid or ()) == added

    def test_no_yield_may_empty_a_hand(self) -> None:
        game = start_with_hand(SIMPLE, ["7c"], seat=4)
        game.apply(0, "yield")
        assert texts(game, 4) == ["take"]
        assert why_refused(game.apply, 4, "yield") == ("CANNOT_YIELD", "R5.2")

    def test_the_tenth_yield_deals_again_with_the_same_first_drawer(self) -> None:
        game = Game.deal(SIMPLE, seed=3, first_drawer=2)
        first = game.state.hidden.hands
        answer_all(game, *["yield"] * 9)
        assert game.state.public.yields == 9
        events = game.apply(game.to_act[0], "yield")
        assert isinstance(events[-1], Dealt)
        public = game.state.public
        assert (public.redeal, public.yields, public.carried_count, public.first_drawer) == (1, 0, 0, 2)
        assert game.state.hidden.hands != first
        assert list(map(len, game.state.hidden.hands)) == list(map(len, first))

    def test_in_the_fourth_deal_the_first_holder_is_emperor_r5_14(self) -> None:
        game = Game.deal(SIMPLE, seed=3)
        answer_all(game, *["yield"] * 30)
        assert game.state.public.redeal == 3
        holder = game.to_act[0]
        assert texts(game, holder) == ["keep"]
        assert why_refused(game.apply, holder, "yield")[0] == "CANNOT_YIELD"
        game.apply(holder, "keep")
        assert game.state.public.emperor == holder

    def test_given_hands_cannot_be_dealt_again_and_are_void(self) -> None:
        words = {seat: ["2", "2", "2"] for seat in range(5)}
        game = start_at_opening(SIMPLE, words)
        answer_all(game, *["yield"] * 10)
        assert game.outcome is not None
        assert game.outcome.termination is Termination.VOID


class TestYieldToCall:
    """R5.3."""

    def start(self, holder: list[str]) -> Game:
        return start_with_hand(CLASSIC, [*holder, "7h", "8h", "Ts"])

    def test_no_card_is_added(self) -> None:
        game = self.start(["9c", "9c", "9c"])
        answer_all(game, "yield", "yield", "yield", "take")
        assert game.state.public.emperor == 2
        assert sum(game.state.public.counts) == len(game.state.public.deck)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("hand", "again"),
        [
            ("9c 9c 9c", False),
            ("9c 9c", True),
            ("9c 9c 9c 9c", True),
            ("9c 9c 9c 9d 9d 9d 9d", True),
        ],
    )
    def test_after_a_round_the_first_holder_yields_only_without_a_call_or_with_four(
        self, hand: str, again: bool
    ) -> None:
        game = self.start(hand.split())
        for _ in range(5):
            assert "yield" in texts(game, game.to_act[0])
            game.apply(game.to_act[0], "yield")
        assert game.to_act == (0,)
        assert texts(game, 0) == ["take", "yield"] if again else ["take"]
        if not again:
            assert why_refused(game.apply, 0, "yield") == ("CANNOT_YIELD", "R5.3")

    def test_who_can_call_nothing_may_take_it_and_then_only_play_an_open_solo(self) -> None:
        game = self.start(["9c", "9c"])
        game.apply(0, "keep")
        assert game.state.public.step is Step.CALL
        assert texts(game, 0) == ["solo"]
        events = game.apply(0, "solo")
        assert events == (CallAnswered(0, None), GuardRevealed(0, 0))
        assert game.state.public.open_solo
        assert game.state.public.step is Step.PLAY

    def test_in_the_fourth_deal_the_first_upstream_who_can_call_must_take_it_r5_14(self) -> None:
        game = self.fourth_deal()
        while game.state.public.step is Step.THRONE:
            seat = game.to_act[0]
            hand = game.state.hidden.hands[seat]
            can_call = any(hand.count(card) >= 3 for card in hand if not card.is_joker)
            assert texts(game, seat) == [
                ("keep" if game.state.public.yields == 0 else "take") if can_call else "yield"
            ]
            game.apply(seat, texts(game, seat)[0])
        assert game.state.public.step is Step.CALL

    def fourth_deal(self) -> Game:
        for seed in range(1000):
            game = Game.deal(CLASSIC, seed=seed)
            while game.state.public.redeal < 3 and game.to_act and "yield" in texts(game, game.to_act[0]):
                game.apply(game.to_act[0], "yield")
            if game.state.public.redeal == 3 and "yield" in texts(game, game.to_act[0]):
                return game
        raise AssertionError("no such deal found")

    def test_if_nobody_can_call_in_the_fourth_deal_the_hand_is_void(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = self.fourth_deal()
        # No seed is known for which four deals in a row leave everyone without three of a kind.
        monkeypatch.setattr("baohuang.rules.opening.callable_cards", lambda hand, deck: [])
        answer_all(game, *["yield"] * 5)
        assert game.outcome is not None
        assert game.outcome.termination is Termination.VOID
        assert game.outcome.next_first_drawer == game.state.public.first_drawer


def test_marked_guard_asks_nobody_for_the_throne_r5_4() -> None:
    game = start_at_opening(PRESETS["marked-guard"], emperor=2, guard=4)
    assert isinstance(game.events[-1], Enthroned)
    assert game.state.public.emperor == 2
    assert game.state.public.step is Step.CLAIM


class TestBottomCards:
    """R10.1."""

    def start(self, hands: dict[int, str], first_drawer: int = 0) -> Game:
        return Game.from_hands(
            FOLK, [hands.get(seat, "7h 8h 9h") for seat in range(5)], first_drawer=first_drawer
        )

    HANDS: ClassVar = {0: "2c SJ BJ 7c", 1: "2d 2h SJ 8c", 2: "9c 9c 9c Ks", 3: "BJ 3c 9c", 4: "4c 5c"}

    def test_all_are_asked_downstream_and_only_who_has_three_of_a_kind_may_take(self) -> None:
        game = self.start(self.HANDS)
        for seat in (0, 1):
            assert game.to_act == (seat,)
            assert texts(game, seat) == ["decline"]
            assert why_refused(game.apply, seat, "take") == ("CANNOT_TAKE", "R10.1")
            game.apply(seat, "decline")
        assert texts(game, 2) == ["take", "decline"]

    def test_the_taker_gets_the_bottom_cards_and_calls_from_all_his_cards(self) -> None:
        game = self.start(self.HANDS)
        answer_all(game, "decline", "decline", "take")
        assert format_cards(game.state.hidden.hands[2]) == "9c 9c 9c Ks 2d BJ"
        assert game.state.public.emperor == 2
        assert game.state.public.step is Step.CALL
        assert texts(game, 2) == ["call 9c", "solo"]

    @pytest.mark.parametrize(
        ("hand", "first", "other"),
        [
            ("2c SJ BJ 7c", "BJ", "2c"),
            ("2d SJ 7c", "SJ", "2d"),
            ("2d 7c", "2d", "2d"),
            ("SJ BJ", "BJ", "SJ"),
            ("BJ 7c", "BJ", "BJ"),
            ("7c Ac", "", ""),
            ("2c", "", ""),
        ],
    )
    def test_which_bottom_card_is_laid(self, hand: str, first: str, other: str) -> None:
        for seat, laid in ((0, first), (1, other)):
            game = start_with_hand(FOLK, hand.split(), seat=seat)
            answer_all(game, *["decline"] * seat)
            event = game.apply(seat, "decline")[0]
            assert isinstance(event, ThroneAnswered)
            assert format_cards(event.laid or ()) == laid
            assert event.laid_count == len(laid.split())

    def test_nobody_takes_and_it_is_dealt_again_until_the_fourth_deal_r5_14(self) -> None:
        game = Game.deal(FOLK, seed=2, first_drawer=3)
        answer_all(game, *["decline"] * 15)
        assert game.state.public.redeal == 3
        assert game.to_act == (3,)
        for seat in (3, 4, 0, 1, 2):
            hand = game.state.hidden.hands[seat]
            able = any(hand.count(card) >= 3 for card in hand if not card.is_joker)
            assert texts(game, seat) == ["take" if able else "decline"]
            game.apply(seat, texts(game, seat)[0])
            if able:
                break
        assert game.state.public.emperor is not None

    def test_nobody_can_take_given_hands(self) -> None:
        game = self.start(self.HANDS)
        answer_all(game, *["decline"] * 5)
        assert game.outcome is not None
        assert game.outcome.termination is Termination.VOID


def test_a_call_is_refused_for_what_cannot_be_called_r5_5() -> None:
    game = start_with_hand(CLASSIC, "9c 9c 9c Td Td SJ SJ SJ".split())
    game.apply(0, "keep")
    assert texts(game, 0) == ["call 9c", "solo"]
    for text in ("call Td", "call SJ", "call Kh"):
        assert why_refused(game.apply, 0, text) == ("CANNOT_CALL", "R5.5")
    assert why_refused(game.apply, 1, "call 9c") == ("NOT_YOUR_TURN", "R5.0")
    game.apply(0, Action.parse("call 9c"))
    assert format_cards([game.state.public.called]) == "9c"  # type: ignore[list-item]
    assert game.state.hidden.guard == 4
    assert game.state.public.guard is None


def test_a_card_of_which_the_deck_in_play_has_not_four_cannot_be_called_r5_5() -> None:
    rules = RuleSet.preset("lianzhong-classic", deck_size=165)
    game = start_with_hand(rules, "6c 6c 6c 6s 6s 6s".split())
    game.apply(0, "keep")
    assert texts(game, 0) == ["call 6s", "solo"]
