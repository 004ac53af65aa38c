"""Hypothesis strategies: rule sets, hands, games in any stage. Needs hypothesis.

from hypothesis import given
from baohuang.testing.strategies import games

@given(games())
def test_my_bot_always_finds_an_action(game): ...
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume
from hypothesis import strategies as st

from baohuang.game import Game
from baohuang.rules.cards import EMPEROR_JOKER, GUARD_JOKER, Card, Hand
from baohuang.rules.roles import SEATS, Opening
from baohuang.rules.ruleset import PRESETS, RuleSet
from baohuang.testing.options import all_choices, pairwise

MOST_SEED = 2**256 - 1


@st.composite
def rule_sets(draw: st.DrawFn, presets: Sequence[str] = tuple(PRESETS), *, options: bool = True) -> RuleSet:
    """Rule sets of `presets`, with any options that can go together, or without."""
    preset = draw(st.sampled_from(presets))
    if not options:
        return PRESETS[preset]
    return RuleSet.preset(preset, **dict(draw(st.sampled_from(all_choices(preset)))))


@st.composite
def hands(draw: st.DrawFn, rules: RuleSet, *, most: int | None = None) -> tuple[Hand, ...]:
    """Five hands out of the rule set's deck: all of it, or up to `most` cards each."""
    deck = draw(st.permutations(rules.deck)) if most is None else draw(_few_cards(rules, 5 * most))
    return tuple(tuple(sorted(deck[seat::5])) for seat in SEATS)


def _few_cards(rules: RuleSet, most: int) -> st.SearchStrategy[list[Card]]:
    kept = st.lists(st.sampled_from(range(len(rules.deck))), min_size=5, max_size=most, unique=True)
    return kept.map(lambda places: [rules.deck[place] for place in places])


@st.composite
def games(
    draw: st.DrawFn,
    rules: st.SearchStrategy[RuleSet] | None = None,
    *,
    most_actions: int = 400,
    most_cards: int | None = None,
) -> Game:
    """Games after any number (up to `most_actions`) of random legal actions, some of them over.

    Dealt in full from a seed, or with `most_cards` short hands that start at play.
    """
    rule_set = draw(rules or st.sampled_from([each for preset in PRESETS for each in pairwise(preset)]))
    if most_cards is None:
        game = Game.deal(
            rule_set, seed=draw(st.integers(0, MOST_SEED)), first_drawer=draw(st.sampled_from(SEATS))
        )
    else:
        game = draw(short_games(rule_set, most_cards=most_cards))
    random = draw(st.randoms(use_true_random=False))
    for _ in range(draw(st.integers(0, most_actions))):
        if not game.to_act:
            break
        seat = random.choice(game.to_act)
        game.apply(seat, random.choice(game.legal_actions(seat)))
    return game


@st.composite
def short_games(draw: st.DrawFn, rules: RuleSet, *, most_cards: int = 6) -> Game:
    """Games that start at play with up to `most_cards` cards in each hand, whoever is guard."""
    dealt = draw(hands(rules, most=most_cards))
    emperor = draw(st.sampled_from(SEATS))
    guard = draw(st.sampled_from(SEATS))
    called = None
    if rules.calls:
        held = {card for hand in dealt for card in hand}
        called = draw(st.sampled_from([card for card in sorted(set(rules.deck)) if not card.is_joker]))
        assume(
            called not in held
            or all(called not in dealt[seat] for seat in SEATS if seat not in (emperor, guard))
        )
    else:
        guard = next((seat for seat in SEATS if GUARD_JOKER in dealt[seat]), guard)
        emperor = next((seat for seat in SEATS if EMPEROR_JOKER in dealt[seat]), emperor)
    return Game.from_hands(rules, dealt, opening=Opening(emperor, guard, called=called))
