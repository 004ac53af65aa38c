"""R2.7 and the commands that begin a game."""

import pytest

from baohuang import (
    PRESETS,
    CardError,
    Due,
    DueKind,
    Game,
    Opening,
    RuleError,
    RuleSet,
    RuleSetError,
    parse_cards,
)
from baohuang.rules.actions import PASS
from baohuang.rules.commands import Act, AddNonce, Deal, Start
from baohuang.rules.decide import decide, execute
from baohuang.rules.events import Dealt, GuardRevealed, NonceAdded, Step
from tests.unit.rules.refused import why_refused

JIAODONG, MARKED = PRESETS["jiaodong"], PRESETS["marked-guard"]
SIMPLE, CLASSIC, FOLK = PRESETS["lianzhong-simple"], PRESETS["lianzhong-classic"], PRESETS["shandong-folk"]
FIVE = ["7c 7d", "8c 8d", "9c 9d", "Tc Td", "Jc Jd"]
NINE = parse_cards("9c")[0]


@pytest.mark.parametrize(
    ("rules", "hands"),
    [
        (MARKED, FIVE[:4]),
        (MARKED, [*FIVE, "Kc"]),
        (MARKED, ["", *FIVE[1:]]),
        (MARKED, ["7c 7c 7c 7c 7c", *FIVE[1:]]),
        (JIAODONG, ["6c 6c 6c 6c", *FIVE[1:]]),
        (JIAODONG, ["3c", *FIVE[1:]]),
        (FOLK, ["EJ", *FIVE[1:]]),
        (MARKED, FIVE),
        (MARKED, ["EJ", *FIVE[1:]]),
        (MARKED, ["GJ", *FIVE[1:]]),
        (CLASSIC, ["EJ 9c 9c 9c", "8c", "8d", "8h", "8s"]),
        (CLASSIC, ["EJ 9c 9c", "9c", "9c", "8h", "8s"]),
        (FOLK, FIVE),
    ],
)
def test_a_deal_that_cannot_be_played_is_refused(rules: RuleSet, hands: list[str]) -> None:
    assert why_refused(Game.from_hands, rules, hands) == ("BAD_DEAL", "R2.7")


@pytest.mark.parametrize(
    ("rules", "hands"),
    [
        (MARKED, ["EJ", "GJ", "8c", "8d", "8h"]),
        (CLASSIC, ["EJ", "9c 9c 9c", "9c", "8d", "8h"]),
        (FOLK, ["9c 9c 9c 9c", "8c", "8d", "8h", "8s"]),
    ],
)
def test_a_few_cards_are_a_deal(rules: RuleSet, hands: list[str]) -> None:
    game = Game.from_hands(rules, hands, first_drawer=2)
    assert game.to_act
    assert game.state.public.given_deal
    assert sorted(game.state.public.deck) == list(game.state.public.deck)
    assert Game.from_hands(rules, [parse_cards(hand) for hand in hands], first_drawer=2).state == game.state


