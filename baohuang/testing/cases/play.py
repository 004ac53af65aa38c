"""Cases about plays, tricks, the end of a hand and held-back cards (R3, R4, R6, R7, R10.4)."""

from __future__ import annotations

from collections.abc import Sequence

from baohuang.game import Game
from baohuang.rules.actions import PASS, Action
from baohuang.rules.cards import RANK_NAMES, TWO, Card, parse_card
from baohuang.rules.errors import CardError, RuleError
from baohuang.rules.events import CardGiven
from baohuang.rules.outcome import DueKind
from baohuang.rules.roles import SEATS, Opening, Seat, Solo
from baohuang.rules.ruleset import RuleSet
from baohuang.testing.cases.facts import NOTHING, Answers, Case, OneOf, synonyms
from baohuang.testing.cases.words import (
    LETTERS,
    PlayEvent,
    UninterpretableError,
    letter_of,
    matches,
    read_cards,
    read_event,
    read_kind,
    read_seat,
)
from baohuang.testing.scenarios import (
    finish,
    outcome_of,
    play_out,
    play_words,
    start_at_play,
    start_finish,
)

IS_PASS = ("pass", "过")


def attempt(game: Game, seat: Seat, action: Action) -> RuleError | None:
    """Does an action; gives back the refusal, if it is refused."""
    try:
        game.apply(seat, action)
    except RuleError as error:
        return error
    return None


def verdict(refusal: RuleError | None) -> Answers:
    """Answers about an attempt: `legal`, and if it is not, the `reason` and the clause of the refusal."""
    return {
        "legal": refusal is None,
        "reason": NOTHING if refusal is None else str(refusal.reason),
        "refused_by": NOTHING if refusal is None else refusal.clause,
    }


def beats(case: Case) -> Answers:
    """R4: one play against another, whatever deck could hold them."""
    table, called = case.situation.cards("table"), case.situation.get("called", "called_card")
    played = case.act.get("play", "attack")
    case.situation.require_all_read()
    case.act.require_all_read()
    if played is None:
        raise case.no_action()
    if table is None or played in IS_PASS:
        return _judge_turn(case.rules, table, played)
    words = read_cards(played)
    if called is None:
        result = case.rules.beats(" ".join(words), " ".join(table))
    else:
        card = parse_card(read_cards(called)[0])
        against = case.rules.require_shape(_cards(table, card), card)
        shape = case.rules.find_shape(_cards(words, card), card)
        result = shape is not None and case.rules.cover.beats(shape, against)
    return {"legal": result, "beats": result}


def _cards(words: Sequence[str], called: Card) -> tuple[Card, ...]:
    """Cards of words; a bare rank is not the called card."""
    other = "d" if str(called)[1] == "c" else "c"
    return tuple(sorted(parse_card(word + other if word in RANK_NAMES else word) for word in words))


def _judge_turn(rules: RuleSet, table: Sequence[str] | None, played: object) -> Answers:
    game = _turn_of_a(rules, ["K"] if played in IS_PASS else read_cards(played), table)  # type: ignore[arg-type]
    action = PASS if played in IS_PASS else play_words(game, 0, read_cards(played))  # type: ignore[arg-type]
    refusal = attempt(game, 0, action)
    return {**verdict(refusal), "beats": refusal is None}


def lead(case: Case) -> Answers:
    """R3.1: whether cards are a play that may be led; they are the leader's whole hand unless it is given."""
    table, hand = case.situation.cards("table"), case.situation.cards("hand")
    words = case.act.cards("lead", "play")
    case.situation.require_all_read()
    case.act.require_all_read()
    if words is None or table is not None:
        raise case.no_action()
    try:
        game = _turn_of_a(case.rules, hand or words, None)
    except CardError:
        # The deck has no such cards, or not so many: then only the shape is judged (R4.5).
        suited = (word + "c" if word in RANK_NAMES else word for word in words)
        shape = case.rules.find_shape(tuple(sorted(map(parse_card, suited))))
        return {"legal": shape is not None}
    return verdict(attempt(game, 0, play_words(game, 0, words)))


