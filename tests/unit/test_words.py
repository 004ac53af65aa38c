"""The words of the game in both languages."""

import pytest

from baohuang import PRESETS, RuleSet, RuleSetError
from baohuang.rules.actions import ActionKind
from baohuang.rules.roles import Role, Solo
from baohuang.words import Language, name_of, place_name, rules_name

CHINESE = Language.CHINESE


def test_the_chinese_words_are_those_of_the_rules() -> None:
    assert [name_of(role, CHINESE) for role in Role] == ["皇帝", "侍卫", "起义军"]
    assert [name_of(solo, CHINESE) for solo in Solo] == ["", "暗独", "明独"]
    declared = [ActionKind.SOLO, ActionKind.GUARD, ActionKind.REBEL, ActionKind.COUNTER, ActionKind.YIELD]
    assert [name_of(kind, CHINESE) for kind in declared] == ["明独", "明保", "造反", "扭", "让位"]
    assert [place_name(place, CHINESE) for place in (1, 2, 3, 4, 5)] == [
        "头客",
        "二客",
        "三客",
        "二拉",
        "大拉",
    ]


def test_a_preset_is_called_by_its_name() -> None:
    assert rules_name(PRESETS["jiaodong"], Language.ENGLISH) == "Jiaodong"
    assert rules_name(PRESETS["jiaodong"], CHINESE) == "胶东保皇"


def test_other_rules_are_told_with_their_options() -> None:
    rules = RuleSet.preset("lianzhong-simple", kaopai=True, show_counts="never")
    assert rules_name(rules, Language.ENGLISH) == "Lianzhong, simple (kaopai: true, show_counts: never)"
    assert rules_name(rules, CHINESE) == "联众简明玩法（烤牌：是，显示余牌数：从不）"


@pytest.mark.parametrize("option", RuleSet.option_names())
def test_every_option_and_value_has_a_chinese_word(option: str) -> None:
    for rules in PRESETS.values():
        for value in RuleSet.values_of(option):
            try:
                changed = rules.replace(**{option: value})
            except RuleSetError:
                continue
            assert not any("a" <= letter <= "z" for letter in rules_name(changed, CHINESE))