@pytest.mark.parametrize(
    ("rules", "opening", "clause"),
    [
        (MARKED, Opening(5, 1), "R2.4"),
        (MARKED, Opening(0, None), "R2.4"),
        (MARKED, Opening(0, 1, rebels=(7,)), "R2.4"),
        (MARKED, Opening(0, 1, open_solo=True), "R5.6"),
        (SIMPLE.replace(solo_claims=False), Opening(0, 0, open_solo=True), "R5.7"),
        (MARKED, Opening(0, 1, called=NINE), "R5.5"),
        (CLASSIC, Opening(0, 1), "R5.5"),
        (CLASSIC, Opening(0, 0, open_solo=True, called=NINE), "R5.5"),
        (CLASSIC, Opening(0, 1, called=parse_cards("BJ")[0]), "R5.5"),
        (CLASSIC, Opening(0, 1, called=NINE), "R5.5"),
        (MARKED, Opening(0, 0, open_solo=True, rebels=(1,)), "R5.7"),
        (FOLK, Opening(0, 1, called=parse_cards("Kc")[0], open_guard=True), "R5.8"),
        (MARKED, Opening(0, 0, open_guard=True), "R5.8"),
        (CLASSIC, Opening(0, 1, called=parse_cards("Kc")[0], rebels=(2,)), "R5.9"),
        (MARKED, Opening(0, 1, rebels=(1,)), "R5.9"),
        (MARKED, Opening(0, 1, open_guard=True, counters=(2, 3)), "R5.11"),
        (JIAODONG, Opening(0, 1, counters=(2, 3)), "R5.11"),
        (JIAODONG, Opening(0, 1, rebels=(2,), counters=(0,)), "R5.11"),
        (JIAODONG, Opening(0, 1, open_guard=True, counters=(0,)), "R5.11"),
        (JIAODONG, Opening(0, 1, rebels=(2, 3), counters=(4,)), "R5.11"),
        (JIAODONG, Opening(0, 1, open_guard=True, counters=(2, 3), recounters=(4,)), "R5.11"),
        (JIAODONG, Opening(0, 1, open_guard=True, counters=(2,), recounters=(0,)), "R5.11"),
        (JIAODONG, Opening(0, 0, open_solo=True, counters=(2, 3), recounters=(0,)), "R5.11"),
    ],
)
def test_an_opening_that_cannot_have_been_is_refused(rules: RuleSet, opening: Opening, clause: str) -> None:
    assert why_refused(Game.from_hands, rules, FIVE, opening=opening) == ("BAD_DEAL", clause)


def test_the_holder_of_the_guard_joker_is_the_guard_unless_the_solo_is_open() -> None:
    hands = [*FIVE[:3], "GJ", FIVE[4]]
    assert why_refused(Game.from_hands, MARKED, hands, opening=Opening(0, 1)) == ("BAD_DEAL", "R5.5")
    assert Game.from_hands(MARKED, hands, opening=Opening(0, 3)).to_act == (0,)
    assert Game.from_hands(MARKED, hands, opening=Opening(0, 0, open_solo=True)).to_act == (0,)


@pytest.mark.parametrize(
    ("opening", "known"),
    [
        (Opening(0, 1), False),
        (Opening(0, 0, open_solo=True), True),
        (Opening(0, 1, open_guard=True), True),
        (Opening(0, 1, rebels=(2,)), False),
        (Opening(0, 1, rebels=(2, 3)), True),
    ],
)
def test_a_given_opening_reveals_what_its_declarations_would_r11_2(opening: Opening, known: bool) -> None:
    game = Game.from_hands(JIAODONG, FIVE, opening=opening)
    assert (game.state.public.guard is not None) is known
    assert any(isinstance(event, GuardRevealed) for event in game.events) is known
    assert game.state.public.step is Step.PLAY
    marked = Game.from_hands(MARKED, FIVE, opening=Opening(0, 1, rebels=(2, 3, 4)))
    assert marked.state.public.guard == 1