def _turn_of_a(
    rules: RuleSet, hand: Sequence[str], table: Sequence[str] | None, called: Card | None = None
) -> Game:
    """A game in which seat A has this hand and leads, or has to answer this table."""
    if table is None:
        return start_at_play(rules, {0: hand}, called=called)
    game = start_at_play(
        rules,
        {0: hand, 4: table},
        emperor=4,
        filler={4: 2},
        guard=_joker_holder(rules, hand, table),
        called=called,
    )
    game.apply(4, play_words(game, 4, table))
    return game


def _joker_holder(rules: RuleSet, hand: Sequence[str], table: Sequence[str]) -> Seat | None:
    return None if not rules.calls and ("GJ" in hand or "GJ" in table) else 2


def hold_back(case: Case) -> Answers:
    """R7: what may be played from a whole hand."""
    hand, table = case.situation.cards("hand"), case.situation.cards("table")
    played = case.act.get("play", "lead")
    case.situation.require_all_read()
    case.act.require_all_read()
    if hand is None or played is None:
        raise case.no_action()
    game = _turn_of_a(case.rules, hand, table)
    action = PASS if played in IS_PASS else play_words(game, 0, read_cards(played))
    return verdict(attempt(game, 0, action))


def trick(case: Case) -> Answers:
    """R3.3, R3.4, R6.2: who leads after events of play, or whether a play is legal then."""
    facts = case.situation
    events = [read_event(text) for text in facts.get("events", default=[])]
    order = facts.get("order", "seats")
    if order is not None and [read_seat(letter) for letter in order] != list(SEATS):
        raise UninterpretableError("the order of seats is A B C D E")
    out = [read_seat(letter) for letter in facts.get("out", "finished", default=[])]
    roles = facts.get("emperor"), facts.get("guard")
    by = case.act.get("by", "player")
    played = case.act.get("play")
    facts.require_all_read()
    case.act.require_all_read()
    asks = matches(
        case.action,
        r"who (leads|plays|acts|is next|plays next|is to act|has the lead)( next| now)?",
        r"whose (turn|lead)( is it)?",
        r"lead(er)?",
    )
    if not events or (asks is None and (by is None or played is None)):
        raise case.no_action()
    wanted: tuple[Seat, Sequence[str]] | None = None
    if asks is None and played not in IS_PASS:
        wanted = (read_seat(by), read_cards(played))
    game = _after_events(case.rules, events, out, roles, wanted)
    if asks is None:
        seat = read_seat(by)
        return verdict(attempt(game, seat, PASS if wanted is None else play_words(game, seat, wanted[1])))
    public = game.state.public
    to_act = letter_of(public.to_act[0]) if public.to_act else None
    leads = public.table is None and not public.is_over
    return {
        "lead": to_act if leads else NOTHING,
        "leader": to_act if leads else NOTHING,
        "player": to_act,
        "turn": to_act,
        "over": public.is_over,
        "positions": _places(game),
    }


def _after_events(
    rules: RuleSet,
    events: Sequence[PlayEvent],
    out: Sequence[Seat],
    roles: tuple[object, object],
    wanted: tuple[Seat, Sequence[str]] | None,
) -> Game:
    """A game in which the seats of `out` have gone out in that order and then these events came to pass."""
    leader = events[0].seat
    words: dict[Seat, list[str]] = {seat: [] for seat in SEATS}
    for event in events:
        words[event.seat] += event.cards
    if wanted is not None:
        words[wanted[0]] += wanted[1]
    if out:
        if leader in out:
            raise UninterpretableError("who is out leads nothing")
        words[leader] += ["7", "2"]
        for rank, seat in zip("89TJ", out, strict=False):
            words[seat].append(rank)
    leaving = {*out, *(event.seat for event in events if event.goes_out)}
    emperor = leader if roles[0] is None else read_seat(roles[0])
    if emperor != leader:
        raise UninterpretableError("the emperor leads first, so the first event is his")
    staying = [seat for seat in SEATS if seat not in leaving and seat != emperor]
    guard = (staying or [(emperor + 1) % 5])[-1] if roles[1] is None else read_seat(roles[1])
    filler = {seat: 0 if seat in leaving else 2 for seat in SEATS}
    game = start_at_play(rules, words, emperor=emperor, guard=guard, filler=filler)
    if out:
        _prelude(game, leader, out)
    for event in events:
        game.apply(event.seat, play_words(game, event.seat, event.cards) if event.cards else PASS)
        if event.goes_out is not (game.state.public.places[event.seat] is not None):
            raise UninterpretableError(f"whether {LETTERS[event.seat]} is out is not what the events say")
    return game


