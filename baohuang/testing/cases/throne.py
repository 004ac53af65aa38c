"""Cases about the throne and its cards (R5.1 to R5.4, R10.1)."""

from __future__ import annotations

from collections.abc import Sequence

from baohuang.game import Game
from baohuang.rules.actions import (
    DECLINE,
    KEEP,
    TAKE,
    YIELD,
    Action,
)
from baohuang.rules.cards import TWO, Card
from baohuang.rules.events import Step, ThroneAnswered
from baohuang.rules.roles import SEATS, Seat, upstream
from baohuang.rules.ruleset import RuleSet, Throne
from baohuang.testing.cases.facts import NOTHING, Answers, Cards, Case, OneOf
from baohuang.testing.cases.play import attempt, results, verdict
from baohuang.testing.cases.words import (
    KIND_NAMES,
    LETTERS,
    UninterpretableError,
    letter_of,
    letters_of,
    matches,
    read_seat,
)
from baohuang.testing.scenarios import start_at_opening, start_with_hand, walk_to


def throne(case: Case) -> Answers:
    """R5.1 to R5.4: who may hand on the throne, to whom, with what."""
    facts = case.situation
    if "yielder_hand" in facts:
        return _card_added(case)
    if "yields" in facts:
        return _after_yields(case)
    chain = [str(item) for item in facts.get("chain", default=[])]
    holder = read_seat(facts.get("holder", default=chain[0][0] if chain else "A"))
    holds = facts.cards("holds") or []
    answers = facts.get("answers")
    facts.get(
        "guard_elsewhere", "seats", "upstream_order"
    )  # The seats' order is fixed; C below holds what A does not.
    for key in ("guard_elsewhere", "seats", "upstream_order"):
        _check_seats(key, facts.get(key), holder, holds)
    redeals = int(facts.get("redeals", "redeal", default=0))
    facts.require_all_read()
    if redeals:
        return _in_deal(case, redeals)
    game = _throne_game(case.rules, holder, holds)
    for item in chain:
        _follow(game, item)
    return _throne_action(case, game, holder, answers)


def _check_seats(key: str, value: object, holder: Seat, holds: Sequence[str]) -> None:
    """Refuses facts that contradict the order of seats (R2.4) or the cards held."""
    if value is None:
        return
    if key == "guard_elsewhere":
        if value is not ("GJ" not in holds):
            raise UninterpretableError("guard_elsewhere says whether another player holds GJ")
        return
    if not isinstance(value, list):
        raise UninterpretableError(f"{key} is a list of seats")
    order = [read_seat(letter) for letter in value]
    wanted = list(SEATS) if key == "seats" else [upstream(holder, steps) for steps in (1, 2, 3, 4, 5)]
    if order != wanted:
        raise UninterpretableError(f"{key} is {letters_of(wanted)}")


def _throne_game(rules: RuleSet, holder: Seat, holds: Sequence[str]) -> Game:
    """`holder` has EJ; everyone has a few twos to add; the guard joker is his too if he `holds` it."""
    solo = "GJ" in holds
    guard = holder if solo else (holder + 2) % 5
    words: dict[Seat, Sequence[str]] = {seat: ["2", "2"] for seat in SEATS}
    extra = [word for word in holds if word not in ("EJ", "GJ")]
    words[holder] = [*words[holder], *extra]
    return start_at_opening(rules, words, emperor=holder, guard=guard)


def _follow(game: Game, item: str) -> None:
    """One item of a chain, such as `A yields to E`."""
    match = matches(
        item,
        r"([A-E]) (yields|passes it on|declines|refuses|takes|accepts|keeps|no|yes)(?: (?:to|from) ([A-E]))?",
    )
    if match is None:
        raise UninterpretableError(f"cannot read {item!r}")
    seat = read_seat(match[1])
    game.apply(seat, _throne_word(game, seat, match[2]))
    if match[3] and _is_handing_on(match[2]) and game.state.public.to_act != (read_seat(match[3]),):
        raise UninterpretableError(f"{item!r}, but seat {letters_of(game.state.public.to_act)} is asked")


def _is_handing_on(word: str) -> bool:
    return word.lower() in ("yields", "passes it on", "declines", "refuses", "no")


def _throne_word(game: Game, seat: Seat, word: str) -> Action:
    """The action of a word for who is asked now."""
    public = game.state.public
    first = public.yields == 0 and public.rules.throne is not Throne.BOTTOM_CARDS
    if _is_handing_on(word):
        offered = game.legal_actions(seat)
        if YIELD in offered or DECLINE in offered:
            return YIELD if YIELD in offered else DECLINE
        return YIELD if first or public.rules.throne is Throne.UPSTREAM else DECLINE
    return KEEP if first else TAKE


