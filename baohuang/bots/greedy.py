"""`greedy`: gets rid of its cards as cheaply as it can, one move at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from baohuang.rules.actions import DECLINE, KEEP, NO, PASS, SOLO, TAKE, YIELD, Action, ActionKind
from baohuang.rules.cards import BIG, GUARD_JOKER, SMALL, TWO, Card, Hand, Rank
from baohuang.rules.events import Step
from baohuang.rules.opening import callable_cards
from baohuang.rules.roles import Seat
from baohuang.rules.ruleset import Throne
from baohuang.rules.state import View

STRONG_HAND: Final = 9
"""Twos and jokers with which an offered throne is worth taking; a fifth of all there are is about five."""
SPLIT: Final = 3.0
"""What tearing up a set costs, in the unit of one rank on the way up."""
FILLER: Final = 4.0
JOKER: Final = {SMALL: 8.0, BIG: 11.0}
REVEAL: Final = 4.0
LIMIT: Final = 14.0
"""The most that a play on somebody else's may cost while nobody is close to going out."""
FEW_CARDS: Final = 8
"""With so few cards left, a player is close to going out."""


class GreedyBot:
    """Leads its lowest whole set, beats others with the cheapest play, lets its known partner's plays stand.

    It declares nothing. The choice follows from the view alone.
    """

    name: Final = "greedy"

    def choose(self, view: View, legal_actions: Sequence[Action], time_limit: float | None) -> Action:
        """The cheapest sensible one of `legal_actions`."""
        if len(legal_actions) == 1:
            return legal_actions[0]
        match view.public.step:
            case Step.PLAY if view.public.table is None:
                return _lead(view, legal_actions)
            case Step.PLAY:
                return _follow(view, legal_actions)
            case Step.THRONE:
                return _throne(view, legal_actions)
            case Step.CALL:
                return _call(view, legal_actions)
            case Step.TRIBUTE:
                return min(legal_actions, key=lambda action: action.cards)
            case _:
                return NO


def _throne(view: View, legal_actions: Sequence[Action]) -> Action:
    rules, hand = view.public.rules, _hand(view)
    if rules.throne is Throne.OFFER:
        wants = KEEP in legal_actions or sum([card.rank >= TWO for card in hand]) >= STRONG_HAND
    else:
        wants = not rules.calls or bool(callable_cards(hand, view.public.deck))
    preferred = (KEEP, TAKE) if wants else (YIELD, DECLINE)
    return next((action for action in legal_actions if action in preferred), legal_actions[0])


def _call(view: View, legal_actions: Sequence[Action]) -> Action:
    """The lowest card that somebody else holds the fourth of; else a hidden solo, or at last an open one."""
    hand = _hand(view)
    calls = [action for action in legal_actions if action.kind is ActionKind.CALL]
    return min(calls, key=lambda action: (hand.count(action.cards[0]), action.cards), default=SOLO)


def _lead(view: View, legal_actions: Sequence[Action]) -> Action:
    hand = _hand(view)
    sets = Counter([card.rank for card in hand if not card.is_joker])
    big_jokers = sum([card.rank == BIG for card in hand])
    # With a big joker to hang on every set but the last, hardly anybody can stop the run to the end.
    running = len(sets) > 1 and big_jokers >= len(sets) - 1

    def order(action: Action) -> tuple[bool, bool, int, int, Hand]:
        cards = action.cards
        plain = [card for card in cards if not card.is_joker]
        whole = bool(plain) and len({card.rank for card in plain}) == 1 and len(plain) == sets[plain[0].rank]
        big = sum([card.rank == BIG for card in cards])
        jokers = len(cards) - len(plain)
        fits = whole and jokers == big == (1 if running else 0)
        return (len(cards) != len(hand), not fits, jokers, plain[0].rank if plain else SMALL, cards)

    return min(legal_actions, key=order)


def _follow(view: View, legal_actions: Sequence[Action]) -> Action:
    public, hand = view.public, _hand(view)
    table = public.table
    plays = [action for action in legal_actions if action.kind is ActionKind.PLAY]
    if table is None or not plays:
        return PASS
    out = [play for play in plays if len(play.cards) == len(hand)]
    if out:
        return out[0]
    owner_plays = public.places[table.seat] is None
    if owner_plays and is_partner(view, table.seat):
        return PASS
    held = Counter([card.rank for card in hand])
    best = min(plays, key=lambda play: (_cost(view, held, play.cards), play.cards))
    limit = LIMIT
    if _sets_after(held, best.cards) <= 1 or (owner_plays and _is_close(public.counts[table.seat])):
        limit = 4 * LIMIT
    return best if _cost(view, held, best.cards) <= limit else PASS


def _cost(view: View, held: Counter[Rank], cards: Hand) -> float:
    """What a play gives away: rank, sets torn up, twos as fillers, jokers, the guard's secret."""
    public = view.public
    used = Counter([card.rank for card in cards])
    plain = [rank for rank in used if rank < SMALL]
    rank = min(plain, default=TWO)
    cost = float(rank) if plain else 0.0
    cost += SPLIT * sum([used[each] < held[each] for each in plain])
    cost += FILLER * sum([used[each] for each in plain if each != rank])
    cost += sum([JOKER[each] * used[each] for each in (SMALL, BIG)])
    if public.guard is None and (GUARD_JOKER in cards or _calls(public.called, cards)):
        cost += REVEAL
    return cost


def _calls(called: Card | None, cards: Hand) -> bool:
    return called is not None and called in cards


def _sets_after(held: Counter[Rank], cards: Hand) -> int:
    left = held - Counter([card.rank for card in cards])
    return sum([rank < SMALL for rank in left])


def _is_close(count: int | None) -> bool:
    return count is not None and count <= FEW_CARDS


def is_partner(view: View, seat: Seat) -> bool:
    """Whether the viewer knows that `seat` is on his side."""
    emperor, own = view.public.emperor, view.own
    if own is None or own.guard is None:
        return False  # Who does not know the guard is emperor or rebel, and is sure of nobody.
    royal = (emperor, own.guard)
    return seat != own.seat and (seat in royal) is (own.seat in royal)


def _hand(view: View) -> Hand:
    return () if view.own is None else view.own.hand
