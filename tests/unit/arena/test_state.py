"""`ArenaState`: one game, one action at a time."""

import pytest

from baohuang import PRESETS, Due, DueKind, Game, RuleError, RuleSet, RuleSetError, Termination, parse_cards
from baohuang.arena import ArenaState
from baohuang.rules.shuffle import deal

SIMPLE = RuleSet.preset("lianzhong-simple")


def new(seed: int = 1, rules: RuleSet = SIMPLE) -> ArenaState:
    state = ArenaState(rules)
    state.reset(seed)
    return state


def test_before_the_first_reset_there_is_nothing_to_do() -> None:
    state = ArenaState(SIMPLE)
    assert state.is_over
    assert state.to_act == -1
    assert state.awaited == ()
    assert state.legal().tolist() == []


def test_a_hand_goes_from_the_deal_to_its_scores() -> None:
    state = new()
    assert sorted(len(state.hand(seat)) for seat in range(5)) == [33, 33, 34, 34, 34]
    assert state.termination is None
    while not state.is_over:
        assert state.awaited[0] == state.to_act
        state.apply(int(state.legal()[-1]))
    assert sum(state.scores()) == 0
    assert sorted(state.places()) == [1, 2, 3, 4, 5]
    assert state.termination is Termination.PLAYED


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_gives_the_same_hands(preset: str) -> None:
    rules = RuleSet.preset(preset)
    one, same, other = new(5, rules), new(5, rules), new(6, rules)
    hands = [[state.hand(seat) for seat in range(5)] for state in (one, same, other)]
    assert hands[0] == hands[1] != hands[2]
    assert tuple(sorted(card for hand in hands[0] for card in hand)) == rules.deck


def test_the_longer_hands_go_to_those_who_draw_first() -> None:
    """R2.2."""
    state = ArenaState(SIMPLE)
    state.reset(1, first_drawer=3)
    assert [len(state.hand(seat)) for seat in range(5)] == [34, 33, 33, 34, 34]


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    state = new()
    before, legal = state.row.copy(), state.legal().copy()
    for action in (-5, 0, 117, 10**9):
        with pytest.raises(RuleError, match="not legal"):
            state.apply(action)
    assert (state.row == before).all()
    assert (state.legal() == legal).all()


def test_a_seat_that_is_not_awaited_can_do_nothing() -> None:
    state = new()
    for seat in (-1, (state.to_act + 1) % 5, 5, 99):
        assert state.legal_of(seat).tolist() == []
        with pytest.raises(RuleError, match="awaited"):
            state.apply_by(seat, int(state.legal()[0]))


def test_after_the_end_nothing_is_legal() -> None:
    state = new()
    while not state.is_over:
        state.apply(int(state.legal()[-1]))
    assert state.legal_of(-1).tolist() == []
    with pytest.raises(RuleError, match="over"):
        state.apply(0)


def test_who_answer_together_may_do_so_in_any_order() -> None:
    """R5.0."""
    rules = RuleSet.preset("jiaodong")
    state = new(1, rules)
    while len(state.awaited) < 5:
        state.apply(state.number("keep"))
    for seat in (4, 2, 0, 3):
        state.apply_by(seat, state.number("no", seat))
    assert state.awaited == (1,)
    assert state.to_act == 1
    state.apply(state.number("no"))
    assert len(state.awaited) == 5


def test_a_copy_goes_its_own_way() -> None:
    state = new()
    copy = state.copy()
    copy.apply(int(copy.legal()[-1]))
    assert (state.row == new().row).all()
    assert not (copy.row == state.row).all()


def test_given_hands_are_checked_as_those_of_a_game() -> None:
    """R2.7."""
    hands = [parse_cards(text) for text in ("EJ 7c", "GJ 8c", "9c", "Tc", "Jc")]
    state = ArenaState.from_hands(SIMPLE, hands)
    assert [state.hand(seat) for seat in range(5)] == [tuple(sorted(hand)) for hand in hands]
    with pytest.raises(RuleSetError, match="EJ"):
        ArenaState.from_hands(SIMPLE, [hands[1]] + [parse_cards("9d")] * 4)


def test_a_game_of_the_readable_rules_can_be_taken_over() -> None:
    game = Game.deal(SIMPLE, seed=4)
    state = ArenaState.from_state(game.state)
    assert state.hand(2) == game.state.hidden.hands[2]
    assert state.awaited == game.to_act


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_have_64_bits(seed: int) -> None:
    with pytest.raises(RuleError, match="seed"):
        ArenaState(SIMPLE).reset(seed)


def test_deals_must_share_out_the_deck() -> None:
    hands = list(deal(SIMPLE, 1))
    ArenaState(SIMPLE).reset(1, deals=[hands])
    with pytest.raises(RuleSetError, match="whole deck"):
        ArenaState(SIMPLE).reset(1, deals=[[*hands[:4], hands[4][1:]]])
    with pytest.raises(RuleSetError, match="five hands"):
        ArenaState(SIMPLE).reset(1, deals=[hands[:4]])


def test_dues_are_for_rule_sets_that_have_them() -> None:
    """R10.6."""
    due = Due(DueKind.TRIBUTE, 0, 1)
    folk = ArenaState(RuleSet.preset("shandong-folk"))
    folk.reset(1, dues=[due])
    assert folk.awaited == (1,)
    with pytest.raises(RuleSetError, match="no debts"):
        ArenaState(SIMPLE).reset(1, dues=[due])
    with pytest.raises(RuleSetError, match="at most 8"):
        folk.reset(1, dues=[due] * 9)
    with pytest.raises(RuleSetError, match="cannot owe"):
        folk.reset(1, dues=[Due(DueKind.DEBT, 3, 3)])


def test_a_first_drawer_is_a_seat() -> None:
    with pytest.raises(RuleError, match="no seat"):
        ArenaState(SIMPLE).reset(1, first_drawer=5)
