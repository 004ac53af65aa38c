"""R10: twos that fill, held-back threes, clearing, debts, tribute."""

from typing import ClassVar

import pytest

from baohuang import PRESETS, Due, DueKind, Game, Opening, RuleSet, format_cards, parse_cards
from baohuang.rules.actions import PASS
from baohuang.rules.cards import TWO
from baohuang.rules.events import CardGiven, Cleared, Step, StepClosed, WentOut, redact
from baohuang.rules.opening import highest
from baohuang.rules.scoring import Tribute, tribute_dues, tribute_result
from baohuang.testing.scenarios import (
    finish,
    outcome_of,
    pair_order,
    places_of,
    play_out,
    play_words,
    start_at_play,
    start_finish,
    start_with_hand,
)
from tests.unit.rules.refused import why_refused

FOLK = PRESETS["shandong-folk"]


def play(game: Game, *moves: str) -> None:
    for move in moves:
        seat = game.to_act[0]
        game.apply(seat, PASS if move == "pass" else play_words(game, seat, move.split()))


class TestTwosFill:
    """R10.2, R10.3."""

    def test_a_two_with_another_rank_counts_as_that_rank(self) -> None:
        game = start_at_play(
            FOLK, {0: ["7", "7", "2", "9"], 1: ["8", "8", "8"], 2: ["2", "2", "A", "9"]}, guard=3
        )
        play(game, "7 7 2")
        shape = game.state.public.table
        assert shape is not None
        assert shape.shape.strength == 4
        play(game, "8 8 8", "A 2 2")
        assert game.state.public.table is not None
        assert game.state.public.table.shape.strength == 11

    def test_twos_alone_are_twos_and_jokers_hang(self) -> None:
        game = start_at_play(FOLK, {0: ["2", "2", "BJ", "9"]})
        play(game, "2 2 BJ")
        assert game.state.public.table is not None
        assert game.state.public.table.shape == (TWO, 2, 0, 1)

    def test_a_filled_six_is_held_back_where_sixes_are(self) -> None:
        rules = FOLK.replace(hold_back_threes=False, hold_back_sixes=True)
        game = start_at_play(rules, {0: ["6", "2", "9"]})
        assert why_refused(game.apply, 0, play_words(game, 0, ["6", "2"])) == ("CARDS_HELD_BACK", "R7.1")
        game = start_at_play(rules, {0: ["6", "2"]})
        assert play_words(game, 0, ["6", "2"]) in game.legal_actions(0)