def _throne_action(case: Case, game: Game, holder: Seat, answers: dict[str, str] | None) -> Answers:
    if matches(case.action, r"(first )?player asked( first)?", r"who is asked( first)?"):
        game.apply(holder, YIELD)
        asked = []
        while game.to_act and game.state.public.step is Step.THRONE:
            asked.append(game.to_act[0])
            game.apply(asked[-1], DECLINE)
        return {"player": letter_of(asked[0]), "then": letters_of(asked[1:]), "asked": letters_of(asked)}
    if answers is not None:
        if not matches(case.action, r"result", r"what follows", r"who is emperor"):
            raise case.no_action()
        return _answered(game, holder, answers)
    if match := matches(
        case.action,
        r"(?:may )?([A-E]) (yields?|takes?|keeps?|declines?|accepts?)(?: (?:the throne|again|it))*",
    ):
        seat = read_seat(match[1])
        word = match[2].lower().rstrip("s") + "s"
    elif match := matches(case.action, r"(yield|keep|take|decline)s?( the throne)?( again)?"):
        seat, word = holder, match[1].lower() + "s"
    else:
        raise case.no_action()
    return _throne_step(game, seat, word)


def _answered(game: Game, holder: Seat, answers: dict[str, str]) -> Answers:
    """The holder offers the throne and is answered."""
    refusal = attempt(game, holder, YIELD)
    left = dict(answers)
    while refusal is None and game.state.public.step is Step.THRONE and game.to_act:
        letter = LETTERS[game.to_act[0]]
        if letter not in left:
            break
        word = str(left.pop(letter)).lower()
        if word not in ("yes", "no", "takes", "accepts", "declines", "refuses", "take", "decline"):
            raise UninterpretableError(f"cannot read the answer {word!r}")
        taken = word in ("yes", "takes", "accepts", "take")
        game.apply(game.to_act[0], TAKE if taken else DECLINE)
    if left:
        raise UninterpretableError(f"these were never asked: {sorted(left)}")
    return {**verdict(refusal), **_standing(game, holder)}


def _standing(game: Game, holder: Seat) -> Answers:
    """How things stand after the throne step."""
    walk = game.state.public
    outcome = game.outcome
    known = walk.guard
    base: Answers = {
        "over": walk.is_over,
        "emperor": letter_of(walk.emperor),
        "guard": letter_of(game.state.hidden.guard),
        "guard_revealed": known is not None,
        "to": letter_of(walk.to_act[0]) if walk.step is Step.THRONE and walk.to_act else NOTHING,
        "redeal": walk.redeal > 0,
        "kind": OneOf(KIND_NAMES[game.state.solo]),
        "termination": NOTHING if outcome is None else str(outcome.termination),
        "void": outcome is not None and str(outcome.termination) == "void",
        "hand_sizes": [len(hand) for hand in game.state.hidden.hands],
    }
    if outcome is not None:
        losers = [seat for seat, score in enumerate(outcome.scores) if score < 0]
        return {
            **base,
            **results(game, holder),
            "loser": letter_of(losers[0]) if losers else NOTHING,
            "next_first_drawer": letter_of(outcome.next_first_drawer),
            "holder": outcome.scores[holder],
            "others": [score for seat, score in enumerate(outcome.scores) if seat != holder],
            "each_other": outcome.scores[(holder + 1) % 5],
        }
    walk_to(game)
    play = game.state.public
    return {
        **base,
        "leads": letter_of(play.to_act[0]) if play.to_act else NOTHING,
        "lead": letter_of(play.to_act[0]) if play.to_act else NOTHING,
        "leader": letter_of(play.to_act[0]) if play.to_act else NOTHING,
        "loser": NOTHING,
        "result": NOTHING,
    }


def _throne_step(game: Game, seat: Seat, word: str) -> Answers:
    before = len(game.state.hidden.carried)
    refusal = attempt(game, seat, _throne_word(game, seat, word))
    laid: tuple[Card, ...] = ()
    if refusal is None:
        event = next(event for event in reversed(game.events) if isinstance(event, ThroneAnswered))
        laid = event.laid or ()
    carried = game.state.hidden.carried
    twos = [card for card in carried if card.rank == TWO]
    return {
        **_standing(game, seat),
        **verdict(refusal),
        "twos_added": sum(card.rank == TWO for card in laid),
        "cards_added": len(laid),
        "twos_travelling": len(twos),
        "cards_travelling": len(carried),
        "travelling_before": before,
        "card": Cards(laid),
    }


