"""Builders of situations: a few cards in each hand, a play on the table, a hand that ends in given places.

Cards are given as words: a card (`9c`, `BJ`) or a bare rank (`9`), which stands for any card of that rank
still left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from baohuang.game import Game
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import (
    BIG_JOKER,
    CARDS,
    EMPEROR_JOKER,
    GUARD_JOKER,
    RANK_NAMES,
    SIX,
    SMALL_JOKER,
    Card,
    parse_card,
)
from baohuang.rules.errors import CardError, Reason
from baohuang.rules.events import Step
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import SEATS, Opening, Seat
from baohuang.rules.ruleset import RuleSet, Throne

STAND_IN = {
    BIG_JOKER: EMPEROR_JOKER,
    SMALL_JOKER: GUARD_JOKER,
    EMPEROR_JOKER: BIG_JOKER,
    GUARD_JOKER: SMALL_JOKER,
}
"""Marked jokers equal plain ones (R2.3): either is taken where a deck has no more of the other."""

CALLED = parse_card("9c")
"""The card that emperors of `start_at_opening` can call."""


class Supply:
    """The cards of a rule set's deck that nobody holds yet. `avoid` are kinds that bare ranks never take."""

    def __init__(self, rules: RuleSet, avoid: Iterable[Card] = ()) -> None:
        self._left = Counter(rules.deck)
        self._held_back = rules.held_back
        self.avoid = set(avoid)

    def take(self, words: Sequence[str]) -> tuple[Card, ...]:
        """A card for each word, cards before bare ranks; raises `CardError` where the deck has none left."""
        ordered = sorted(words, key=lambda word: word in RANK_NAMES)
        return tuple(
            [
                self._take_rank(word) if word in RANK_NAMES else self._take_card(parse_card(word))
                for word in ordered
            ]
        )

    def fill(self, number: int) -> tuple[Card, ...]:
        """`number` different plain cards, from the sevens up, none of them held back or called."""
        kinds = [
            card
            for card in CARDS
            if card < SMALL_JOKER and card.rank > SIX and self._left[card] > 0 and card not in self.avoid
        ]
        for card in kinds[:number]:
            self._left[card] -= 1
        return tuple(kinds[:number])

    def rest_of(self, card: Card) -> int:
        """How many copies of `card` nobody holds."""
        return self._left[card]

    def unused(self, rules: RuleSet) -> Card:
        """The last plain card of the deck of which nobody holds a copy."""
        whole = Counter(rules.deck)
        return max(
            card
            for card in whole
            if not card.is_joker and whole[card] == 4 and self._left[card] == whole[card]
        )

    def _take_rank(self, word: str) -> Card:
        rank = RANK_NAMES.index(word)
        for card in CARDS[4 * rank : 4 * rank + 4]:
            if self._left[card] > 0 and card not in self.avoid:
                self._left[card] -= 1
                return card
        raise CardError(Reason.MALFORMED_CARD, f"the deck has no more cards of rank {word}")

    def _take_card(self, card: Card) -> Card:
        if self._left[card] <= 0:
            card = STAND_IN.get(card, card)
        if self._left[card] <= 0:
            raise CardError(Reason.MALFORMED_CARD, f"the deck has no more copies of {card}")
        self._left[card] -= 1
        return card


def start_at_play(
    rules: RuleSet,
    hands: Mapping[Seat, Sequence[str]],
    *,
    emperor: Seat = 0,
    guard: Seat | None = None,
    called: Card | None = None,
    filler: Mapping[Seat, int] | None = None,
    opening: Opening | None = None,
) -> Game:
    """A game at its first lead, which is the emperor's.

    `hands` are words by seat; a seat that is missing there gets two cards, and `filler` says how many cards a
    seat holds besides its words. Without `guard` the holder of GJ is the guard, else the seat after the
    emperor. `opening` gives the declarations (its emperor and guard count then). In called-card sets some
    card that nobody holds is called unless `called` is given.
    """
    supply = Supply(rules, () if called is None else (called,))
    cards = {seat: list(supply.take(words)) for seat, words in hands.items()}
    if opening is not None:
        emperor, guard = opening.emperor, opening.guard
    if guard is None:
        holders = [seat for seat, held in cards.items() if GUARD_JOKER in held]
        guard = holders[0] if holders and not rules.calls else (emperor + 1) % 5
    if rules.calls and called is None and not (opening is not None and opening.open_solo):
        called = supply.unused(rules)
        supply.avoid.add(called)
    extra = filler or {}
    for seat in SEATS:
        number = extra.get(seat, 0 if seat in cards else 2)
        cards.setdefault(seat, []).extend(supply.fill(number))
    begin = opening or Opening(emperor, guard)
    if rules.calls and not begin.open_solo:
        begin = Opening(
            begin.emperor,
            begin.guard,
            called=called,
            open_guard=begin.open_guard,
            rebels=begin.rebels,
            counters=begin.counters,
            recounters=begin.recounters,
        )
    return Game.from_hands(rules, [cards[seat] for seat in SEATS], opening=begin)


