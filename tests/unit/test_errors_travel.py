"""Errors cross process borders: multiprocessing pickles what a worker raises."""

import copy
import pickle
from collections.abc import Callable

import pytest

from baohuang import Action, BaohuangError, Game, RuleSet


def _not_your_turn() -> None:
    game = Game.deal(RuleSet.preset("jiaodong"), seed=1)
    game.apply((game.to_act[0] + 1) % 5, "keep")


FAULTS: dict[str, Callable[[], object]] = {
    "RuleError": _not_your_turn,
    "RuleSetError": lambda: RuleSet.preset("none"),
    "CardError": lambda: Action.parse("zz"),
    "RecordError": lambda: Game.replay(""),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_errors_survive_pickling_and_copying(fault: Callable[[], object]) -> None:
    with pytest.raises(BaohuangError) as caught:
        fault()
    error = caught.value
    carried = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes, as between a pool's processes
    for copied in (carried, copy.deepcopy(error)):
        assert type(copied) is type(error)
        assert str(copied) == str(error)
        assert (copied.reason, copied.clause, copied.details) == (error.reason, error.clause, error.details)
