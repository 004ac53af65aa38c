"""R2: cards, decks, rule sets, options, deals."""

import pytest

from baohuang import (
    PRESETS,
    Action,
    ActionKind,
    Card,
    CardError,
    Game,
    RecordError,
    RuleSet,
    RuleSetError,
    format_cards,
    parse_cards,
)
from baohuang.rules.cards import CARDS, holds, parse_ranked_cards, without
from baohuang.rules.ruleset import AllRefuse, OpenGuard, Rebellion, ShowCounts, option_text
from baohuang.rules.state import known
from tests.unit.rules.refused import why_refused


def test_cards_are_in_deck_order_r2_6() -> None:
    names = [str(card) for card in CARDS]
    assert names[:6] == ["3c", "3d", "3h", "3s", "4c", "4d"]
    assert names[-8:] == ["2c", "2d", "2h", "2s", "SJ", "GJ", "BJ", "EJ"]
    assert format_cards(parse_cards("EJ 2s 3c BJ")) == "3c 2s BJ EJ"
    assert repr(CARDS[0]) == "3c"


def test_marked_jokers_rank_as_plain_ones_r2_3() -> None:
    small, guard, big, emperor = parse_cards("SJ GJ BJ EJ")
    assert small.rank == guard.rank < big.rank == emperor.rank
    assert all(card.is_joker for card in (small, guard, big, emperor))
    assert parse_cards("2s")[0].rank < small.rank


@pytest.mark.parametrize("text", ["1c", "7", "7x", "bj", "10c", "7cc", "王", "7c,8c"])
def test_what_is_no_card_is_refused(text: str) -> None:
    assert why_refused(parse_cards, text)[0] == "MALFORMED_CARD"


def test_bare_ranks_are_for_questions_without_suits() -> None:
    assert format_cards(parse_ranked_cards("8 BJ 8s")) == "8c 8s BJ"
    with pytest.raises(CardError):
        parse_cards("8")


def test_hands_as_multisets() -> None:
    hand = parse_cards("7c 7c 8d")
    assert holds(hand, parse_cards("7c 7c"))
    assert not holds(hand, parse_cards("7c 7c 7c"))
    assert holds(hand, parse_cards("8d"))
    assert without(hand, parse_cards("7c")) == parse_cards("7c 8d")


def test_165_deck_lacks_a_six_of_clubs_diamonds_and_hearts_r2_1() -> None:
    deck = PRESETS["jiaodong"].deck
    assert [format_cards([card]) for card in deck if card.rank == 3] == ["6c"] * 3 + ["6d"] * 3 + [
        "6h"
    ] * 3 + ["6s"] * 4
    assert [str(card) for card in deck[-8:]] == ["SJ"] * 3 + ["GJ"] + ["BJ"] * 3 + ["EJ"]
    assert {str(card) for card in PRESETS["shandong-folk"].deck if card.is_joker} == {"SJ", "BJ"}


@pytest.mark.parametrize("first_drawer", range(5))
@pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
def test_longer_hands_go_to_those_who_draw_first_r2_2(rules: RuleSet, first_drawer: int) -> None:
    hands = Game.deal(rules, seed=5, first_drawer=first_drawer).state.hidden.hands
    sizes = [len(hands[(first_drawer + turn) % 5]) for turn in range(5)]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == rules.deck_size
    assert sizes[0] - sizes[4] <= 1


def test_the_same_seed_deals_the_same_hands_and_another_others() -> None:
    rules = PRESETS["marked-guard"]
    assert Game.deal(rules, seed=7).state == Game.deal(rules, seed=7).state
    assert Game.deal(rules, seed=7).state != Game.deal(rules, seed=8).state


def test_options_of_the_presets_r2_5() -> None:
    for name, rules in PRESETS.items():
        jiaodong, folk = name == "jiaodong", name == "shandong-folk"
        assert not rules.kaopai
        assert rules.hold_back_sixes is jiaodong
        assert rules.jokers_with_last_sixes
        assert rules.grab_solo is jiaodong
        assert not rules.three_twos_beat_big_joker
        assert not rules.called_card_is_top
        assert rules.all_refuse is (AllRefuse.LOSE if jiaodong else None)
        assert rules.hold_back_threes is rules.tribute is rules.tribute_return is folk
        assert rules.show_counts is ShowCounts.ALWAYS
        assert rules.options() == {}
        assert str(rules) == name


