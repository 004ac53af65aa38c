"""Cases about scores, tribute, penalties and auto-play (R8, R9, R10.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from baohuang.game import Game
from baohuang.rules.actions import ActionKind
from baohuang.rules.cards import parse_card
from baohuang.rules.commands import Forfeit, Start
from baohuang.rules.decide import decide
from baohuang.rules.errors import RuleError, RuleSetError
from baohuang.rules.events import AutoPlayReason, CardGiven, ForfeitReason, Step
from baohuang.rules.outcome import Due, DueKind
from baohuang.rules.roles import SEATS, Opening, Seat, Solo
from baohuang.rules.ruleset import RuleSet
from baohuang.rules.table import Table
from baohuang.testing.cases.facts import NOTHING, Answers, Cards, Case, synonyms
from baohuang.testing.cases.play import results, verdict
from baohuang.testing.cases.words import (
    RECOUNTER_WORDS,
    Declaration,
    UninterpretableError,
    letter_of,
    matches,
    read_cards,
    read_declarations,
    read_kind,
)
from baohuang.testing.scenarios import (
    finish,
    outcome_of,
    pair_order,
    places_of,
    play_out,
    play_words,
    solo_order,
    start_at_opening,
    start_at_play,
    start_finish,
    start_with_hand,
    walk_to,
)

_SCORE = (r"score", r"scores", r"multiplier", r"result", r"who wins")


def score_pair(case: Case) -> Answers:
    """R8.1, R8.3: scores of a hand with a guard, from places and what was declared."""
    facts = case.situation
    emperor_place, guard_place = _place(facts.get("emperor_pos")), _place(facts.get("guard_pos"))
    declared = read_declarations(facts.get("declared"))
    times = facts.get("multiplier")
    facts.require_all_read()
    if not matches(case.action, *_SCORE):
        raise case.no_action()
    if emperor_place == guard_place:
        raise UninterpretableError("emperor and guard have different places")
    opening, order = pair_order(emperor_place, guard_place)
    try:
        opening = _declare(opening, declared) if times is None else _multiplied(opening, times)
        game = start_finish(case.rules, order, opening)
    except RuleSetError as error:
        return {"legal": False, "reason": str(error.reason), "refused_by": error.clause}
    finish(game, order)
    _outcome, places = outcome_of(game), places_of(game)
    if (places[0], places[opening.guard or 0]) != (emperor_place, guard_place):
        raise UninterpretableError(f"these places cannot be reached: {places}")
    return _scored(game)


def _place(value: Any) -> int:
    if not isinstance(value, int) or not 1 <= value <= 5:
        raise UninterpretableError(f"{value!r} is no place: 1 to 5")
    return value


def _scored(game: Game) -> Answers:
    outcome = outcome_of(game)
    by_role = dict(zip(map(str, outcome.roles or ()), outcome.scores, strict=True))
    return {
        "guard": NOTHING,
        **by_role,
        **{key: value for key, value in results(game, 0).items() if key != "scores"},
        "scores": list(outcome.scores),
        "multiplier": outcome.multiplier,
        "total": sum(outcome.scores),
        "sum": sum(outcome.scores),
        "penalties": list(outcome.penalties),
        "legal": True,
    }


def _declare(opening: Opening, declared: Sequence[Declaration]) -> Opening:
    """The opening with these declarations, each by as many players as it says, or as it needs to stand."""
    royal = [seat for seat in (opening.emperor, opening.guard) if seat is not None]
    rebels = [seat for seat in SEATS if seat not in royal]
    for item in declared:
        if item.kind is ActionKind.GUARD:
            opening = replace(opening, open_guard=True)
        elif item.kind is ActionKind.REBEL:
            opening = replace(opening, rebels=tuple(rebels[: item.number or 2]))
        elif item.kind is ActionKind.SOLO:
            opening = replace(opening, guard=opening.emperor, open_solo=True)
        else:
            royals_first = opening.open_guard or opening.open_solo
            again = bool(opening.counters) and item.word in RECOUNTER_WORDS
            side = rebels if royals_first is not again else royal
            answering = tuple(side[: item.number or (2 if side is rebels else 1)])
            opening = (
                replace(opening, recounters=answering) if again else replace(opening, counters=answering)
            )
    return opening


def _multiplied(opening: Opening, times: int) -> Opening:
    """The opening with declarations that make this multiplier."""
    lists = {1: None, 2: "明保", 4: "明保, 扭", 8: "明保, 扭, 踢"}
    if times not in lists:
        raise UninterpretableError(f"no declarations make the multiplier {times!r}")
    return _declare(opening, read_declarations(lists[times]))


def score_solo(case: Case) -> Answers:
    """R8.2: scores of a solo hand."""
    facts = case.situation
    kind = read_kind(facts.get("kind"))
    place = _place(facts.get("emperor_pos", default=1))
    declared = read_declarations(facts.get("declared"))
    facts.require_all_read()
    if not matches(case.action, *_SCORE):
        raise case.no_action()
    if kind.solo is Solo.NONE:
        raise UninterpretableError("a solo hand is hidden or open")
    is_open = kind.solo is Solo.OPEN or any(item.kind is ActionKind.SOLO for item in declared)
    opening = Opening(0, 0, open_solo=is_open, rebels=(1, 2) if kind.rebelled else ())
    opening = _declare(opening, [item for item in declared if item.kind is not ActionKind.SOLO])
    if kind.countered:
        opening = _declare(opening, read_declarations("踢"))
    order = solo_order(is_open, place)
    try:
        game = start_finish(case.rules, order, opening)
    except RuleSetError as error:
        return {"legal": False, "reason": str(error.reason), "refused_by": error.clause}
    finish(game, order)
    _outcome, places = outcome_of(game), places_of(game)
    if places[0] != place:
        raise UninterpretableError(f"this place cannot be reached: {places}")
    return _scored(game)


def tribute(case: Case) -> Answers:
    """R10.5, R10.6: what a hand makes the next one give, and which card a gift is."""
    facts = case.situation
    giver_hand = facts.cards("giver_hand")
    if giver_hand is not None:
        facts.require_all_read()
        return _gift(case, giver_hand)
    kind = read_kind(facts.get("kind"))
    if kind.solo is not Solo.NONE:
        opening = Opening(0, 0, open_solo=kind.solo is Solo.OPEN)
        order = solo_order(opening.open_solo, _place(facts.get("emperor_pos", default=1)))
    else:
        opening, order = pair_order(_place(facts.get("emperor_pos")), _place(facts.get("guard_pos")))
    facts.require_all_read()
    if not matches(case.action, r"tribute", r"who (pays|collects|gives)", r"result"):
        raise case.no_action()
    game = start_finish(case.rules, order, opening)
    finish(game, order)
    outcome, places = outcome_of(game), places_of(game)
    dues = [due for due in outcome.dues if due.kind is DueKind.TRIBUTE]
    royal = {opening.emperor, opening.guard}
    receivers = {due.receiver in royal for due in dues}
    word = "level" if not dues else "collects" if receivers == {True} else "pays"
    result = (
        synonyms("level", "no tribute", "none")
        if word == "level"
        else synonyms(*(f"{side} {word}" for side in ("emperor side", "royal side", "emperor's side")), word)
    )
    return {
        "result": result,
        "cards": len(dues),
        "gifts": [
            f"{_who(due.giver, places, opening)} -> {_who(due.receiver, places, opening)}" for due in dues
        ],
        "next_first_drawer": letter_of(outcome.next_first_drawer),
    }


def _who(seat: Seat, places: Sequence[int], opening: Opening) -> str:
    if seat == opening.emperor:
        return "emperor"
    if seat == opening.guard:
        return "guard"
    rebels = sorted(places[other] for other in SEATS if other not in (opening.emperor, opening.guard))
    return f"rebel {rebels.index(places[seat]) + 1}"


def _gift(case: Case, hand: Sequence[str]) -> Answers:
    if not matches(case.action, r"card (given|paid)", r"tribute", r"(which|what) card"):
        raise case.no_action()
    base = start_with_hand(case.rules, hand, seat=1)
    game = Game.from_hands(case.rules, base.state.hidden.hands, dues=[Due(DueKind.TRIBUTE, 1, 0)])
    cards = [event.card for event in game.events if isinstance(event, CardGiven)]
    return {"card": Cards(tuple(card for card in cards if card is not None))}


def penalty(case: Case) -> Answers:
    """R8.5: what leaving costs; seat B leaves a hand that is then played to its end."""
    event = str(case.situation.get("event", "by"))
    case.situation.require_all_read()
    if not matches(case.action, r"scores?", r"penalty", r"result"):
        raise case.no_action()
    how = _leaving(event)
    if matches(event, r".*before (the )?(start|deal|hand).*"):
        return _leaves_before_the_deal(case.rules)
    game = start_at_play(case.rules, {})
    if how is None:
        game.start_auto_play(1, AutoPlayReason.LEFT)
    else:
        game.forfeit(1, how)
    on_auto = game.state.public.auto_play[1]
    play_out(game)
    outcome = outcome_of(game)
    return {
        "penalty": outcome.penalties[1],
        "penalties": list(outcome.penalties),
        "total": sum(outcome.penalties),
        "scores_total": sum(outcome.scores),
        "auto_play": on_auto,
        "over": game.state.public.is_over,
        "scored": Table().after(outcome).counted == 1,
        "table_dissolved": Table().after(outcome).dissolved,
    }


def _leaving(event: str) -> ForfeitReason | None:
    """How a player leaves; None is the exit button, which starts auto-play."""
    if matches(event, r"(is |being )?(removed|kicked|thrown out|被踢出|被移出).*"):
        return ForfeitReason.REMOVED
    if matches(
        event,
        r"(quits|leaves|exits|quit|leaving|disconnects) by force.*",
        r"forced? (exit|quit).*",
        r"强制?退出?.*",
    ):
        return ForfeitReason.FORCED_EXIT
    if matches(
        event,
        r".*\bexit button.*",
        r"(leaves|exits|quits) (normally|by the exit).*",
        r"times? ?out.*",
        r"auto-?play.*",
    ):
        return None
    raise UninterpretableError(f"cannot read how the player leaves: {event!r}")


def _leaves_before_the_deal(rules: RuleSet) -> Answers:
    game = Game.start(Start(rules, seed=1, await_nonces=True))
    try:
        decide(game.state, Forfeit(1, ForfeitReason.FORCED_EXIT))
    except RuleError as error:
        return {"penalty": 0, **verdict(error)}
    return {"penalty": -40, **verdict(None)}


def autoplay(case: Case) -> Answers:
    """R9: what auto-play does, whether it can be cancelled, and what the table does at the end."""
    facts = case.situation
    if "times_entered" in facts:
        entered = int(facts.get("times_entered"))
        facts.require_all_read()
        return _cancel(case, entered)
    if "on_auto_at_end" in facts:
        on_auto = int(facts.get("on_auto_at_end"))
        facts.require_all_read()
        return _end_on_auto(case, on_auto)
    if not matches(case.action, r"auto[- ]?(action|play|play action)", r"what does auto-play do", r"auto"):
        raise case.no_action()
    step = facts.get("step", default="play")
    hand = facts.cards("hand", "emperor_holds")
    if step == "play":
        table, leads = facts.cards("table"), facts.get("leader")
        called, role = facts.get("called", "called_card"), facts.get("role", default="emperor")
        facts.require_all_read()
        if hand is None or (leads is not None and leads is not (table is None)):
            raise UninterpretableError("auto-play needs a hand, and a table unless it leads")
        game, seat = _turn(case.rules, hand, table, called, role)
    else:
        facts.require_all_read()
        game, seat = _before_play(case.rules, str(step), hand)
    game.start_auto_play(seat, AutoPlayReason.REQUEST)
    action = game.auto_action(seat)
    game.auto_act(seat)
    if action.kind is ActionKind.PLAY:
        return {"play": Cards(action.cards), "action": str(action)}
    cards: Any = Cards(action.cards) if action.cards else NOTHING
    return {
        "play": str(action),
        "action": str(action),
        "card": cards,
        "call": cards if step == "call" else NOTHING,
    }


def _turn(
    rules: RuleSet, hand: Sequence[str], table: Sequence[str] | None, called: object, role: object
) -> tuple[Game, Seat]:
    """A game in which A, who has this role, leads or has to answer."""
    if role not in ("emperor", "guard", "rebel", "hidden solo"):
        raise UninterpretableError(f"{role!r} is no role")
    card = None if called is None else parse_card(read_cards(str(called))[0])
    if role == "hidden solo":
        opening = Opening(0, 0)
    elif role == "emperor" and table is None:
        opening = Opening(0, 0 if not rules.calls and "GJ" in hand else 1)
    else:
        emperor = 0 if role == "emperor" else 4
        opening = Opening(emperor, 0 if role == "guard" or (not rules.calls and "GJ" in hand) else 1)
    if table is None and opening.emperor == 0:
        return start_at_play(rules, {0: hand}, opening=opening, called=card), 0
    if table is None:
        # The emperor E leads a seven; A wins the trick with a big joker and then leads.
        words = {4: ["7"], 0: [*hand, "BJ"]}
        game = start_at_play(rules, words, opening=opening, called=card, filler={4: 2})
        game.apply(4, play_words(game, 4, ["7"]))
        game.apply(0, play_words(game, 0, ["BJ"]))
        while game.state.public.table is not None:
            game.apply(game.to_act[0], "pass")
        return game, 0
    opening = replace(
        opening, emperor=4, guard=0 if role == "guard" or (not rules.calls and "GJ" in hand) else 1
    )
    game = start_at_play(rules, {0: hand, 4: table}, opening=opening, called=card, filler={4: 2})
    game.apply(4, play_words(game, 4, table))
    return game, 0


_STEPS = {
    step.value: step
    for step in (Step.THRONE, Step.CALL, Step.CLAIM, Step.DECLARE, Step.COUNTER, Step.TRIBUTE)
}


def _before_play(rules: RuleSet, step: str, hand: Sequence[str] | None) -> tuple[Game, Seat]:
    """A game in which A, with `hand`, is asked in that step."""
    if step not in _STEPS:
        raise UninterpretableError(f"{step!r} is no step")
    wanted = _STEPS[step]
    if hand is None:
        hand = []
    if wanted is Step.TRIBUTE:
        base = start_with_hand(rules, hand)
        game = Game.from_hands(rules, base.state.hidden.hands, dues=[Due(DueKind.TRIBUTE, 1, 0)])
    elif wanted in (Step.THRONE, Step.CALL) and hand:
        game = start_with_hand(rules, hand)
    else:
        game = start_at_opening(rules, {0: hand})
    if wanted is Step.CALL:
        # Who can call nothing may take the throne all the same (R5.3).
        game.apply(0, game.legal_actions(0)[0])
    walk_to(game, wanted)
    if game.state.public.step is not wanted or 0 not in game.to_act:
        raise UninterpretableError(f"seat A is not asked in the step {step}")
    return game, 0


def _cancel(case: Case, entered: int) -> Answers:
    if not matches(case.action, r".*(cancel|stop|end)s?( auto-?play)?", r".*takes? (back )?control.*"):
        raise case.no_action()
    game = start_at_play(case.rules, {})
    for number in range(entered):
        game.start_auto_play(1)
        if number < entered - 1:
            game.stop_auto_play(1)
    try:
        game.stop_auto_play(1)
    except RuleError as error:
        return verdict(error)
    return verdict(None)


def _end_on_auto(case: Case, on_auto: int) -> Answers:
    if not matches(case.action, r"end of (the )?hand", r"(the )?hand ends"):
        raise case.no_action()
    game = start_at_play(case.rules, {})
    for seat in SEATS[:on_auto]:
        game.start_auto_play(seat)
    play_out(game)
    outcome = outcome_of(game)
    table = Table().after(outcome)
    return {
        "table_dissolved": table.dissolved,
        "scored": table.counted == 1,
        "counted": table.counted == 1,
        "over": True,
        "totals": list(table.scores),
    }


CATEGORIES = {
    "score_pair": score_pair,
    "score_multiplier": score_pair,
    "score_solo": score_solo,
    "score": score_pair,
    "tribute": tribute,
    "penalty": penalty,
    "autoplay": autoplay,
    "auto_play": autoplay,
}
