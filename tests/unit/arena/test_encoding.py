"""Action ids: every action has one, each id says what it means."""

import pytest

from baohuang import PRESETS, Action, ActionKind, Card, RuleError, RuleSet, parse_cards
from baohuang.arena import ActionSpace, ArenaState
from baohuang.arena.encoding import COLUMNS
from baohuang.rules.cards import CARDS

SIMPLE = ["pass", "keep", "take", "yield", "decline", "solo", "guard", "rebel", "counter", "no"]


def space(preset: str) -> ActionSpace:
    return ActionSpace.of(RuleSet.preset(preset))


@pytest.mark.parametrize("preset", PRESETS)
def test_the_first_ids_are_the_same_in_every_rule_set(preset: str) -> None:
    texts = [
        *SIMPLE,
        *(f"call {card}" for card in CARDS if not card.is_joker),
        *(f"give {card}" for card in CARDS),
    ]
    assert len(texts) == 118
    for number, text in enumerate(texts):
        assert space(preset).encode(Action.parse(text)) == number
        assert str(space(preset).decode(number)) == text
        assert space(preset).name(number) == text


@pytest.mark.parametrize(
    ("preset", "play", "mark"),
    [
        ("jiaodong", "7c", None),
        ("jiaodong", "7c 7d SJ GJ BJ BJ", "GJ"),
        ("marked-guard", "GJ EJ", "GJ"),
        ("lianzhong-classic", "9c 9c 9d", "9c"),
        ("lianzhong-classic", "9c 9d 9d", "9c"),
        ("shandong-folk", "3c 3d", None),
        ("shandong-folk", "8c 8d 2c 2h SJ", "2h"),
        ("shandong-folk", "2c 2d 2h 2s", "2h"),
    ],
)
def test_a_play_comes_back_from_its_id(preset: str, play: str, mark: str | None) -> None:
    """R11.4: rank, fillers, jokers and revealing cards make an id; the hand gives the cards."""
    cards = parse_cards(play)
    marked: Card | None = None if mark is None else parse_cards(mark)[0]
    number = space(preset).encode(Action.play(cards), marked)
    assert space(preset).decode(number, cards, marked) == Action.play(cards)


def test_plays_that_differ_only_in_suits_share_an_id_unless_a_card_reveals() -> None:
    """R11.4."""
    classic = space("lianzhong-classic")
    called = parse_cards("9c")[0]
    one, other = Action.play("9c"), Action.play("9d")
    assert classic.encode(one) == classic.encode(other)
    assert classic.encode(one, called) != classic.encode(other, called)
    hand = parse_cards("9c 9d 9h")
    assert classic.decode(classic.encode(other, called), hand, called) == Action.play("9d")
    assert classic.decode(classic.encode(other), hand) == Action.play("9c")


@pytest.mark.parametrize("preset", PRESETS)
def test_the_table_tells_of_every_id_what_it_is(preset: str) -> None:
    table = space(preset).table
    assert table.shape == (space(preset).size, len(COLUMNS))
    kinds = list(ActionKind)
    assert [kinds[kind] for kind in table[:10, 0].tolist()] == [Action.parse(text).kind for text in SIMPLE]
    plays = table[118:]
    used = plays[plays[:, 0] >= 0]
    assert (used[:, 0] == kinds.index(ActionKind.PLAY)).all()
    assert len({tuple(row) for row in used.tolist()}) == len(used), "no two ids mean the same"
    assert (plays[plays[:, 0] < 0][:, 1:] == -1).all()


@pytest.mark.parametrize("number", [-1, 10**6])
def test_an_id_outside_the_space_is_refused(number: int) -> None:
    with pytest.raises(RuleError, match="no action"):
        space("jiaodong").decode(number)


def test_an_id_whose_cards_the_hand_lacks_is_refused() -> None:
    number = space("jiaodong").encode(Action.play("7c 7d"))
    with pytest.raises(RuleError, match="lacks"):
        space("jiaodong").decode(number, parse_cards("7c 8c"))


def test_cards_that_are_no_play_have_no_id() -> None:
    """R3.1, R10.2."""
    with pytest.raises(RuleError, match="no play"):
        space("jiaodong").encode(Action.play("7c 2c"))
    assert space("shandong-folk").encode(Action.play("7c 2c")) > 118


def test_a_joker_cannot_be_called() -> None:
    """R5.5."""
    with pytest.raises(RuleError, match="no action"):
        space("shandong-folk").encode(Action.parse("call BJ"))


def test_actions_of_a_state_go_both_ways() -> None:
    state = ArenaState(RuleSet.preset("lianzhong-simple"))
    state.reset(3)
    while not state.is_over:
        for number in state.legal().tolist():
            assert state.number(str(state.action(number))) == number
        state.apply(int(state.legal()[0]))


def test_names_tell_the_parts_of_a_play() -> None:
    folk = space("shandong-folk")
    number = folk.encode(Action.play("8c 8d 8h 2c SJ BJ BJ"), parse_cards("8h")[0])
    assert folk.name(number) == "play 8x3 2 SJ BJx2 (1 marked)"
