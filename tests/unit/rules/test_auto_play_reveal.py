"""Auto-play puts a card that would reveal last, and only such a card (R9.2, R11.2)."""

import pytest

from baohuang import Game, Opening, RuleSet
from baohuang.rules.autoplay import lead
from baohuang.rules.cards import parse_card

CLASSIC = RuleSet.preset("lianzhong-classic")


@pytest.mark.parametrize(
    ("hand", "guard_hand", "guard", "lead"),
    [
        ("9c 9d Kc", "9c 7c", 3, "play 9c"),  # not his fourth: it tells nothing
        ("9c 9d Kc", "7c 8c", 0, "play 9d"),  # the last copy of a solo emperor
        ("9c 9c 9d Kc", "7c 8c", 0, "play 9c"),  # one more is left
    ],
)
def test_emperor_leads_a_called_card_unless_it_is_his_fourth(hand, guard_hand, guard, lead) -> None:
    hands = [hand, "8d", "8h", guard_hand, "8s"]
    game = Game.from_hands(CLASSIC, hands, opening=Opening(0, guard, called=parse_card("9c")))
    assert str(game.auto_action(0)) == lead


def test_guard_leads_the_called_card_last_among_equals() -> None:
    nine = parse_card("9c")
    game = Game.from_hands(CLASSIC, ["2c", "8d", "8h", "9c 9d Kd", "8s"], opening=Opening(0, 3, called=nine))
    assert str(lead(CLASSIC, game.state.hidden.hands[3], called=nine, revealing=nine)) == "play 9d"
