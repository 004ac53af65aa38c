"""Cases about decks and options (R2)."""

from __future__ import annotations

from baohuang.game import Game
from baohuang.rules.cards import BIG, RANK_NAMES, SMALL, Card
from baohuang.rules.errors import RuleSetError
from baohuang.rules.ruleset import RuleSet
from baohuang.testing.cases.facts import Answers, Case
from baohuang.testing.cases.words import matches, read_seat
from baohuang.testing.scenarios import start_at_play

OPTIONS = "options"
_PLURALS = "threes fours fives sixes sevens eights nines tens jacks queens kings aces twos".split()


def deck(case: Case) -> Answers:
    """R2.1, R2.2: the deck, and how many cards each seat is dealt."""
    rules = case.rules
    if not matches(
        case.action, r"build (the )?deck.*", r"deal", r"max(imum)? size of (one|a) (plain )?set", r""
    ):
        raise case.no_action()
    first = read_seat(case.situation.get("first_drawer", default="A"))
    case.situation.require_all_read()
    game = Game.deal(rules, seed=1, first_drawer=first)
    sizes = [len(hand) for hand in game.state.hidden.hands]
    cards: tuple[Card, ...] = game.state.public.deck
    ranks = [card.rank for card in cards]
    largest = max((card for card in cards if not card.is_joker), key=lambda card: ranks.count(card.rank)).rank
    plain = tuple(card for card in cards if card.rank == largest)
    hung = (*plain, *(card for card in cards if card.is_joker))
    counts = {name: ranks.count(rank) for rank, name in enumerate(_PLURALS)}
    return {
        "total": len(cards),
        "each_player": sizes[0] if len(set(sizes)) == 1 else sizes,
        "hand_sizes": sizes,
        **counts,
        "jokers": ranks.count(SMALL) + ranks.count(BIG),
        "big_jokers": ranks.count(BIG),
        "small_jokers": ranks.count(SMALL),
        "marked_jokers": sum(str(card) in ("EJ", "GJ") for card in cards),
        "max_plain_set": len(plain) if rules.find_shape(plain) else 0,
        "max_set": len(hung) if rules.find_shape(hung) else 0,
        "lowest": RANK_NAMES[min(ranks)],
    }


def options(case: Case) -> Answers:
    """Whether a preset takes these options (R2.5); the options are read as the situation."""
    changes = {}
    for name in list(case.situation.names()):
        changes[name] = case.situation.get(name)
    try:
        rules = RuleSet.preset(case.rules.name, **changes)
    except RuleSetError as error:
        return {
            "legal": False,
            "refused": True,
            "reason": str(error.reason),
            "clause_of_refusal": error.clause,
        }
    return {"legal": True, "refused": False, "reason": None, "text": str(rules)}


def counts(case: Case) -> Answers:
    """How many cards a viewer sees that another holds (option `show_counts`, R11.1)."""
    held, viewer = case.situation.get("holds", default=1), case.situation.get("viewer", default="B")
    case.situation.require_all_read()
    if not matches(case.action, r"(cards|count) (shown|seen)", r"how many cards does .* see"):
        raise case.no_action()
    game = start_at_play(case.rules, {}, filler={0: int(held)})
    seen = game.view(None if viewer == "spectator" else read_seat(viewer)).public
    return {"count": seen.counts[0]}


CATEGORIES = {"deck": deck, OPTIONS: options, "counts": counts, "show_counts": counts}