def test_options_are_taken_as_values_or_texts_and_given_back() -> None:
    rules = RuleSet.preset(
        "jiaodong", kaopai="true", hold_back_sixes="off", all_refuse="must_play", show_counts="never"
    )
    assert rules.kaopai is True
    assert rules.all_refuse is AllRefuse.MUST_PLAY
    assert rules.options() == {
        "hold_back_sixes": False,
        "kaopai": True,
        "all_refuse": "must_play",
        "show_counts": "never",
    }
    assert RuleSet.preset(rules.name, **rules.options()) == rules
    assert str(rules) == "jiaodong kaopai=true hold_back_sixes=false all_refuse=must_play show_counts=never"
    assert RuleSet.preset("marked-guard", deck_size="165").deck_size == 165
    assert (
        RuleSet.preset("lianzhong-simple", rebellion=Rebellion.SHOWS, open_guard="shows").open_guard
        is OpenGuard.SHOWS
    )


@pytest.mark.parametrize(
    ("preset", "options", "refusal"),
    [
        ("xiangqi", {}, ("UNKNOWN_PRESET", "R2")),
        ("jiaodong", {"jokers": 3}, ("UNKNOWN_OPTION", "R2.5")),
        ("jiaodong", {"name": "x"}, ("UNKNOWN_OPTION", "R2.5")),
        ("jiaodong", {"kaopai": "maybe"}, ("BAD_OPTION_VALUE", "R2.5")),
        ("jiaodong", {"kaopai": 1}, ("BAD_OPTION_VALUE", "R2.5")),
        ("jiaodong", {"deck_size": "many"}, ("BAD_OPTION_VALUE", "R2.5")),
        ("jiaodong", {"deck_size": True}, ("BAD_OPTION_VALUE", "R2.5")),
        ("jiaodong", {"all_refuse": "cry"}, ("BAD_OPTION_VALUE", "R2.5")),
        ("jiaodong", {"deck_size": 52}, ("BAD_OPTION_VALUE", "R2.5")),
        ("jiaodong", {"self": 1}, ("UNKNOWN_OPTION", "R2.5")),
        ("jiaodong", {"throne": "fixed"}, ("OPTIONS_CONFLICT", "R2.5")),
        ("marked-guard", {"counters": True}, ("OPTIONS_CONFLICT", "R5.11")),
        ("jiaodong", {"deck_size": 216}, ("OPTIONS_CONFLICT", "R2.1")),
        ("shandong-folk", {"guard_by": "guard_joker"}, ("OPTIONS_CONFLICT", "R2.1")),
        ("shandong-folk", {"guard_by": "guard_joker", "deck_size": 168}, ("OPTIONS_CONFLICT", "R10.1")),
        ("jiaodong", {"guard_by": "called_card"}, ("OPTIONS_CONFLICT", "R5.1")),
        ("jiaodong", {"grab_solo": False}, ("OPTIONS_CONFLICT", "R2.5")),
        ("marked-guard", {"throne": "offer", "grab_solo": True}, ("OPTIONS_CONFLICT", "R2.5")),
        ("marked-guard", {"all_refuse": "lose"}, ("OPTIONS_CONFLICT", "R2.5")),
        ("marked-guard", {"adds_cards": True}, ("OPTIONS_CONFLICT", "R5.2")),
        ("shandong-folk", {"three_twos_beat_big_joker": True}, ("OPTIONS_CONFLICT", "R2.5")),
        ("lianzhong-simple", {"called_card_is_top": True}, ("OPTIONS_CONFLICT", "R2.5")),
        ("shandong-folk", {"hold_back_sixes": True}, ("OPTIONS_CONFLICT", "R7.4")),
        ("shandong-folk", {"deck_size": 168}, ("OPTIONS_CONFLICT", "R7.4")),
        ("lianzhong-classic", {"tribute": True}, ("OPTIONS_CONFLICT", "R2.5")),
        ("lianzhong-classic", {"tribute_return": True}, ("OPTIONS_CONFLICT", "R2.5")),
        ("shandong-folk", {"counters": True}, ("OPTIONS_CONFLICT", "R5.11")),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(
    preset: str, options: dict[str, object], refusal: object
) -> None:
    assert why_refused(RuleSet.preset, preset, **options) == refusal


def test_a_part_that_a_preset_has_can_be_taken_away() -> None:
    rules = RuleSet.preset("jiaodong", throne="fixed", all_refuse="none")
    assert rules.options() == {"throne": "fixed", "all_refuse": "none"}
    assert RuleSet.preset(rules.name, **rules.options()) == rules


def test_refusal_shows_the_rule_set_and_the_choices() -> None:
    with pytest.raises(
        RuleSetError, match="show_counts cannot be 'sometimes'; it is one of: always, at_most_10, never"
    ):
        RuleSet.preset("jiaodong", show_counts="sometimes")
    with pytest.raises(RuleSetError, match=r"marked-guard all_refuse=lose: all_refuse exists only"):
        RuleSet.preset("marked-guard", all_refuse="lose")


def test_what_an_option_can_be_is_known() -> None:
    assert RuleSet.option_names()[:3] == ("deck_size", "throne", "guard_by")
    assert RuleSet.values_of("kaopai") == (False, True)
    assert RuleSet.values_of("deck_size") == (165, 168, 216)
    assert RuleSet.values_of("all_refuse") == (*AllRefuse, None)
    assert why_refused(RuleSet.values_of, "name") == ("UNKNOWN_OPTION", "R2.5")
    for name in RuleSet.option_names():
        texts = [option_text(value) for value in RuleSet.values_of(name)]
        assert len(set(texts)) == len(texts) > 1


def test_variants_of_section_13_are_possible_as_data() -> None:
    """A folk deck without 3, 4, 5: its marked jokers are plain there, and other parts stay as they are."""
    rules = RuleSet.preset("shandong-folk", deck_size=168, hold_back_threes=False)
    game = Game.deal(rules, seed=1)
    assert game.to_act == (0,)
    assert len(game.state.public.deck) == 168


def test_beats_takes_texts_or_cards_and_judges_by_shape_alone_r4_5() -> None:
    rules = RuleSet.preset("lianzhong-simple", kaopai=True)
    assert rules.beats("BJ BJ 8s 8h", "BJ 7s 7h")
    assert rules.beats(parse_cards("8s"), parse_cards("7h"))
    assert rules.beats("5 5", "4 4"), "whether a deck holds the cards is not asked"
    assert rules.beats("7 8", "6 6") is False
    assert rules.beats("", "6") is False
    assert why_refused(rules.beats, "8", "6 7") == ("NOT_A_PLAY", "R3.1")
    assert why_refused(rules.beats, "8", "") == ("NOT_A_PLAY", "R3.1")
    assert why_refused(PRESETS["shandong-folk"].beats, "8", "6 7") == ("NOT_A_PLAY", "R10.2")


@pytest.mark.parametrize(
    "text",
    [
        "keep",
        "take",
        "yield",
        "decline",
        "call 9c",
        "solo",
        "guard",
        "rebel",
        "counter",
        "no",
        "give 2c",
        "pass",
    ],
)
def test_texts_of_actions_r12(text: str) -> None:
    assert str(Action.parse(text)) == text
    assert repr(Action.parse(text)) == f"Action.parse({text!r})"


def test_a_play_is_brought_into_deck_order() -> None:
    assert str(Action.parse("play BJ 7d 7c")) == "play 7c 7d BJ"
    assert Action.play("7d 7c") == Action.play((Card(17), Card(16))) == Action.parse("play 7c 7d")


@pytest.mark.parametrize(
    "text", ["", "jump", "play", "call", "call 9c 9d", "give 2c 2d", "pass 7c", "PASS", "play 7", "keep 7c"]
)
def test_malformed_texts_of_actions_are_refused(text: str) -> None:
    assert why_refused(Action.parse, text)[0] in ("MALFORMED_ACTION", "MALFORMED_CARD")


def test_what_is_no_action_at_all_is_refused_as_malformed() -> None:
    game = Game.deal(PRESETS["marked-guard"], seed=1)
    assert why_refused(game.apply, 0, 7)[0] == "MALFORMED_ACTION"
    assert why_refused(Action.of, "play", (Card(16),))[0] == "MALFORMED_ACTION"
    assert why_refused(Action.of, ActionKind.PLAY, (16,))[0] == "MALFORMED_ACTION"


def test_errors_say_reason_clause_and_where() -> None:
    error = RecordError("no such seat", line=3, seat=7)
    assert str(error) == "BAD_RECORD: line 3: no such seat"
    assert (error.line, dict(error.details)) == (3, {"line": 3, "seat": 7})
    with pytest.raises(RuleSetError, match=r"^UNKNOWN_PRESET \[R2\]: no rule set 'x'"):
        RuleSet.preset("x")


def test_a_state_without_what_its_step_guarantees_is_a_fault_of_ours() -> None:
    assert known(0) == 0
    with pytest.raises(RuntimeError, match="lacks what its step guarantees"):
        known(None)
