"""A record as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from baohuang.cli.words import text
from baohuang.record import Record
from baohuang.rules import events as ev
from baohuang.rules.cards import Hand, format_cards
from baohuang.rules.events import Event, Step
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import SEATS, Opening, Seat

_WIDTH = 100


def transcript(record: Record, language: str) -> Iterator[str]:
    """The lines of a readable transcript in `en` or `zh`. What is hidden in the record is shown as hidden."""
    return _Transcript(language).lines(record.events)


class _Transcript:
    """Follows the events as far as the text needs it; judges nothing, so a faulty record can be read too."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._trick = 0
        self._moves: list[str] = []
        self._remarks: list[str] = []
        self._has_opened = False
        self._answers: list[ev.Answered] = []

    def lines(self, events: Iterable[Event]) -> Iterator[str]:
        event: Event | None = None
        for event in events:
            yield from self._event(event)
        yield from self._close_trick()
        for answer in self._answers:
            yield f"  {self._answer(answer)}"
        if not isinstance(event, ev.HandEnded):
            yield self._say("unfinished")

    def _event(self, event: Event) -> Iterator[str]:
        match event:
            case ev.GameStarted():
                yield from self._started(event)
            case ev.NonceAdded():
                yield self._say("nonce", seat=self._seat(event.seat), nonce=repr(event.nonce))
            case ev.Dealt():
                yield from self._dealt(event)
            case ev.Played():
                self._moves.append(f"{self._seat(event.seat)} {format_cards(event.cards)}")
            case ev.Passed():
                self._moves.append(f"{self._seat(event.seat)} {self._say('pass')}")
            case ev.Answered():
                # What was declared is told when all have answered; the plain noes would drown it.
                self._answers.append(event)
            case ev.TrickEnded():
                if event.leader != event.winner:
                    self._remarks.append(self._say("leads_by_wind", seat=self._seat(event.leader)))
                yield from self._close_trick()
            case ev.HandEnded():
                yield from self._close_trick()
                yield from self._result(event.outcome)
            case _:
                remark = self._remark(event)
                if self._moves:
                    self._remarks.append(remark)
                else:
                    yield from self._open()
                    yield f"  {remark}"

    def _started(self, event: ev.GameStarted) -> Iterator[str]:
        yield self._say("rules", rules=event.rules)
        if event.seed is not None:
            yield self._say("seed", seed=event.seed)
        if event.commitment is not None:
            yield self._say("commitment", commitment=event.commitment)
        yield self._say("first_drawer", seat=self._seat(event.first_drawer))
        for due in event.dues:
            yield self._say(f"due_{due.kind}", giver=self._seat(due.giver), receiver=self._seat(due.receiver))

    def _dealt(self, event: ev.Dealt) -> Iterator[str]:
        yield self._say("redeal" if event.redeal else "deal", redeal=event.redeal)
        for seat in SEATS:
            hand = event.hands[seat]
            cards = self._say("hidden") if hand is None else f"{format_cards(hand)} ({len(hand)})"
            yield from _wrapped(f"  {self._seat(seat)}: ", cards.split(" "), " ")
        self._has_opened = False

    def _open(self) -> Iterator[str]:
        if not self._has_opened and not self._trick:
            self._has_opened = True
            yield self._say("opening")

    def _close_trick(self) -> Iterator[str]:
        if self._moves:
            self._trick += 1
            yield from _wrapped(f"{self._say('trick', number=self._trick)}: ", self._moves, " · ")
            for remark in self._remarks:
                yield f"  {remark}"
        self._moves, self._remarks = [], []

    def _remark(self, event: Event) -> str:
        """One event that is neither deal nor move, as a sentence."""
        say, seat = self._say, self._seat
        match event:
            case ev.OpeningGiven():
                remark = self._given(event.opening)
            case ev.CardGiven():
                key = "card_returned" if event.returned else f"{event.kind}_given"
                card = say("hidden") if event.card is None else str(event.card)
                remark = say(key, giver=seat(event.giver), receiver=seat(event.receiver), card=card)
            case ev.ThroneAnswered():
                remark = self._throne(event)
            case ev.Enthroned():
                remark = say("enthroned", seat=seat(event.emperor))
            case ev.CallAnswered():
                key = "calls_solo" if event.card is None else "calls"
                remark = say(key, seat=seat(event.seat), card=event.card)
            case ev.StepClosed():
                remark = self._closed(event)
            case ev.GuardRevealed():
                key = "solo_revealed" if event.guard == event.emperor else "guard_revealed"
                remark = say(key, emperor=seat(event.emperor), guard=seat(event.guard))
            case ev.WentOut():
                remark = say("went_out", seat=seat(event.seat), place=say(f"place_{event.place}"))
            case ev.Cleared():
                place = say(f"place_{event.place}")
                remark = say("cleared", seat=seat(event.seat), by=seat(event.by), place=place)
            case ev.AutoPlayStarted():
                remark = say(f"auto_play_{event.why}", seat=seat(event.seat))
            case ev.AutoPlayEnded():
                remark = say("auto_play_ended", seat=seat(event.seat))
            case ev.SeatForfeited():
                remark = say(f"forfeit_{event.why}", seat=seat(event.seat))
            case _:
                raise AssertionError(f"{type(event).__name__} has no text")
        return remark

    def _answer(self, event: ev.Answered) -> str:
        action = self._say("hidden") if event.action is None else event.action
        return self._say(
            "answers", seat=self._seat(event.seat), step=self._say(f"step_{event.step}"), action=action
        )

    def _given(self, opening: Opening) -> str:
        kinds = (
            *[(seat, "rebel") for seat in opening.rebels],
            *[(seat, "counter") for seat in opening.counters],
            *[(seat, "recounter") for seat in opening.recounters],
        )
        declared = [self._say(f"declared_{kind}", seat=self._seat(seat)) for seat, kind in kinds]
        if opening.open_solo:
            declared.insert(0, self._say("declared_solo", seat=self._seat(opening.emperor)))
        if opening.open_guard:
            declared.insert(0, self._say("declared_guard", seat=self._seat(opening.guard)))
        return self._say(
            "opening_given",
            emperor=self._seat(opening.emperor),
            guard=self._seat(opening.guard),
            called=opening.called or "–",
            declared=self._join(declared),
        )

    def _throne(self, event: ev.ThroneAnswered) -> str:
        parts = [self._say(f"throne_{event.answer}", seat=self._seat(event.seat))]
        if event.laid_count:
            parts.append(self._say("throne_laid", cards=self._cards(event.laid, event.laid_count)))
        if event.carried_count:
            parts.append(self._say("throne_carried", cards=self._cards(event.carried, event.carried_count)))
        return " ".join(parts)

    def _closed(self, event: ev.StepClosed) -> str:
        self._answers = []
        step = self._say(f"step_{event.step}")
        if event.step is Step.TRIBUTE:
            return self._say("tribute_closed")
        # A recounter is a counter by its action, a word of its own by its step.
        declared = self._join(
            [
                self._say(
                    f"declared_{'recounter' if event.step is Step.RECOUNTER else kind}", seat=self._seat(seat)
                )
                for seat, kind in event.declared
            ]
        )
        key = "closed_failed" if event.declared and not event.stands else "closed"
        return self._say(key, step=step, declared=declared)

    def _result(self, outcome: Outcome) -> Iterator[str]:
        how = [self._say(f"termination_{outcome.termination}"), self._say(f"solo_{outcome.solo}")]
        how.append(self._say("multiplier", multiplier=outcome.multiplier) if outcome.multiplier > 1 else "")
        yield self._say("result", termination=self._say("separator").join([part for part in how if part]))
        order = sorted(SEATS, key=lambda seat: outcome.places[seat] if outcome.places else seat)
        for seat in order:
            yield "  " + self._say(
                "result_line",
                seat=self._seat(seat),
                role=self._say(f"role_{outcome.roles[seat]}") if outcome.roles else "–",
                place=self._say(f"place_{outcome.places[seat]}") if outcome.places else "–",
                score=f"{outcome.scores[seat]:+d}",
            )
            if outcome.penalties[seat]:
                yield "    " + self._say("penalty", points=outcome.penalties[seat])

    def _cards(self, cards: Hand | None, count: int) -> str:
        return self._say("number_of_cards", number=count) if cards is None else format_cards(cards)

    def _join(self, parts: list[str]) -> str:
        return self._say("separator").join(parts) or self._say("nobody")

    def _seat(self, seat: Seat | None) -> str:
        return self._say("hidden") if seat is None else self._say("seat", seat=seat)

    def _say(self, key: str, **values: object) -> str:
        return text(self._language, key, **values)


def _wrapped(start: str, parts: list[str], separator: str) -> Iterator[str]:
    """`parts` in lines of at most about 100 characters, never cut within a part."""
    line = start
    first = True
    for part in parts:
        piece = part if first else separator + part
        if not first and len(line) + len(piece) > _WIDTH:
            yield line
            line = "    " + part
        else:
            line += piece
        first = False
    yield line
