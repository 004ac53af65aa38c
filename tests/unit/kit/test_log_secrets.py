"""Logs hold no secret of a game, not even when a fault of ours is logged with its traceback (R11.3)."""

import logging

import pytest

from baohuang import RuleSet
from baohuang.game import Game
from baohuang.rules.commands import Start
from baohuang.rules.state import State
from services.kit.errors import to_platform_error
from services.kit.logging import configure_logging
from services.kit.rpc import note_error

SEED = 98_765_432_198_765


def _fault(state: State) -> None:
    hand = state.hidden.hands[3]
    raise KeyError(f"a fault beside {len(hand)} cards")


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_traceback_shows_no_values(log_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    configure_logging("engine", log_format=log_format)  # type: ignore[arg-type]
    try:
        game = Game.start(Start(RuleSet.preset("jiaodong"), seed=SEED, salt=b"s" * 32))
        try:
            _fault(game.state)
        except KeyError as error:
            note_error(to_platform_error(error), error)
    finally:
        root.handlers, root.level = before, level
    written = capsys.readouterr().err
    assert "a fault beside" in written
    assert str(SEED) not in written
    assert "ssssssss" not in written
    assert " ".join(map(str, game.state.hidden.hands[3][:3])) not in written
    assert ", ".join(map(str, game.state.hidden.hands[3][:3])) not in written
