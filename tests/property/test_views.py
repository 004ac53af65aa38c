"""What a viewer sees depends on nothing that he may not know (R11.3)."""

import pytest

from baohuang import PRESETS, RuleSet
from baohuang.testing.options import pairwise
from tests.property.twins import run_twins

OPTION_SETS = [rules for preset in PRESETS for rules in pairwise(preset)]


@pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
def test_hands_that_differ_only_in_unknown_cards_look_the_same(rules: RuleSet) -> None:
    ends = run_twins(rules, 0, 25)
    assert ends["steps"] > 25 * 30, "the hands go far enough to tell something"


@pytest.mark.parametrize("rules", OPTION_SETS, ids=str)
def test_so_they_do_under_every_pair_of_options(rules: RuleSet) -> None:
    run_twins(rules, 1000, 2)


@pytest.mark.prove
@pytest.mark.parametrize("rules", [*PRESETS.values(), *OPTION_SETS], ids=str)
def test_so_do_many_more(rules: RuleSet, capsys: pytest.CaptureFixture[str]) -> None:
    ends = run_twins(rules, 2000, 1000)
    with capsys.disabled():
        print(f"\n{rules}: {dict(ends)}")
