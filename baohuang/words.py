"""The words of the game for people, in English and Chinese (docs/rules.md, Words)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import NoneType
from typing import Any, Final

from baohuang.rules.actions import ActionKind
from baohuang.rules.events import AutoPlayReason, ForfeitReason, Step
from baohuang.rules.outcome import Termination
from baohuang.rules.roles import Role, Seat, Solo
from baohuang.rules.ruleset import (
    AllRefuse,
    GuardBy,
    OpenGuard,
    OptionValue,
    Rebellion,
    RuleSet,
    ShowCounts,
    Throne,
    option_text,
)


class Language(StrEnum):
    """What people read."""

    ENGLISH = "en"
    CHINESE = "zh"

    @property
    def tag(self) -> str:
        """As browsers and screen readers know it (BCP 47)."""
        return "zh-Hans" if self is Language.CHINESE else "en"

    @property
    def other(self) -> Language:
        return Language.ENGLISH if self is Language.CHINESE else Language.CHINESE

    def say(self, english: str, chinese: str) -> str:
        """The one of two texts that is of this language."""
        return chinese if self is Language.CHINESE else english


# English first, Chinese second.
_PRESETS: Final = {
    "jiaodong": ("Jiaodong", "胶东保皇"),
    "marked-guard": ("Marked guard", "皇牌保牌玩法"),
    "lianzhong-simple": ("Lianzhong, simple", "联众简明玩法"),
    "lianzhong-classic": ("Lianzhong, classic", "联众经典玩法"),
    "shandong-folk": ("Shandong folk", "山东民间玩法"),
}
_ROLES: Final = {
    Role.EMPEROR: ("emperor", "皇帝"),
    Role.GUARD: ("guard", "侍卫"),
    Role.REBEL: ("rebel", "起义军"),
}
_SOLOS: Final = {
    Solo.NONE: ("", ""),
    Solo.HIDDEN: ("hidden solo", "暗独"),
    Solo.OPEN: ("open solo", "明独"),
}
_STEPS: Final = {
    Step.NONCES: ("nonces", "随机串"),
    Step.TRIBUTE: ("tribute", "进贡"),
    Step.THRONE: ("throne", "皇位"),
    Step.CALL: ("call", "叫牌"),
    Step.CLAIM: ("solo claim", "独保"),
    Step.DECLARE: ("declarations", "声明"),
    Step.COUNTER: ("counter", "扭"),
    Step.RECOUNTER: ("recounter", "踢"),
    Step.PLAY: ("play", "出牌"),
    Step.OVER: ("over", "结束"),
}
_TERMINATIONS: Final = {
    Termination.PLAYED: ("played to the end", "打完"),
    Termination.REFUSED: ("refused: nobody took the throne", "弃皇：无人接皇位"),
    Termination.VOID: ("void: no emperor was found", "作废：无人当皇帝"),
}
_PLACES: Final = (
    ("first", "头客"),
    ("second", "二客"),
    ("third", "三客"),
    ("fourth", "二拉"),
    ("fifth", "大拉"),
)
_ACTIONS: Final = {
    ActionKind.KEEP: ("keeps", "不让位"),
    ActionKind.TAKE: ("takes", "接皇位"),
    ActionKind.YIELD: ("yields", "让位"),
    ActionKind.DECLINE: ("declines", "不接皇位"),
    ActionKind.CALL: ("calls", "叫牌"),
    ActionKind.SOLO: ("solo", "明独"),
    ActionKind.GUARD: ("open guard", "明保"),
    ActionKind.REBEL: ("rebellion", "造反"),
    ActionKind.COUNTER: ("counter", "扭"),
    ActionKind.NO: ("no", "否"),
    ActionKind.GIVE: ("gives", "还贡"),
    ActionKind.PLAY: ("plays", "出牌"),
    ActionKind.PASS: ("passes", "过牌"),
}
_AUTO_PLAY: Final = {
    AutoPlayReason.TIMEOUT: ("the time ran out", "超时"),
    AutoPlayReason.REQUEST: ("by request", "本人要求"),
    AutoPlayReason.LEFT: ("the player left", "已退出"),
}
_FORFEITS: Final = {
    ForfeitReason.FORCED_EXIT: ("left by force", "强行退出"),
    ForfeitReason.REMOVED: ("was removed", "被移出"),
}
# In English parts and options go by the names that they have in code.
_OPTIONS: Final = {
    "deck_size": "牌数",
    "throne": "皇位",
    "guard_by": "侍卫",
    "adds_cards": "贴牌",
    "solo_claims": "询问明独",
    "open_guard": "明保",
    "rebellion": "造反",
    "counters": "扭和踢",
    "twos_fill": "2当配牌",
    "two_big_beat_big": "两张大王管一张",
    "kaopai": "烤牌",
    "three_twos_beat_big_joker": "三张2管一张大王",
    "called_card_is_top": "所叫的牌最大",
    "grab_solo": "抢独",
    "hold_back_sixes": "憋6",
    "jokers_with_last_sixes": "最后的6可挂王",
    "hold_back_threes": "憋三",
    "all_refuse": "无人接皇位时",
    "tribute": "进贡",
    "tribute_return": "还贡",
    "show_counts": "显示余牌数",
}
_OPTION_VALUES: Final[Mapping[type[OptionValue], Mapping[Any, str]]] = {
    bool: {True: "是", False: "否"},
    int: {},
    NoneType: {None: "无"},
    Throne: {
        Throne.FIXED: "不可让位",
        Throne.OFFER: "双牌可让位",
        Throne.UPSTREAM: "向上家让位",
        Throne.BOTTOM_CARDS: "放底牌",
    },
    GuardBy: {GuardBy.GUARD_JOKER: "持保牌者", GuardBy.CALLED_CARD: "叫牌"},
    OpenGuard: {OpenGuard.NONE: "无", OpenGuard.SHOWS: "只亮身份", OpenGuard.DOUBLES: "加倍"},
    Rebellion: {Rebellion.NONE: "无", Rebellion.SHOWS: "只亮身份", Rebellion.DOUBLES: "加倍"},
    AllRefuse: {AllRefuse.LOSE: "判负", AllRefuse.VOID: "作废", AllRefuse.MUST_PLAY: "须自己打"},
    ShowCounts: {ShowCounts.ALWAYS: "始终", ShowCounts.AT_MOST_10: "不超过10张时", ShowCounts.NEVER: "从不"},
}

Named = Role | Solo | Step | Termination | ActionKind | AutoPlayReason | ForfeitReason

# By kind first: members of two kinds that are spelled alike, such as the two named "guard", are equal.
_NAMES: Final[Mapping[type[Named], Mapping[Any, tuple[str, str]]]] = {
    Role: _ROLES,
    Solo: _SOLOS,
    Step: _STEPS,
    Termination: _TERMINATIONS,
    ActionKind: _ACTIONS,
    AutoPlayReason: _AUTO_PLAY,
    ForfeitReason: _FORFEITS,
}


def name_of(value: Named, language: Language) -> str:
    """The word for a value of the rules."""
    return language.say(*_NAMES[type(value)][value])


def preset_name(preset: str, language: Language) -> str:
    """The name of a rule set; one that is not known is called what it is called."""
    return language.say(*_PRESETS.get(preset, (preset, preset)))


def rules_name(rules: RuleSet, language: Language) -> str:
    """The name of a rule set with the options in which it differs from its preset."""
    options = [
        language.say(
            f"{name}: {option_text(getattr(rules, name))}",
            f"{_OPTIONS[name]}：{_option_value(getattr(rules, name))}",
        )
        for name in rules.options()
    ]
    name = preset_name(rules.name, language)
    if not options:
        return name
    return language.say(f"{name} ({', '.join(options)})", f"{name}（{'，'.join(options)}）")


def _option_value(value: OptionValue) -> str:
    return _OPTION_VALUES[type(value)].get(value, str(value))


def place_name(place: int, language: Language) -> str:
    """The word for a finishing place 1 … 5."""
    return language.say(*_PLACES[place - 1])


def seat_name(seat: Seat, language: Language) -> str:
    """What a seat is called: by its number, 0 … 4."""
    return language.say(f"Seat {seat}", f"{seat}号位")
