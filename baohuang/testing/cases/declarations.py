"""Cases about claims, declarations and counters (R5.7 to R5.13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baohuang.game import Game
from baohuang.rules.actions import (
    COUNTER,
    GUARD,
    NO,
    REBEL,
    SOLO,
    ActionKind,
)
from baohuang.rules.errors import RuleError
from baohuang.rules.events import Step
from baohuang.rules.roles import SEATS, Seat, Solo
from baohuang.testing.cases.facts import NOTHING, Answers, Case, OneOf, synonyms
from baohuang.testing.cases.play import attempt, verdict
from baohuang.testing.cases.words import (
    KIND_NAMES,
    RECOUNTER_WORDS,
    Declaration,
    Hand,
    UninterpretableError,
    letter_of,
    letters_of,
    matches,
    read_declarations,
    read_kind,
    read_seat,
)
from baohuang.testing.scenarios import outcome_of, play_out, start_at_opening, walk_to

EMPEROR, GUARD_SEAT = 0, 2
_DECLARED = "造反|反皇|反|明保|扭|踢|明独|抢独|rebellion|open guard|counter|recounter|open solo"


def declare(case: Case) -> Answers:
    """R5.7 to R5.13: declarations in a real opening, A the emperor, C the guard (A in a solo hand)."""
    facts = case.situation
    kind = read_kind(facts.get("kind"))
    items = _script(case, kind)
    after_first_play = _is_after_first_play(facts.get("when"))
    facts.require_all_read()
    if not matches(
        case.action,
        rf"({_DECLARED}) (stands|offered|legal|allowed)",
        r"(is it )?(legal|offered|allowed|stands?|multiplier|score|result)",
        r"(is the )?guard (known|revealed|public)",
        r"(what|who) (is|does it) (revealed?|shown?)",
    ):
        raise case.no_action()
    game = start_at_opening(
        case.rules, emperor=EMPEROR, guard=EMPEROR if kind.solo is not Solo.NONE else GUARD_SEAT
    )
    refusal, made = _run(game, items, kind, after_first_play=after_first_play)
    return _declared_answers(game, refusal, made)


def _script(case: Case, kind: Hand) -> list[tuple[Declaration, str | None]]:
    """What is declared, in order; each with who does it where the case says."""
    facts = case.situation
    by = facts.get("by")
    items: list[tuple[Declaration, str | None]] = []
    for word, key in (("造反", "rebels_declaring"), ("明保", "guards_declaring")):
        number = facts.get(key)
        if number is not None:
            items.append((Declaration(_KINDS[word], word, int(number), None), by))
    items += [(item, by) for item in read_declarations(facts.get("declared"))]
    if kind.rebelled:
        items.append((Declaration(ActionKind.REBEL, "造反", 2, None), None))
    then = [(item, None) for item in read_declarations(facts.get("then"))]
    if kind.countered:
        then.append((Declaration(ActionKind.COUNTER, "踢", None, None), None))
    for word, keys in (
        ("扭", ("kickers", "counterers", "twisters", "counters")),
        ("踢", ("recounterers", "recounters")),
    ):
        number = facts.get(*keys)
        if number is not None:
            then.append((Declaration(ActionKind.COUNTER, word, int(number), None), None))
    return items + then


_KINDS = {"造反": ActionKind.REBEL, "明保": ActionKind.GUARD}


def _is_after_first_play(when: object) -> bool:
    if when is None or matches(str(when), r"before (the )?(first )?(play|card|lead)", r"in time"):
        return False
    if matches(str(when), r"after (the )?first (play|card|lead)", r"during play"):
        return True
    raise UninterpretableError(f"cannot read when it happens: {when!r}")


def _run(
    game: Game, items: Sequence[tuple[Declaration, str | None]], kind: Hand, *, after_first_play: bool
) -> tuple[RuleError | None, list[ActionKind]]:
    """Makes these declarations in the opening; gives back the first refusal and what was declared."""
    claims = [item for item in items if item[0].kind is ActionKind.SOLO]
    if kind.solo is Solo.OPEN:
        walk_to(game, Step.CLAIM)
        if game.state.public.step is Step.CLAIM:
            game.apply(EMPEROR, SOLO)
            walk_to(game, Step.COUNTER, Step.DECLARE)
    if after_first_play:
        walk_to(game, Step.PLAY)
        game.apply(EMPEROR, game.auto_action(EMPEROR))
    made: list[ActionKind] = []
    for item, by in [*claims, *(each for each in items if each not in claims)]:
        if not after_first_play:
            walk_to(game, *_steps_for(item))
        for seat in _declarers(game, item, by, kind):
            refusal = attempt(game, seat, _ACTIONS[item.kind])
            if refusal is not None:
                return refusal, made
        made.append(item.kind)
        if not after_first_play:
            _close_others(game, items, item)
    if not after_first_play:
        walk_to(game)
    return None, made


_ACTIONS = {
    ActionKind.REBEL: REBEL,
    ActionKind.GUARD: GUARD,
    ActionKind.SOLO: SOLO,
    ActionKind.COUNTER: COUNTER,
}


def _steps_for(item: Declaration) -> tuple[Step, ...]:
    if item.kind is ActionKind.SOLO:
        return (Step.CLAIM,)
    if item.kind is ActionKind.COUNTER:
        return (Step.COUNTER, Step.RECOUNTER)
    return (Step.DECLARE,)


def _close_others(game: Game, items: Sequence[tuple[Declaration, str | None]], item: Declaration) -> None:
    """Answers no for everyone else, unless more is declared in the same step."""
    rest = [other for other, _ in items[[each for each, _ in items].index(item) + 1 :]]
    step = game.state.public.step
    if any(step in _steps_for(other) and other.kind is not ActionKind.COUNTER for other in rest):
        return
    while game.state.public.step is step and step is not Step.PLAY and game.to_act:
        game.apply(game.to_act[0], NO)


def _declarers(game: Game, item: Declaration, by: str | None, kind: Hand) -> list[Seat]:
    """Who declares: as the case says, else as many as it needs to stand."""
    solo = kind.solo is not Solo.NONE
    royal = [EMPEROR] if solo else [GUARD_SEAT, EMPEROR]
    rebels = [seat for seat in SEATS if seat not in royal]
    actor = (item.actor or by or "").lower().removeprefix("the ").removeprefix("a ")
    by_name: dict[str, list[Seat]] = {
        "emperor": [EMPEROR],
        "guard": [GUARD_SEAT],
        "rebel": rebels[:1],
        "rebels": rebels,
        "royal": royal[:1],
        "royals": royal,
    }
    if actor and actor not in by_name:
        seat = read_seat(actor)
        return [seat]
    if item.kind is ActionKind.REBEL:
        side, needed = by_name.get(actor, rebels), 2
    elif item.kind in (ActionKind.GUARD, ActionKind.SOLO):
        side, needed = (
            by_name.get(actor, [EMPEROR if item.kind is ActionKind.SOLO or solo else GUARD_SEAT]),
            1,
        )
    else:
        public = game.state.public
        asked = public.to_act if public.step in (Step.COUNTER, Step.RECOUNTER) else tuple(rebels)
        side = by_name.get(actor) or [seat for seat in asked if seat in rebels] or royal
        needed = 2 if side == rebels else 1
        if item.word in RECOUNTER_WORDS and not solo and public.step is Step.COUNTER and not actor:
            side, needed = [seat for seat in royal if seat not in asked] or list(asked), 1
    number = item.number if item.number is not None else min(needed, len(side))
    if number > len(side):
        raise UninterpretableError(f"there are not {number} who could declare {item.word}")
    return side[:number]


def _declared_answers(game: Game, refusal: RuleError | None, made: Sequence[ActionKind]) -> Answers:
    public = game.state.public
    last = made[-1] if made else None
    stands = {
        ActionKind.REBEL: public.rebellion,
        ActionKind.GUARD: public.open_guard,
        ActionKind.SOLO: public.open_solo,
        ActionKind.COUNTER: public.recounter if public.recounters else public.counter,
        None: False,
    }[last]
    known = public.guard is not None
    seen = game.view(None).public
    shown = bool(seen.rebels or seen.counters or seen.open_guard or seen.recounters)
    if not known:
        reveals: Any = (
            synonyms("the declarer only", "the declarers only", "only the declarer") if shown else NOTHING
        )
    else:
        reveals = synonyms("the guard", "all roles", "everyone")
    extra = (2 if public.counter else 1) * (2 if public.recounter else 1)
    emperor = letter_of(public.emperor)
    play_out(game)
    outcome = outcome_of(game)
    return {
        **verdict(refusal),
        "offered": refusal is None,
        "stands": stands and refusal is None,
        "multiplier": outcome.multiplier,
        "multiplier_extra": extra,
        "guard_revealed": known,
        "solo_revealed": known and outcome.solo is not Solo.NONE,
        "hoe_shown": shown,
        "shown": shown,
        "reveals": reveals,
        "rebels": letters_of(seen.rebels),
        "emperor": emperor,
        "kind": OneOf(KIND_NAMES[outcome.solo]),
    }


CATEGORIES = {"declare": declare}
