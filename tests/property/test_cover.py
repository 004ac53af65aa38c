"""The cover relation of R4.1 against a brute-force search over all groupings."""

from functools import cache
from itertools import product

import pytest

from baohuang import PRESETS, RuleSet
from baohuang.rules.cover import TOP, Shape
from baohuang.testing.oracle import BIG, SMALL, Ranks, covers

COVERS = {
    "plain": RuleSet.preset("jiaodong"),
    "kaopai": RuleSet.preset("lianzhong-simple", kaopai=True),
    "three-twos": RuleSet.preset("marked-guard", three_twos_beat_big_joker=True),
    "kaopai-three-twos": RuleSet.preset("lianzhong-classic", kaopai=True, three_twos_beat_big_joker=True),
    "folk": RuleSet.preset("shandong-folk"),
    "folk-kaopai": RuleSet.preset("shandong-folk", kaopai=True),
    "big-pair-three-twos": RuleSet.preset("jiaodong", two_big_beat_big=True, three_twos_beat_big_joker=True),
}
"""Every different set of groups."""
RANKS = (4, 11, 12)
"""A low rank, an ace and a two: all that the ranks of two plays can be to each other."""


def shapes(most_plain: int) -> list[Shape]:
    jokers = [(small, big) for small in range(5) for big in range(5)]
    alone = [Shape(-1, 0, small, big) for small, big in jokers if small + big]
    sets = [
        Shape(rank, plain, small, big)
        for rank in RANKS
        for plain in range(1, most_plain + 1)
        for small, big in jokers
    ]
    return alone + sets


@cache
def ranks(shape: Shape) -> Ranks:
    return (shape.strength,) * shape.plain + (SMALL,) * shape.small + (BIG,) * shape.big


def check_every_pair(rules: RuleSet, most_plain: int) -> None:
    plays = shapes(most_plain)
    cover = rules.cover
    wrong = [
        (attack, table)
        for attack, table in product(plays, plays)
        if cover.beats(attack, table) is not covers(rules, ranks(attack), ranks(table))
    ]
    assert wrong == []


def test_every_preset_and_option_has_one_of_these_covers() -> None:
    known = {rules.cover for rules in COVERS.values()}
    for preset, kaopai, twos in product(PRESETS.values(), (False, True), (False, True)):
        if not (twos and preset.twos_fill):
            assert preset.replace(kaopai=kaopai, three_twos_beat_big_joker=twos).cover in known


@pytest.mark.parametrize("rules", COVERS.values(), ids=COVERS)
def test_cover_is_that_of_the_search_over_groupings(rules: RuleSet) -> None:
    check_every_pair(rules, most_plain=2)


@pytest.mark.prove
@pytest.mark.parametrize("rules", COVERS.values(), ids=COVERS)
def test_cover_of_every_pair_of_sets_of_up_to_five(rules: RuleSet) -> None:
    check_every_pair(rules, most_plain=5)


@pytest.mark.parametrize("rules", COVERS.values(), ids=COVERS)
def test_no_chain_of_plays_comes_back_to_its_start(rules: RuleSet) -> None:
    """R4.4: no two plays beat each other; moreover each play that beats another is higher in one order."""
    plays = shapes(4)
    left = set(plays)
    beaten_by = {table: [attack for attack in plays if rules.cover.beats(attack, table)] for table in plays}
    for table, attacks in beaten_by.items():
        for attack in attacks:
            assert table not in beaten_by[attack]
    while left:
        unbeaten = {table for table in left if not left.intersection(beaten_by[table])}
        assert unbeaten, "a circle of plays, each beating the next"
        left -= unbeaten


@pytest.mark.parametrize("name", ["kaopai", "folk", "three-twos", "kaopai-three-twos"])
def test_no_option_changes_what_beats_a_play_without_jokers(name: str) -> None:
    """R4.3, for every group that an option adds: all of them beat jokers."""
    plain, other = COVERS["plain"].cover, COVERS[name].cover
    for attack in shapes(4):
        for rank, number in product(RANKS, range(1, 9)):
            table = Shape(rank, number, 0, 0)
            assert plain.beats(attack, table) is other.beats(attack, table)


@pytest.mark.parametrize("rules", COVERS.values(), ids=COVERS)
def test_called_cards_alone_rank_above_big_jokers(rules: RuleSet) -> None:
    """R5.5 (`called_card_is_top`): they beat any play of their number, and nothing beats them."""
    for number in (1, 2, 3, 4):
        top = Shape(TOP, number, 0, 0)
        for play in shapes(4):
            assert rules.cover.beats(top, play) is (number == play.size)
            assert not rules.cover.beats(play, top)


NORMAL = """
8888 > 7777;  BJ SJ SJ SJ > AAAA;  SJ 777 > 6666;  BJ 7777 > SJ 6666;  BJ BJ JJJ > SJ SJ 999
BJ BJ BJ JJ > SJ SJ 999;  9999 x SJ 888;  SJ 8888 x SJ 7777
BJ 2222 x BJ 6666;  BJ BJ BJ BJ 2 x BJ 6666;  22222 x BJ 6666
BJ BJ 222 x BJ 6666;  BJ BJ BJ BJ SJ 2 x BJ 6666
"""
KAOPAI = """
BJ BJ > BJ;  SJ SJ > SJ;  SJ SJ SJ > BJ;  BJ BJ SJ SJ > BJ SJ;  BJ BJ SJ SJ SJ > BJ BJ;  BJ BJ BJ > BJ SJ
BJ SJ SJ > SJ SJ;  BJ SJ SJ SJ > BJ SJ;  BJ BJ BJ SJ SJ > BJ SJ SJ;  BJ BJ 8888 > BJ 7777
BJ BJ BJ SJ 88 > BJ SJ 777;  BJ BJ BJ x BJ
"""


def spread(side: str) -> str:
    """`BJ 88` as `BJ 8 8`."""
    return " ".join(word if word in ("BJ", "SJ") else " ".join(word) for word in side.split())


def checks(text: str) -> list[tuple[str, str, bool]]:
    """Lines of R4.2 as attack, table and whether it beats; sets are written without spaces."""
    found = []
    for item in text.replace("\n", ";").split(";"):
        if item.strip():
            sign = ">" if ">" in item else "x"
            attack, table = (spread(side) for side in item.split(sign))
            found.append((attack, table, sign == ">"))
    return found


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "shandong-folk"])
@pytest.mark.parametrize(("attack", "table", "beats"), checks(NORMAL))
def test_normal_list_of_r4_2(preset: str, attack: str, table: str, beats: bool) -> None:
    assert RuleSet.preset(preset).beats(attack, table) is beats


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "shandong-folk"])
@pytest.mark.parametrize(("attack", "table", "beats"), checks(KAOPAI))
def test_kaopai_list_of_r4_2(preset: str, attack: str, table: str, beats: bool) -> None:
    assert RuleSet.preset(preset, kaopai=True).beats(attack, table) is beats
    assert RuleSet.preset(preset).beats(attack, table) is False