class TestClearedThrees:
    """R10.4."""

    def clear(self, opening: Opening, **more: list[str]) -> Game:
        """Seat 0 leads a nine and keeps two threes; seat 1 can beat it with a ten."""
        words = {0: ["9", "3", "3"], 1: ["T", "7"], **{int(name[1]): cards for name, cards in more.items()}}
        return start_at_play(FOLK, words, opening=opening)

    def test_threes_are_played_alone_and_last(self) -> None:
        game = start_at_play(FOLK, {0: ["3", "3", "2", "BJ"]})
        for cards in ("3", "3 3", "3 3 2", "3 3 2 BJ", "3 3 BJ"):
            assert why_refused(game.apply, 0, play_words(game, 0, cards.split())) == (
                "CARDS_HELD_BACK",
                "R10.4",
            )
        game = start_at_play(FOLK, {0: ["3", "3"]})
        assert [format_cards(action.cards) for action in game.legal_actions(0)] == ["3c 3c"]

    def test_who_is_left_with_threes_and_beaten_is_cleared_and_owes_his_highest_card(self) -> None:
        game = self.clear(Opening(0, 2))
        play(game, "9")
        events = game.apply(1, play_words(game, 1, ["T"]))
        assert Cleared(0, 5, by=1) in events
        assert game.to_act == (2,)
        play_out(game)
        assert places_of(game)[0] == 5
        assert outcome_of(game).dues[0] == Due(DueKind.DEBT, 0, 1)

    def test_nobody_beats_it_and_he_leads_his_threes(self) -> None:
        game = self.clear(Opening(0, 2))
        play(game, "9", "pass", "pass", "pass", "pass")
        assert game.to_act == (0,)
        game.apply(0, play_words(game, 0, ["3", "3"]))
        assert game.state.public.places[0] == 1

    def test_beaten_by_his_own_side_too_and_out_for_the_end_of_a_pair(self) -> None:
        game = self.clear(Opening(0, 1))
        game.apply(0, play_words(game, 0, ["9"]))
        game.apply(1, play_words(game, 1, ["T"]))
        assert game.state.public.places[0] == 5
        play(game, "pass", "pass", "pass", "7")
        assert places_of(game)[:2] == (5, 1), "both royals are out, so the hand is over"

    def test_who_beats_with_his_last_card_takes_his_place_first(self) -> None:
        game = start_at_play(FOLK, {0: ["9", "3"], 1: ["T"]}, opening=Opening(0, 2))
        play(game, "9")
        events = game.apply(1, play_words(game, 1, ["T"]))
        assert [type(event) for event in events[1:3]] == [WentOut, Cleared]
        assert game.state.public.places == (5, 1, None, None, None)

    def test_the_second_cleared_takes_the_fourth_place_and_debts_keep_their_order(self) -> None:
        words = {0: ["9", "3"], 1: ["T", "3"], 2: ["J", "7"]}
        game = start_at_play(FOLK, words, opening=Opening(0, 2))
        play(game, "9", "T", "J")
        assert game.state.public.places == (5, 4, None, None, None)
        play_out(game)
        assert outcome_of(game).dues[:2] == (Due(DueKind.DEBT, 0, 1), Due(DueKind.DEBT, 1, 2))

    @pytest.mark.parametrize("is_open", [False, True])
    def test_a_cleared_solo_emperor_has_lost_and_ends_the_hand(self, is_open: bool) -> None:
        game = self.clear(Opening(0, 0, open_solo=is_open))
        play(game, "9")
        game.apply(1, play_words(game, 1, ["T"]))
        assert outcome_of(game).scores[0] == (-24 if is_open else -12)

    def test_a_cleared_second_of_a_hidden_solo_has_lost_all_the_same(self) -> None:
        """Places are places, but who was cleared has not finished second."""
        words = {0: ["9", "3"], 1: ["T"], 2: ["J"], 3: ["7"], 4: ["7"]}
        game = start_at_play(FOLK, words, opening=Opening(0, 0))
        play(game, "9")
        game.apply(1, play_words(game, 1, ["T"]))
        assert outcome_of(game).scores[0] == -12

    def test_cleared_rebels_do_not_count_as_out_in_a_solo_hand(self) -> None:
        words = {4: ["8", "7", "7"], 0: ["9", "3"], 1: ["T", "7", "7"]}
        game = start_at_play(FOLK, words, opening=Opening(4, 4, open_solo=True))
        play(game, "8", "9", "T")
        assert game.state.public.places[0] == 5
        assert game.outcome is None

    def test_an_emperor_left_alone_takes_the_first_free_place(self) -> None:
        """The four rebels clear one another and the last is beaten by the emperor."""
        words = {4: ["8", "A", "7"], 0: ["9", "3"], 1: ["T", "3"], 2: ["J", "3"], 3: ["Q", "3"]}
        game = start_at_play(FOLK, words, opening=Opening(4, 4, open_solo=True))
        play(game, "8", "9", "T", "J", "Q", "A")
        assert places_of(game) == (5, 4, 3, 2, 1)
        assert outcome_of(game).scores[4] == 24
        assert len(outcome_of(game).dues) == 4, "debts stand after a solo, tribute does not (R10.5)"

    def test_an_emperor_who_clears_the_last_rebel_with_his_last_card_is_first(self) -> None:
        words = {4: ["8", "A"], 0: ["9", "3"], 1: ["T", "3"], 2: ["J", "3"], 3: ["Q", "3"]}
        game = start_at_play(FOLK, words, opening=Opening(4, 4, open_solo=True))
        play(game, "8", "9", "T", "J", "Q", "A")
        assert places_of(game) == (5, 4, 3, 2, 1)

    def test_without_the_option_nobody_is_cleared(self) -> None:
        game = start_at_play(FOLK.replace(hold_back_threes=False), {0: ["9", "3"], 1: ["T", "7"]}, guard=2)
        play(game, "9", "T")
        assert game.state.public.places[0] is None


