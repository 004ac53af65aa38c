"""Events in a sentence each, in English and Chinese. Cards stay cards, so that a page can draw them."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from typing import Any, Final

from baohuang.rules import events as ev
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import Hand
from baohuang.rules.events import Event, Step
from baohuang.rules.outcome import DueKind, Outcome
from baohuang.rules.roles import Seat
from baohuang.words import Language, name_of, place_name, rules_name, seat_name

Phrase = tuple[str | Hand, ...]
"""Text and cards, in order."""


def phrase_of(event: Event, language: Language) -> Phrase:
    """What happened, as far as `event` tells it: what was redacted is not in the sentence."""
    return _PHRASES[type(event)](event, language)


def plain_text(phrase: Phrase) -> str:
    """A phrase as text, its cards in their two-letter form."""
    return "".join([part if isinstance(part, str) else " ".join(map(str, part)) for part in phrase])


def _fill(template: str, **values: str | Hand) -> Phrase:
    """`template` with its fields filled; cards as they are."""
    parts: list[str | Hand] = []
    for text, field, _, _ in string.Formatter().parse(template):
        if text:
            parts.append(text)
        if field:
            parts.append(values[field])
    return tuple(parts)


def _started(event: ev.GameStarted, language: Language) -> Phrase:
    return _fill(
        language.say("{rules}: {seat} draws first", "{rules}：{seat}先摸牌"),
        rules=rules_name(event.rules, language),
        seat=seat_name(event.first_drawer, language),
    )


def _nonce_added(event: ev.NonceAdded, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} adds a nonce", "{seat}加入随机串"), seat=seat_name(event.seat, language)
    )


def _dealt(event: ev.Dealt, language: Language) -> Phrase:
    if not event.redeal:
        return (language.say("The cards are dealt", "发牌"),)
    return _fill(
        language.say("The cards are dealt again ({number})", "重新发牌（第{number}次）"),
        number=str(event.redeal),
    )


def _opening_given(event: ev.OpeningGiven, language: Language) -> Phrase:
    opening = event.opening
    phrase = _fill(
        language.say("The hand starts at play: {seat} is emperor", "从出牌开始：{seat}是皇帝"),
        seat=seat_name(opening.emperor, language),
    )
    if opening.guard is not None and opening.guard != opening.emperor:
        phrase += _fill(
            language.say(", {seat} guard", "，{seat}是侍卫"), seat=seat_name(opening.guard, language)
        )
    if opening.called is not None:
        phrase += _fill(language.say("; called: {card}", "；所叫的牌是 {card}"), card=(opening.called,))
    made = [
        *[(opening.emperor, ActionKind.SOLO, Step.CLAIM)] * opening.open_solo,
        *[(seat, ActionKind.REBEL, Step.DECLARE) for seat in opening.rebels],
        *[(seat, ActionKind.COUNTER, Step.COUNTER) for seat in opening.counters],
        *[(seat, ActionKind.COUNTER, Step.RECOUNTER) for seat in opening.recounters],
    ]
    if opening.open_guard and opening.guard is not None:
        made.insert(0, (opening.guard, ActionKind.GUARD, Step.DECLARE))
    if made:
        phrase += _fill(
            language.say("; declared: {made}", "；声明：{made}"), made=_declarations(made, language)
        )
    return phrase


def _card_given(event: ev.CardGiven, language: Language) -> Phrase:
    if event.returned:
        template = language.say("{giver} gives {card} back to {receiver}", "{giver}还贡给{receiver}：{card}")
    elif event.kind is DueKind.DEBT:
        template = language.say(
            "{giver} pays {receiver} a debt: {card}", "{giver}因被清三进贡给{receiver}：{card}"
        )
    else:
        template = language.say("{giver} pays {receiver} tribute: {card}", "{giver}进贡给{receiver}：{card}")
    return _fill(
        template,
        giver=seat_name(event.giver, language),
        receiver=seat_name(event.receiver, language),
        card=language.say("a card", "一张牌") if event.card is None else (event.card,),
    )


_THRONE: Final = {
    ActionKind.KEEP: ("{seat} keeps the throne", "{seat}不让位"),
    ActionKind.TAKE: ("{seat} takes the throne", "{seat}接皇位"),
    ActionKind.YIELD: ("{seat} yields the throne", "{seat}让位"),
    ActionKind.DECLINE: ("{seat} declines the throne", "{seat}不接皇位"),
}


def _throne_answered(event: ev.ThroneAnswered, language: Language) -> Phrase:
    phrase = _fill(language.say(*_THRONE[event.answer]), seat=seat_name(event.seat, language))
    if event.laid_count:
        phrase += _fill(
            language.say(", adding {laid}", "，贴牌 {laid}")
            if event.answer is ActionKind.YIELD
            else language.say(", laying down {laid}", "，放底牌 {laid}"),
            laid=_hidden(event.laid_count, language) if event.laid is None else event.laid,
        )
    if event.carried_count and event.answer is ActionKind.TAKE:
        phrase += _fill(
            language.say(" with {carried}", "，收下 {carried}"),
            carried=_hidden(event.carried_count, language) if event.carried is None else event.carried,
        )
    if event.asked is not None:
        phrase += _fill(
            language.say("; {asked} is asked", "；轮到{asked}"), asked=seat_name(event.asked, language)
        )
    return phrase


def _hidden(count: int, language: Language) -> str:
    return language.say("a card" if count == 1 else f"{count} cards", f"{count}张牌")


def _enthroned(event: ev.Enthroned, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} is the emperor", "{seat}是皇帝"), seat=seat_name(event.emperor, language)
    )


def _call_answered(event: ev.CallAnswered, language: Language) -> Phrase:
    seat = seat_name(event.seat, language)
    if event.card is None:
        return _fill(language.say("{seat} plays an open solo", "{seat}明独"), seat=seat)
    return _fill(language.say("{seat} calls {card}", "{seat}叫牌 {card}"), seat=seat, card=(event.card,))


def _answered(event: ev.Answered, language: Language) -> Phrase:
    seat, step = seat_name(event.seat, language), name_of(event.step, language)
    if event.action is None:
        return _fill(
            language.say("{seat} has answered ({step})", "{seat}已选择（{step}）"), seat=seat, step=step
        )
    return _fill(
        language.say("{seat} answers: ", "{seat}选择："), seat=seat
    ) + _action(event.action, language, event.step)  # fmt: skip


def _action(action: Action, language: Language, step: Step) -> Phrase:
    name = _declaration(action.kind, step, language)
    return (f"{name} ", action.cards) if action.cards else (name,)


def _declaration(kind: ActionKind, step: Step, language: Language) -> str:
    # One action, two words: who counters a counter recounters.
    if kind is ActionKind.COUNTER:
        return name_of(step, language)
    return name_of(kind, language)


def _declarations(made: Iterable[tuple[Seat, ActionKind, Step]], language: Language) -> str:
    """Who declared what, in which step."""
    return language.say(", ", "、").join(
        [
            language.say(" ", "").join([seat_name(seat, language), _declaration(kind, step, language)])
            for seat, kind, step in made
        ]
    )


def _step_closed(event: ev.StepClosed, language: Language) -> Phrase:
    step = name_of(event.step, language)
    if not event.declared:
        if event.step is Step.TRIBUTE:
            return (language.say("The tribute is settled", "进贡完毕"),)
        return _fill(language.say("All have answered ({step}): nobody", "{step}：无人"), step=step)
    made = _declarations([(seat, kind, event.step) for seat, kind in event.declared], language)
    stands = language.say(
        "it stands" if event.stands else "it does not stand", "成立" if event.stands else "不成立"
    )
    return _fill(language.say("{made}: {stands}", "{made}：{stands}"), made=made, stands=stands)


def _guard_revealed(event: ev.GuardRevealed, language: Language) -> Phrase:
    seat = seat_name(event.guard, language)
    if event.guard == event.emperor:
        return _fill(language.say("{seat} plays alone", "{seat}独保"), seat=seat)
    return _fill(language.say("{seat} is the guard", "{seat}是侍卫"), seat=seat)


def _played(event: ev.Played, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} plays {cards}", "{seat}出 {cards}"),
        seat=seat_name(event.seat, language),
        cards=event.cards,
    )


def _passed(event: ev.Passed, language: Language) -> Phrase:
    return _fill(language.say("{seat} passes", "{seat}过牌"), seat=seat_name(event.seat, language))


def _went_out(event: ev.WentOut, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} is out, {place}", "{seat}出完，{place}"),
        seat=seat_name(event.seat, language),
        place=place_name(event.place, language),
    )


def _cleared(event: ev.Cleared, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} is cleared by {by}, {place}", "{seat}被{by}清三，{place}"),
        seat=seat_name(event.seat, language),
        by=seat_name(event.by, language),
        place=place_name(event.place, language),
    )


def _trick_ended(event: ev.TrickEnded, language: Language) -> Phrase:
    winner = seat_name(event.winner, language)
    if event.leader == event.winner:
        return _fill(language.say("{seat} wins the trick", "{seat}赢得本轮"), seat=winner)
    return _fill(
        language.say("{seat} wins the trick; {leader} has the wind", "{seat}赢得本轮，{leader}接风"),
        seat=winner,
        leader=seat_name(event.leader, language),
    )


def _auto_play_started(event: ev.AutoPlayStarted, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} goes on auto-play ({why})", "{seat}开始托管（{why}）"),
        seat=seat_name(event.seat, language),
        why=name_of(event.why, language),
    )


def _auto_play_ended(event: ev.AutoPlayEnded, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} takes back control", "{seat}取消托管"), seat=seat_name(event.seat, language)
    )


def _seat_forfeited(event: ev.SeatForfeited, language: Language) -> Phrase:
    return _fill(
        language.say("{seat} {why}; a bot plays on", "{seat}{why}，由机器人接手"),
        seat=seat_name(event.seat, language),
        why=name_of(event.why, language),
    )


def _hand_ended(event: ev.HandEnded, language: Language) -> Phrase:
    return _fill(
        language.say("The hand is over: {how}", "本局结束：{how}"), how=how_it_ended(event.outcome, language)
    )


def how_it_ended(outcome: Outcome, language: Language) -> str:
    """The termination, with the solo and the multiplier where they say something."""
    parts = [name_of(outcome.termination, language)]
    if solo := name_of(outcome.solo, language):
        parts.append(solo)
    if outcome.multiplier != 1:
        parts.append(f"×{outcome.multiplier}")
    return language.say(", ", "，").join(parts)


_PHRASES: Final[dict[type[Event], Callable[[Any, Language], Phrase]]] = {
    ev.GameStarted: _started,
    ev.NonceAdded: _nonce_added,
    ev.Dealt: _dealt,
    ev.OpeningGiven: _opening_given,
    ev.CardGiven: _card_given,
    ev.ThroneAnswered: _throne_answered,
    ev.Enthroned: _enthroned,
    ev.CallAnswered: _call_answered,
    ev.Answered: _answered,
    ev.StepClosed: _step_closed,
    ev.GuardRevealed: _guard_revealed,
    ev.Played: _played,
    ev.Passed: _passed,
    ev.WentOut: _went_out,
    ev.Cleared: _cleared,
    ev.TrickEnded: _trick_ended,
    ev.AutoPlayStarted: _auto_play_started,
    ev.AutoPlayEnded: _auto_play_ended,
    ev.SeatForfeited: _seat_forfeited,
    ev.HandEnded: _hand_ended,
}