class TestCommands:
    """Beginning, nonces, the deal."""

    def test_a_start_that_cannot_be_is_refused(self) -> None:
        for command, refusal in (
            (Start(MARKED, first_drawer=5, seed=1), ("BAD_SEAT", "R2.4")),
            (Start(MARKED), ("BAD_SEED", "R2.2")),
            (Start(MARKED, seed=-1), ("BAD_SEED", "")),
            (Start(MARKED, seed=2**256), ("BAD_SEED", "")),
            (Start(MARKED, seed=1, salt=b"short"), ("BAD_SEED", "")),
            (Start(MARKED, seed=1, opening=Opening(0, 1)), ("BAD_DEAL", "R2.7")),
            (Start(MARKED, seed=1, hands=tuple(map(parse_cards, FIVE))), ("BAD_DEAL", "R2.7")),
            (Start(MARKED, await_nonces=True, hands=tuple(map(parse_cards, FIVE))), ("BAD_DEAL", "R2.7")),
        ):
            assert why_refused(decide, None, command) == refusal

    def test_seats_that_declared_are_named_once_and_in_order(self) -> None:
        for rebels in ((2, 2), (3, 2)):
            with pytest.raises(RuleSetError, match=r"R5\.0"):
                Game.from_hands(RuleSet.preset("jiaodong"), FIVE, opening=Opening(0, 1, rebels=rebels))

    def test_a_hand_that_starts_at_play_has_no_dues(self) -> None:
        folk = RuleSet.preset("shandong-folk")
        opening = Opening(0, 0, open_solo=True)
        with pytest.raises(RuleSetError, match=r"R10\.6"):
            Game.from_hands(
                folk, ["7c", "8c", "9c", "Tc", "Jc"], opening=opening, dues=[Due(DueKind.DEBT, 1, 2)]
            )

    def test_seats_and_cards_of_another_type_are_refused(self) -> None:
        game = Game.deal(MARKED, seed=1)
        for seat in (True, 1.0, "1", -1, 5):
            with pytest.raises(RuleError, match="BAD_SEAT"):
                game.legal_actions(seat)
        with pytest.raises(CardError, match="MALFORMED_CARD"):
            Game.from_hands(MARKED, [["7c"]] * 5)

    def test_a_salt_needs_a_seed(self) -> None:
        hands = tuple(map(parse_cards, FIVE))
        command = Start(MARKED, salt=bytes(32), hands=hands, opening=Opening(0, 1))
        assert why_refused(decide, None, command)[0] == "BAD_SEED"

    def test_only_a_start_begins_and_only_once(self) -> None:
        assert why_refused(decide, None, Act(0, PASS)) == ("NOT_STARTED", "")
        game = Game.deal(MARKED, seed=1)
        assert why_refused(decide, game.state, Start(MARKED, seed=1)) == ("ALREADY_STARTED", "")
        assert why_refused(decide, game.state, Deal()) == ("ALREADY_DEALT", "")
        assert why_refused(decide, game.state, AddNonce(0, "x")) == ("ALREADY_DEALT", "")

    def test_nonces_change_the_deal_and_each_seat_adds_one(self) -> None:
        game = Game.start(Start(MARKED, seed=1, salt=bytes(32), await_nonces=True))
        assert game.to_act == ()
        assert why_refused(game.apply, 0, "pass")[0] == "NOT_STARTED"
        state = game.state
        events, state = execute(state, AddNonce(2, "luck 运气"))
        assert events == (NonceAdded(2, "luck 运气"),)
        for nonce in ("again", ""):
            assert why_refused(decide, state, AddNonce(2, nonce))[0] == "NONCE_REFUSED"
        for nonce in ("", "x" * 65, "运" * 22, "\ud800"):
            assert why_refused(decide, state, AddNonce(3, nonce))[0] == "NONCE_REFUSED"
        assert why_refused(decide, state, AddNonce(5, "x"))[0] == "BAD_SEAT"
        events, dealt = execute(state, Deal())
        assert isinstance(events[0], Dealt)
        plain = Game.deal(MARKED, seed=1)
        assert dealt.hidden.hands != plain.state.hidden.hands
        assert execute(game.state, Deal())[1].hidden.hands == plain.state.hidden.hands

    def test_a_commitment_comes_first(self) -> None:
        assert Game.start(Start(MARKED, seed=1, salt=bytes(32))).state.public.commitment is not None
        assert Game.deal(MARKED, seed=1).state.public.commitment is None

    @pytest.mark.parametrize("seat", [-1, 5])
    def test_there_are_five_seats(self, seat: int) -> None:
        game = Game.deal(MARKED, seed=1)
        for ask in (game.legal_actions, game.auto_action, game.view):
            assert why_refused(ask, seat) == ("BAD_SEAT", "R2.4")
        assert why_refused(game.apply, seat, "pass") == ("BAD_SEAT", "R2.4")


def test_dues_of_given_hands_are_paid_before_the_opening() -> None:
    hands = ["9c 9c 9c 9c", "8c Ac", "8d", "8h", "8s"]
    game = Game.from_hands(FOLK, hands, dues=[Due(DueKind.TRIBUTE, 1, 0)])
    assert game.state.public.step is Step.TRIBUTE
    assert parse_cards("Ac")[0] in game.state.hidden.hands[0]


def test_a_called_card_has_four_copies_in_the_deck() -> None:
    rules = CLASSIC.replace(deck_size=165)
    opening = Opening(0, 1, called=parse_cards("6c")[0])
    with pytest.raises(RuleSetError, match=r"R5\.5"):
        Game.from_hands(rules, ["6c 7c", "6c", "8c", "9c", "Tc"], opening=opening)