class TestTribute:
    """R10.5, R10.6."""

    RESULTS: ClassVar = {
        (1, 5): "level",
        (3, 1): "level",
        **dict.fromkeys([(1, 2), (1, 3), (1, 4), (2, 1)], "collects"),
    }

    def test_who_collects_and_who_pays(self) -> None:
        for emperor in range(1, 6):
            for guard in range(1, 6):
                if emperor != guard:
                    wanted = self.RESULTS.get((emperor, guard), "pays")
                    assert tribute_result(emperor, guard) is Tribute(wanted), (emperor, guard)

    def test_gifts_go_by_the_rebels_places(self) -> None:
        places = (1, 4, 3, 2, 5)
        assert [(due.giver, due.receiver) for due in tribute_dues(places, 0, 2)] == [(4, 0), (1, 0), (3, 2)]
        assert [(due.giver, due.receiver) for due in tribute_dues((5, 2, 1, 4, 3), 0, 3)] == [
            (0, 2),
            (0, 1),
            (3, 4),
        ]

    def test_a_played_hand_owes_them_and_a_solo_none(self) -> None:
        opening, order = pair_order(2, 5)
        game = start_finish(FOLK, order, opening)
        finish(game, order)
        assert [due.kind for due in outcome_of(game).dues] == [DueKind.TRIBUTE] * 3
        off = start_finish(FOLK.replace(tribute=False), order, opening)
        finish(off, order)
        assert outcome_of(off).dues == ()
        solo = start_finish(FOLK, (0,), Opening(0, 0))
        finish(solo, (0,))
        assert outcome_of(solo).dues == ()

    def test_each_gift_is_the_highest_card_at_that_moment_debts_first(self) -> None:
        dues = (Due(DueKind.DEBT, 1, 0), Due(DueKind.TRIBUTE, 1, 2), Due(DueKind.TRIBUTE, 2, 3))
        game = Game.deal(FOLK, seed=11, dues=dues)
        before = [list(hand) for hand in Game.deal(FOLK, seed=11).state.hidden.hands]
        gifts = [event for event in game.events if isinstance(event, CardGiven)]
        assert [(gift.giver, gift.receiver, gift.kind) for gift in gifts] == [
            (due.giver, due.receiver, due.kind) for due in dues
        ]
        for gift in gifts:
            assert gift.card == highest(tuple(before[gift.giver]))
            before[gift.giver].remove(gift.card)
            before[gift.receiver].append(gift.card)
        assert game.events[0].dues == dues  # type: ignore[attr-defined]

    def test_all_receivers_at_once_give_back_a_card_of_their_choice_for_each(self) -> None:
        dues = (Due(DueKind.DEBT, 1, 0), Due(DueKind.TRIBUTE, 3, 0), Due(DueKind.TRIBUTE, 4, 2))
        game = Game.deal(FOLK, seed=11, dues=dues)
        assert game.state.public.step is Step.TRIBUTE
        assert game.to_act == (0, 2)
        low, high = game.legal_actions(0)[0], game.legal_actions(0)[-1]
        game.apply(0, high)
        assert game.to_act == (0, 2), "he got two cards, so he gives two"
        lacking = next(card for card in FOLK.deck if card not in game.state.hidden.hands[2])
        assert why_refused(game.apply, 2, f"give {lacking}") == ("CARDS_NOT_HELD", "R10.6")
        game.apply(0, low)
        assert game.to_act == (2,)
        events = game.apply(2, game.legal_actions(2)[0])
        back = [event for event in events if isinstance(event, CardGiven)]
        assert [(gift.giver, gift.receiver, gift.returned) for gift in back] == [
            (0, 1, True),
            (0, 3, True),
            (2, 4, True),
        ]
        assert [back[0].card, back[1].card] == [high.cards[0], low.cards[0]]
        assert StepClosed(Step.TRIBUTE, (), stands=True) in events
        assert game.state.public.step is Step.THRONE
        assert [len(hand) for hand in game.state.hidden.hands] == [44, 43, 43, 43, 43]

    def test_a_card_given_twice_must_be_held_twice(self) -> None:
        dues = (Due(DueKind.TRIBUTE, 1, 0), Due(DueKind.TRIBUTE, 2, 0))
        game = Game.deal(FOLK, seed=11, dues=dues)
        single = next(a for a in game.legal_actions(0) if game.state.hidden.hands[0].count(a.cards[0]) == 1)
        game.apply(0, single)
        assert single not in game.legal_actions(0)
        assert why_refused(game.apply, 0, single) == ("CARDS_NOT_HELD", "R10.6")

    def test_without_tribute_return_nothing_is_given_back(self) -> None:
        game = Game.deal(FOLK.replace(tribute_return=False), seed=11, dues=(Due(DueKind.TRIBUTE, 1, 0),))
        assert game.state.public.step is Step.THRONE
        assert game.state.public.counts == (45, 42, 43, 43, 43)

    def test_gifts_are_seen_by_giver_and_receiver_only(self) -> None:
        game = Game.deal(FOLK, seed=11, dues=(Due(DueKind.TRIBUTE, 1, 0),))
        gift = next(event for event in game.events if isinstance(event, CardGiven))
        for viewer in (None, 0, 1, 2, 3, 4):
            seen = redact(gift, viewer)
            assert isinstance(seen, CardGiven)
            assert seen.card == (gift.card if viewer in (0, 1) else None)
            view = game.view(viewer)
            assert view.own is None or view.own.gifts == ((gift,) if viewer in (0, 1) else ())

    def test_payments_are_repeated_when_dealt_again_r5_14(self) -> None:
        rules = FOLK.replace(tribute_return=False)
        game = Game.deal(rules, seed=2, dues=(Due(DueKind.TRIBUTE, 1, 0),))
        for _ in range(5):
            game.apply(game.to_act[0], "decline")
        assert game.state.public.redeal == 1
        assert sum(isinstance(event, CardGiven) for event in game.events) == 2

    def test_a_last_card_is_not_given(self) -> None:
        base = start_with_hand(FOLK, ["9c"], seat=1)
        game = Game.from_hands(FOLK, base.state.hidden.hands, dues=[Due(DueKind.TRIBUTE, 1, 0)])
        assert not any(isinstance(event, CardGiven) for event in game.events)

    @pytest.mark.parametrize(
        ("rules", "due"),
        [
            (PRESETS["jiaodong"], Due(DueKind.TRIBUTE, 1, 0)),
            (FOLK.replace(tribute=False, hold_back_threes=False), Due(DueKind.DEBT, 1, 0)),
            (FOLK, Due(DueKind.DEBT, 1, 1)),
            (FOLK, Due("gift", 1, 2)),
        ],
    )
    def test_dues_that_cannot_be_are_refused(self, rules: RuleSet, due: Due) -> None:
        assert why_refused(Game.deal, rules, seed=1, dues=(due,)) == ("BAD_DEAL", "R10.6")

    def test_dues_name_seats_and_are_no_more_than_can_arise(self) -> None:
        for due in (Due(DueKind.DEBT, 1, 5), Due(DueKind.DEBT, -1, 2), Due(DueKind.DEBT, True, 2)):
            assert why_refused(Game.deal, FOLK, seed=1, dues=(due,)) == ("BAD_SEAT", "R2.4")
        many = (Due(DueKind.DEBT, 1, 2),) * 21
        assert why_refused(Game.deal, FOLK, seed=1, dues=many) == ("BAD_DEAL", "R10.6")


def test_a_play_of_called_cards_and_twos_reveals_the_guard() -> None:
    hands = ["7c 7d 8c", "9c 8d 2c", "7h 8h", "7s 8s", "Tc Td"]
    game = Game.from_hands(FOLK, hands, opening=Opening(0, 1, called=parse_cards("9c")[0]))
    game.apply(0, "play 7c 7d")
    assert game.state.public.guard is None
    game.apply(1, "play 9c 2c")
    assert game.state.public.guard == 1