def _prelude(game: Game, leader: Seat, out: Sequence[Seat]) -> None:
    """A first trick in which `out` go out one after the other; `leader` wins it."""
    left = list(out)
    game.apply(leader, play_words(game, leader, ["7"]))
    while game.state.public.table is not None:
        seat = game.to_act[0]
        if left and seat == left[0]:
            game.apply(seat, Action.play(game.state.hidden.hands[seat]))
            left.pop(0)
        elif not left and seat == leader and game.state.public.table.seat != leader:
            game.apply(seat, play_words(game, seat, ["2"]))
        else:
            game.apply(seat, PASS)


def _places(game: Game) -> dict[str, int]:
    outcome = game.outcome
    places = game.state.public.places if outcome is None or outcome.places is None else outcome.places
    return {LETTERS[seat]: place for seat, place in enumerate(places) if place is not None}


def end(case: Case) -> Answers:
    """R6.3, R6.4: whether the hand is over after these players have gone out, and with which places."""
    facts = case.situation
    kind = read_kind(facts.get("kind"))
    emperor = read_seat(facts.get("emperor", default="A"))
    guard = facts.get("guard")
    finished = [read_seat(letter) for letter in facts.get("finished", "out", default=[])]
    facts.require_all_read()
    if not matches(case.action, r"is the hand over.*", r"(result|positions|places|end)( of the hand)?"):
        raise case.no_action()
    if kind.solo is Solo.NONE and guard is None:
        raise UninterpretableError("a hand with a guard says who he is")
    helper = emperor if kind.solo is not Solo.NONE else read_seat(guard)
    rebels = tuple(seat for seat in SEATS if seat not in (emperor, helper))
    opening = Opening(
        emperor, helper, open_solo=kind.solo is Solo.OPEN, rebels=rebels[:2] if kind.rebelled else ()
    )
    game = start_finish(case.rules, finished, opening)
    finish(game, finished)
    public = game.state.public
    if sum(place is not None for place in public.places) < len(finished):
        raise UninterpretableError("they cannot all go out: the hand is over before")
    return {"over": public.is_over, "positions": _places(game), **results(game, emperor)}


def results(game: Game, emperor: Seat) -> Answers:
    """Who won, by the sign of the score (R6.5)."""
    outcome = game.outcome
    if outcome is None:
        return {"result": NOTHING, "winner": NOTHING, "loser": NOTHING, "scores": NOTHING}
    score = outcome.scores[emperor]
    result, winner, loser = (
        (
            synonyms("emperor wins", "emperor won", "emperor side wins", "royal side wins", "rebels lose"),
            "emperor",
            "rebels",
        )
        if score > 0
        else (
            synonyms("emperor loses", "emperor lost", "emperor side loses", "royal side loses", "rebels win"),
            "rebels",
            "emperor",
        )
        if score < 0
        else (synonyms("level", "draw", "drawn", "nobody wins"), None, None)
    )
    scores = {LETTERS[seat]: each for seat, each in enumerate(outcome.scores)}
    return {"result": result, "winner": OneOf((winner,)), "loser": OneOf((loser,)), "scores": scores}