def start_at_opening(
    rules: RuleSet,
    hands: Mapping[Seat, Sequence[str]] | None = None,
    *,
    emperor: Seat = 0,
    guard: Seat = 2,
    filler: int = 3,
    first_drawer: Seat | None = None,
) -> Game:
    """A game before its first answer, in which `emperor` can have the throne and `guard` then is the guard.

    Where `guard` equals `emperor` he holds all that makes a hidden solo. `hands` are words by seat, held
    besides; each seat gets `filler` cards more.
    """
    supply = Supply(rules, (CALLED,))
    words: dict[Seat, list[str]] = {seat: [] for seat in SEATS}
    for seat, more in (hands or {}).items():
        words[seat] += more
    given = [word for more in words.values() for word in more]
    if rules.throne is not Throne.BOTTOM_CARDS and "EJ" not in given:
        words[emperor].append("EJ")
    if not rules.calls and "GJ" not in given:
        words[guard].append("GJ")
    if rules.calls and str(CALLED) not in given:
        words[emperor] += [str(CALLED)] * 3
        words[guard].append(str(CALLED))
    cards = {seat: [*supply.take(words[seat])] for seat in SEATS}
    for seat in SEATS:
        cards[seat] += supply.fill(filler)
    first = emperor if first_drawer is None else first_drawer
    return Game.from_hands(rules, [cards[seat] for seat in SEATS], first_drawer=first)


def start_with_hand(
    rules: RuleSet, hand: Sequence[str], *, seat: Seat = 0, throne: Seat = 0, first_drawer: Seat = 0
) -> Game:
    """A game before its first answer in which `seat` holds just `hand`; seat `throne` has EJ if it has not.

    All other copies of the cards of which `seat` holds two or more are dealt to one other seat; others hold a
    card that can be called (R2.7).
    """
    supply = Supply(rules)
    cards: dict[Seat, list[Card]] = {other: [] for other in SEATS}
    cards[seat] += supply.take(hand)
    own = Counter(cards[seat])
    if rules.has_marked_jokers and own[EMPEROR_JOKER] == 0:
        cards[throne] += supply.take(["EJ"])
    others = [other for other in SEATS if other != seat]
    if not rules.calls and own[GUARD_JOKER] == 0:
        cards[others[1]] += supply.take(["GJ"])
    for card, held in own.items():
        if held >= 2 and not card.is_joker:
            cards[others[-1]] += supply.take([str(card)] * supply.rest_of(card))
    if rules.calls:
        spare = supply.unused(rules)
        cards[others[0]] += supply.take([str(spare)] * 3)
        cards[others[1]] += supply.take([str(spare)])
    supply.avoid |= set(own)
    for other in others:
        cards[other] += supply.fill(3)
    return Game.from_hands(rules, [cards[each] for each in SEATS], first_drawer=first_drawer)


def walk_to(game: Game, *steps: Step) -> None:
    """Answers as auto-play would (no declarations) until one of `steps`, or play, is reached."""
    while game.state.public.step not in (*steps, Step.PLAY, Step.OVER):
        seat = game.to_act[0]
        game.apply(seat, game.auto_action(seat))


def play_out(game: Game) -> None:
    """Plays the hand to its end as auto-play would."""
    while game.to_act:
        seat = game.to_act[0]
        if game.state.public.auto_play[seat]:
            game.auto_act(seat)
        else:
            game.apply(seat, game.auto_action(seat))


def outcome_of(game: Game) -> Outcome:
    """The outcome of a hand that is over; raises `ValueError` if it is not."""
    if game.outcome is None:
        raise ValueError(f"the hand is not over: it is at the step {game.state.public.step}")
    return game.outcome


