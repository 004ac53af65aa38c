"""The public face is handed anything: what it cannot take is refused by an error of ours; nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baohuang import (
    PRESETS,
    Action,
    ActionKind,
    BaohuangError,
    Card,
    Due,
    DueKind,
    Game,
    Opening,
    Record,
    RuleSet,
    format_cards,
    parse_cards,
)

RULES = PRESETS["jiaodong"]
FOLK = PRESETS["shandong-folk"]
HANDS = ["EJ GJ", "7c", "8c", "9c", "Tc"]
ANYTHING: list[Any] = [
    *(None, True, -1, 5, 10**30, 2.5, float("nan"), "", "x", "\ud800", b"x", object(), len, type),
    *([], {}, (), [1], ["x"], (1, 2), {1}, range(3)),
    *(RULES, Game.deal(RULES, seed=7), Action.parse("pass"), Opening(0, 0), Due(DueKind.DEBT, 0, 1), Card(5)),
]


def _opening(**fields: Any) -> Game:
    return Game.from_hands(RULES, HANDS, opening=Opening(**{"emperor": 0, "guard": 0, **fields}))


def _called(card: Any) -> Game:
    rules = PRESETS["lianzhong-classic"]
    return Game.from_hands(rules, HANDS, opening=Opening(emperor=0, guard=0, called=card))


MAKING: dict[str, Callable[[Any], object]] = {
    "preset": RuleSet.preset,
    "preset, a flag": lambda value: RuleSet.preset("jiaodong", kaopai=value),
    "preset, a number": lambda value: RuleSet.preset("jiaodong", deck_size=value),
    "preset, a word": lambda value: RuleSet.preset("jiaodong", all_refuse=value),
    "replace": lambda value: RULES.replace(throne=value),
    "beats, the attack": lambda value: RULES.beats(value, "7c"),
    "beats, the table": lambda value: RULES.beats("7c", value),
    "deal, the rules": lambda value: Game.deal(value, seed=1),
    "deal, the seed": lambda value: Game.deal(RULES, seed=value),
    "deal, the first drawer": lambda value: Game.deal(RULES, seed=1, first_drawer=value),
    "deal, the dues": lambda value: Game.deal(FOLK, seed=1, dues=value),
    "deal, a due": lambda value: Game.deal(FOLK, seed=1, dues=[value]),
    "deal, a due's kind": lambda value: Game.deal(FOLK, seed=1, dues=[Due(value, 0, 1)]),
    "deal, a due's giver": lambda value: Game.deal(FOLK, seed=1, dues=[Due(DueKind.DEBT, value, 1)]),
    "from_hands, the rules": lambda value: Game.from_hands(value, HANDS),
    "from_hands, the hands": lambda value: Game.from_hands(RULES, value),
    "from_hands, each hand": lambda value: Game.from_hands(RULES, [value] * 5),
    "from_hands, the opening": lambda value: Game.from_hands(RULES, HANDS, opening=value),
    "opening, emperor": lambda value: _opening(emperor=value),
    "opening, guard": lambda value: _opening(guard=value),
    "opening, open solo": lambda value: _opening(open_solo=value),
    "opening, open guard": lambda value: _opening(open_guard=value),
    "opening, rebels": lambda value: _opening(rebels=value),
    "opening, counters": lambda value: _opening(counters=value),
    "opening, recounters": lambda value: _opening(recounters=value),
    "opening, called": _called,
    "replay": Game.replay,
    "loads": Record.loads,
    "Action.parse": Action.parse,
    "Action.of, the kind": Action.of,
    "Action.of, the cards": lambda value: Action.of(ActionKind.PLAY, value),
    "Action.play": Action.play,
    "Card": Card,
    "parse_cards": parse_cards,
    "format_cards": format_cards,
}

USING: dict[str, Callable[[Game, Any], object]] = {
    "legal_actions": Game.legal_actions,
    "apply, the seat": lambda game, value: game.apply(value, "keep"),
    "apply, the action": lambda game, value: game.apply(game.to_act[0], value),
    "apply, the kind": lambda game, value: game.apply(game.to_act[0], Action(value)),
    "apply, the cards": lambda game, value: game.apply(game.to_act[0], Action(ActionKind.PLAY, value)),
    "auto_action": Game.auto_action,
    "view": Game.view,
    "start_auto_play": Game.start_auto_play,
    "start_auto_play, why": lambda game, value: game.start_auto_play(0, value),
    "stop_auto_play": Game.stop_auto_play,
    "auto_act": Game.auto_act,
    "forfeit": Game.forfeit,
    "forfeit, why": lambda game, value: game.forfeit(0, value),
}


@pytest.mark.parametrize("call", MAKING.values(), ids=MAKING)
def test_what_cannot_be_made_of_a_value_is_refused_by_an_error_of_ours(call: Callable[[Any], object]) -> None:
    refused = 0
    for value in ANYTHING:
        try:
            made = call(value)
        except BaohuangError:
            refused += 1
        else:
            if isinstance(made, Game):
                assert Game.replay(made.record().dumps()).state == made.state
    assert refused > len(ANYTHING) / 2


@pytest.mark.parametrize("call", USING.values(), ids=USING)
def test_a_game_refuses_values_of_other_kinds_and_stays_as_it_was(
    call: Callable[[Game, Any], object],
) -> None:
    game = Game.deal(RULES, seed=7)
    refused = 0
    for value in ANYTHING:
        before = game.state
        try:
            call(game, value)
        except BaohuangError:
            refused += 1
            assert game.state is before
    assert refused > len(ANYTHING) / 2
    assert Game.replay(game.record().dumps()).state == game.state


def test_the_refusals_say_what_to_do_instead() -> None:
    with pytest.raises(BaohuangError, match=r"'jiaodong' is no RuleSet; RuleSet\.preset makes one"):
        Game.deal("jiaodong", seed=1)  # type: ignore[arg-type]
    with pytest.raises(BaohuangError, match="a record is a text or bytes, not dict"):
        Game.replay({})  # type: ignore[arg-type]
    with pytest.raises(BaohuangError, match="'bored' is no AutoPlayReason; there are timeout, request, left"):
        Game.deal(RULES, seed=7).start_auto_play(0, "bored")  # type: ignore[arg-type]