def cleared_threes(case: Case) -> Answers:
    """R10.4: A makes a play that leaves him with `hand_after`; another player beats it, or all pass."""
    facts = case.situation
    after, last = facts.cards("hand_after"), facts.cards("last_play")
    beaten = facts.get("beaten", default=True)
    kind = read_kind(facts.get("kind"))
    by = read_seat(facts.get("by", "beaten_by", default="B"))
    role = facts.get("role", "player", default="emperor")
    facts.require_all_read()
    if not matches(case.action, r"status", r"is (he|it|a|the player) cleared", r"cleared"):
        raise case.no_action()
    if after is None or not last or by == 0:
        raise UninterpretableError("hand_after, last_play and another player who beats it are needed")
    game = _clearing_game(case.rules, after, last, kind.solo, role, by)
    if game.state.public.emperor != 0:
        game.apply(4, play_words(game, 4, ["4"] * len(last)))
    game.apply(0, play_words(game, 0, last))
    table = game.state.public.table
    while table is not None and table.seat == 0 and game.to_act:
        seat = game.to_act[0]
        game.apply(seat, play_words(game, seat, _higher(last)) if beaten and seat == by else PASS)
        table = game.state.public.table
    return _cleared_answers(game, by)


def _clearing_game(
    rules: RuleSet, after: Sequence[str], last: Sequence[str], solo: Solo, role: object, by: Seat
) -> Game:
    """A game in which A, who has this role, plays next, after a lead of the emperor E if A is not emperor."""
    roles = {"emperor": (0, 2), "guard": (4, 0), "rebel": (4, 3 if by != 3 else 2)}
    if role not in roles:
        raise UninterpretableError(f"{role!r} is no role")
    emperor, guard = roles[str(role)]
    if solo is not Solo.NONE:
        guard = emperor
    words: dict[Seat, list[str]] = {0: [*last, *after], by: _higher(last)}
    if emperor:
        words[emperor] = [*words.get(emperor, []), *["4"] * len(last)]
    filler = {seat: 0 if seat == 0 else 2 for seat in SEATS}
    opening = Opening(emperor, guard, open_solo=solo is Solo.OPEN)
    return start_at_play(rules, words, opening=opening, filler=filler)


def _higher(last: Sequence[str]) -> list[str]:
    """Words of a play that beats `last` in the folk rules."""
    plain = [word for word in last if word not in ("SJ", "BJ")]
    ranks = [RANK_NAMES.index(word[0]) for word in plain]
    up = RANK_NAMES[min(ranks) + 1] if ranks and min(ranks) < TWO else "SJ"
    over_jokers = {"SJ": ["BJ"], "BJ": ["BJ", "BJ"]}
    return [up] * len(plain) + [word for joker in last if joker in over_jokers for word in over_jokers[joker]]


def _cleared_answers(game: Game, by: Seat) -> Answers:
    public = game.state.public
    cleared = any(debt.giver == 0 for debt in public.cleared)
    place, over, solo_result = public.places[0], public.is_over, results(game, public.emperor or 0)
    play_out(game)
    owed = _debt_paid(game)
    gives = "gives its highest card to the player who beat it" if owed == by else NOTHING
    return {
        **solo_result,
        "cleared": cleared,
        "place": place,
        "position": place,
        "over": over,
        "next_hand": gives,
        "owes": NOTHING if owed is None else LETTERS[owed],
    }


def _debt_paid(game: Game) -> Seat | None:
    """To whom A gives his highest card at the start of the next hand, by a debt alone."""
    outcome = outcome_of(game)
    debts = [due for due in outcome.dues if due.kind is DueKind.DEBT]
    following = Game.deal(game.rules, seed=1, first_drawer=outcome.next_first_drawer, dues=debts)
    before = Game.deal(game.rules, seed=1, first_drawer=outcome.next_first_drawer).state.hidden.hands[0]
    for event in following.events:
        if isinstance(event, CardGiven) and event.giver == 0 and event.card is not None:
            return event.receiver if event.card.rank == before[-1].rank else None
    return None


CATEGORIES = {
    "beats": beats,
    "lead": lead,
    "hold_back_sixes": hold_back,
    "hold_back_threes": hold_back,
    "hold_back": hold_back,
    "pass": trick,
    "wind": trick,
    "trick": trick,
    "end": end,
    "end_solo": end,
    "cleared_threes": cleared_threes,
}