def places_of(game: Game) -> tuple[int, ...]:
    """The places of a hand that was played; raises `ValueError` for any other."""
    places = outcome_of(game).places
    if places is None:
        raise ValueError(f"a {outcome_of(game).termination} hand has no places")
    return places


def cards_for(cards: Iterable[Card], words: Sequence[str]) -> tuple[Card, ...] | None:
    """Some of `cards` that answer to `words`, or None if there are not enough."""
    left = sorted(cards)
    found: list[Card] = []
    for word in sorted(words, key=lambda word: word in RANK_NAMES):
        fits = [card for card in left if fits_word(card, word)]
        if not fits:
            return None
        found.append(fits[0])
        left.remove(fits[0])
    return tuple(sorted(found))


def fits_word(card: Card, word: str) -> bool:
    """Whether `word` (a card or a bare rank) can stand for `card`; marked jokers answer to plain ones."""
    if word in RANK_NAMES:
        return card.rank == RANK_NAMES.index(word)
    wanted = parse_card(word)
    return card == wanted or (
        card.is_joker and wanted in (SMALL_JOKER, BIG_JOKER) and card.rank == wanted.rank
    )


EXITS = "89TJQKA2"
"""Ranks of the last cards of those who go out, each higher than the one before."""


def start_finish(
    rules: RuleSet,
    order: Sequence[Seat],
    opening: Opening,
    *,
    more: Mapping[Seat, Sequence[str]] | None = None,
) -> Game:
    """A game at play in which the seats of `order` can go out one by one in the first trick (`finish`)."""
    words: dict[Seat, list[str]] = {seat: ["7"] for seat in SEATS}
    for place, seat in enumerate(order):
        words[seat] = [EXITS[place]] if seat != opening.emperor or place == 0 else ["7", EXITS[place]]
    for seat, cards in (more or {}).items():
        words[seat] += cards
    filler = {seat: 1 for seat in SEATS if seat not in order}
    return start_at_play(rules, words, opening=opening, filler=filler)


def finish(game: Game, order: Sequence[Seat]) -> None:
    """Lets the seats of `order` go out in that order, as far as the hand lasts."""
    left = list(order)
    exits = {seat: EXITS[place] for place, seat in enumerate(order)}
    while left and game.to_act:
        seat = game.to_act[0]
        if seat == left[0]:
            game.apply(seat, play_words(game, seat, [exits[seat]]))
            left.pop(0)
        elif game.state.public.table is None:
            game.apply(seat, play_words(game, seat, ["7"]))
        else:
            game.apply(seat, Action(ActionKind.PASS))


def play_words(game: Game, seat: Seat, words: Sequence[str]) -> Action:
    """The play of `seat` that `words` stand for; if it does not hold them, one of such cards all the same."""
    cards = cards_for(game.state.hidden.hands[seat], words)
    if cards is None:
        cards = Supply(game.rules).take(words)
    return Action.play(cards)


def pair_order(emperor_place: int, guard_place: int) -> tuple[Opening, tuple[Seat, ...]]:
    """Roles and an order of going out that give emperor (seat 0) and guard these places (R6.3)."""
    guard = 4 if (emperor_place, guard_place) == (5, 4) else 1
    rebels = [seat for seat in SEATS if seat not in (0, guard)]
    order = [
        0 if place == emperor_place else guard if place == guard_place else rebels.pop(0)
        for place in range(1, 6)
    ]
    last_royal, last_rebel = max(emperor_place, guard_place), _last_rebel_place(emperor_place, guard_place)
    return Opening(0, guard), tuple(order[: min(last_royal, last_rebel)])


def _last_rebel_place(emperor_place: int, guard_place: int) -> int:
    return max(place for place in range(1, 6) if place not in (emperor_place, guard_place))


def solo_order(open_solo: bool, emperor_place: int) -> tuple[Seat, ...]:
    """An order of going out after which a solo emperor, seat 0, has this place (R6.3, R6.4)."""
    most = 1 if open_solo else 2
    if emperor_place <= most:
        return (*(1, 2)[: emperor_place - 1], 0)
    last = 4 - (emperor_place - most - 1)
    return tuple(range(last - most + 1, last + 1))
