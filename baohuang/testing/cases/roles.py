"""Cases about calls and solo claims (R5.5 to R5.7)."""

from __future__ import annotations

from baohuang.rules.actions import (
    DECLINE,
    KEEP,
    NO,
    SOLO,
    TAKE,
    Action,
    ActionKind,
)
from baohuang.rules.cards import parse_card
from baohuang.rules.events import Step
from baohuang.rules.roles import SEATS, Solo
from baohuang.testing.cases.facts import NOTHING, Answers, Cards, Case, OneOf, synonyms
from baohuang.testing.cases.play import attempt, verdict
from baohuang.testing.cases.words import (
    KIND_NAMES,
    LETTERS,
    UninterpretableError,
    letter_of,
    matches,
    read_cards,
    read_kind,
    read_seat,
)
from baohuang.testing.scenarios import start_at_opening, start_with_hand, walk_to


def guard(case: Case) -> Answers:
    """R5.5, R5.6: calling a card, and who is guard."""
    facts = case.situation
    holds = facts.cards("emperor_holds", "holds", "hand") or []
    joker = facts.get("guard_joker", "GJ", "guard_joker_holder", "holder_of_GJ")
    facts.require_all_read()
    called = matches(case.action, r"calls? (\S+)")
    if called is None and not matches(
        case.action, r"solo", r"who is (the )?guard", r"kind( of hand)?", r"roles"
    ):
        raise case.no_action()
    if joker is None:
        game = start_with_hand(case.rules, holds or ["EJ"])
    else:
        game = start_at_opening(case.rules, {0: holds}, guard=read_seat(joker))
    if game.state.public.step is Step.THRONE:
        game.apply(
            0, TAKE if TAKE in game.legal_actions(0) else KEEP if KEEP in game.legal_actions(0) else DECLINE
        )
    refusal = None
    fourth = None
    if called is not None:
        card = parse_card(read_cards(called[1])[0]) if len(read_cards(called[1])[0]) == 2 else None
        if card is None:
            raise UninterpretableError("a card is called with its suit")
        refusal = attempt(game, 0, Action(ActionKind.CALL, (card,)))
        fourth = f"holder of the fourth {card}"
    elif case.action.strip().lower() == "solo":
        refusal = attempt(game, 0, SOLO)
    solo, seat = game.state.solo, game.state.hidden.guard
    told = (
        NOTHING if seat is None or refusal else OneOf(tuple(word for word in (LETTERS[seat], fourth) if word))
    )
    if solo is Solo.NONE and seat is not None and not case.rules.calls:
        told = synonyms(LETTERS[seat], "holder of GJ", "holder of the guard joker")
    return {
        **verdict(refusal),
        "guard": told,
        "kind": OneOf(KIND_NAMES[solo]) if refusal is None else NOTHING,
        "guard_revealed": game.state.public.guard is not None,
        "called": Cards(() if game.state.public.called is None else (game.state.public.called,)),
        "emperor": letter_of(game.state.public.emperor),
    }


def solo_grab(case: Case) -> Answers:
    """R5.7: who plays the open solo; `grab_solo` is on unless the case sets it."""
    facts = case.situation
    emperor = read_seat(facts.get("emperor", default="A"))
    kind = read_kind(facts.get("kind"))
    guard_seat = facts.get("guard")
    claimants = [read_seat(letter) for letter in facts.get("grabbers", "claimants", "claims", default=[])]
    facts.require_all_read()
    if not matches(
        case.action,
        r"who is (the )?(solo|emperor)",
        r"who (plays|gets) .*solo",
        r"result",
        r"(grab )?(legal|allowed)",
    ):
        raise case.no_action()
    rules = case.rules if "grab_solo" in case.given else case.rules.replace(grab_solo=True)
    helper = (
        emperor
        if kind.solo is Solo.HIDDEN
        else (emperor + 2) % 5
        if guard_seat is None
        else read_seat(guard_seat)
    )
    game = start_at_opening(rules, emperor=emperor, guard=helper)
    walk_to(game, Step.CLAIM)
    refusal = None
    for seat in claimants:
        refusal = refusal or attempt(game, seat, SOLO)
    while game.state.public.step is Step.CLAIM:
        game.apply(game.to_act[0], NO)
    public, solo = game.state.public, game.state.solo
    winner = letter_of(public.emperor) if public.open_solo else None
    walk_to(game)
    lead = letter_of(game.to_act[0])
    return {
        **verdict(refusal),
        "player": OneOf((winner,)) if winner else NOTHING,
        "emperor": letter_of(public.emperor),
        "lead": lead,
        "leads": lead,
        "kind": OneOf(KIND_NAMES[solo]),
        "rebels": [LETTERS[seat] for seat in SEATS if seat not in (public.emperor, game.state.hidden.guard)],
        "called": NOTHING if public.called is None else Cards((public.called,)),
    }


CATEGORIES = {"guard": guard, "call": guard, "solo_grab": solo_grab, "claim": solo_grab}