def _card_added(case: Case) -> Answers:
    """R5.2: what E, to whom A has yielded, adds when he passes the throne on."""
    hand = case.situation.cards("yielder_hand") or []
    case.situation.require_all_read()
    if not matches(
        case.action, r"cards? added( when no 2| when (there is )?no two)?", r"(which|what) card.*"
    ):
        raise case.no_action()
    game = start_with_hand(case.rules, hand, seat=4)
    game.apply(0, YIELD)
    return _throne_step(game, 4, "yields")


def _after_yields(case: Case) -> Answers:
    """R5.2, R5.3: after so many yields, all in turn."""
    facts = case.situation
    yields = int(facts.get("yields"))
    holder = read_seat(facts.get("holder", default="A"))
    triple, four = facts.get("has_triple"), facts.get("has_four")
    facts.require_all_read()
    asks = matches(
        case.action,
        r"(?:may )?(?:([A-E])|he) yields?(?: (?:again|the throne))*",
        r"yield( again)?( the throne)?",
    )
    if asks is not None:
        game = _holder_game(case.rules, holder, bool(triple), bool(four))
        for _ in range(yields):
            seat = game.to_act[0]
            game.apply(seat, YIELD)
        seat = game.to_act[0] if asks.lastindex is None or asks[1] is None else read_seat(asks[1])
        return _throne_step(game, seat, "yields")
    if not matches(
        case.action,
        r"after (the )?(two|2) rounds",
        r"result",
        r"what follows",
        r"after (the )?(tenth|10th|last) yield",
    ):
        raise case.no_action()
    for seed in range(1, 400):
        game = Game.deal(case.rules, seed=seed)
        if _yield_times(game, yields):
            return _standing(game, holder)
    raise UninterpretableError("no deal found in which everybody may yield so often")


def _yield_times(game: Game, yields: int) -> bool:
    for _ in range(yields):
        if not game.to_act or YIELD not in game.legal_actions(game.to_act[0]):
            return False
        game.apply(game.to_act[0], YIELD)
    return True


def _holder_game(rules: RuleSet, holder: Seat, triple: bool, four: bool) -> Game:
    """`holder` has EJ and, as it says, three copies of one card and four of another."""
    words = ["EJ", *(["9c"] * 3 if triple else []), *(["Td"] * 4 if four else []), "7h", "8h"]
    others: dict[Seat, Sequence[str]] = {(holder + 1) % 5: ["9c"] if triple else []}
    if not triple and not four:
        others = {(holder + 1) % 5: ["9c"] * 3, (holder + 2) % 5: ["9c"]}
    elif not triple:
        others = {(holder + 1) % 5: ["9c"]}
    return start_at_opening(rules, {**others, holder: words}, emperor=holder, guard=(holder + 2) % 5)


def _in_deal(case: Case, redeals: int) -> Answers:
    """R5.14: what the first asked may do after so many redeals."""
    if not matches(case.action, r"(may [A-E] )?(yield|decline)s?( the throne)?", r"(first )?holder yields"):
        raise case.no_action()
    handing_on = DECLINE if case.rules.throne is Throne.BOTTOM_CARDS else YIELD
    for seed in range(1, 2000):
        game = Game.deal(case.rules, seed=seed)
        while game.state.public.redeal < redeals and game.to_act:
            offered = game.legal_actions(game.to_act[0])
            if handing_on not in offered:
                break
            game.apply(game.to_act[0], handing_on)
        if game.state.public.redeal == redeals and len(game.legal_actions(game.to_act[0])) > 0:
            return verdict(attempt(game, game.to_act[0], handing_on))
    raise UninterpretableError(f"no deal found that is dealt again {redeals} times")


def bottom_card(case: Case) -> Answers:
    """R10.1: what is laid by who does not take the throne."""
    facts = case.situation
    hand = facts.cards("hand") or []
    who = str(facts.get("yielder", "player", default="a later player"))
    facts.require_all_read()
    if not matches(case.action, r"card (put|laid) down", r"(which|what) card.*", r"decline", r"bottom card"):
        raise case.no_action()
    if matches(who, r"(the )?first( player)?( asked)?"):
        seat = 0
    elif matches(who, r"(a |the )?(later|second|other)( player)?( asked)?"):
        seat = 1
    else:
        raise UninterpretableError(f"cannot read who lays it: {who!r}")
    game = start_with_hand(case.rules, hand, seat=seat)
    while game.to_act[0] != seat:
        game.apply(game.to_act[0], DECLINE)
    game.apply(seat, DECLINE)
    event = next(event for event in reversed(game.events) if isinstance(event, ThroneAnswered))
    return {
        "card": Cards(event.laid or ()),
        "cards": len(event.laid or ()),
        "travelling": game.state.public.carried_count,
    }


CATEGORIES = {"throne": throne, "bottom_card": bottom_card}
