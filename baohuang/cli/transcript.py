"""A record as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.cells import cell_len

from baohuang.cli.words import text
from baohuang.phrases import how_it_ended, phrase_of, plain_text
from baohuang.record import Record
from baohuang.rules import events as ev
from baohuang.rules.cards import format_cards
from baohuang.rules.events import Event
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import SEATS, Seat
from baohuang.words import Language, name_of, place_name, rules_name, seat_name

_WIDTH = 100


def transcript(record: Record, language: Language) -> Iterator[str]:
    """The lines of a readable transcript. What is hidden in the record is shown as hidden."""
    return _Transcript(language).lines(record.events)


class _Transcript:
    """Follows the events as far as the text needs it; judges nothing, so a faulty record can be read too."""

    def __init__(self, language: Language) -> None:
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
            yield f"  {self._remark(answer)}"
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
                if isinstance(event, ev.StepClosed):
                    self._answers = []
                remark = self._remark(event)
                if self._moves:
                    self._remarks.append(remark)
                else:
                    yield from self._open()
                    yield f"  {remark}"

    def _started(self, event: ev.GameStarted) -> Iterator[str]:
        rules = self._language.say(str(event.rules), rules_name(event.rules, self._language))
        yield self._say("rules", rules=rules)
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
            start = "  " + self._say("hand", seat=self._seat(seat))
            if hand is None:
                yield start + self._say("hidden")
            else:
                cards = format_cards(hand) + self._say("count", count=len(hand))
                yield from _wrapped(start, cards.split(" "), " ")
        self._has_opened = False

    def _open(self) -> Iterator[str]:
        if not self._has_opened and not self._trick:
            self._has_opened = True
            yield self._say("opening")

    def _close_trick(self) -> Iterator[str]:
        if self._moves:
            self._trick += 1
            yield from _wrapped(self._say("trick", number=self._trick), self._moves, " · ")
            for remark in self._remarks:
                yield f"  {remark}"
        self._moves, self._remarks = [], []

    def _remark(self, event: Event) -> str:
        return plain_text(phrase_of(event, self._language))

    def _result(self, outcome: Outcome) -> Iterator[str]:
        yield self._say("result", how=how_it_ended(outcome, self._language))
        order = sorted(SEATS, key=lambda seat: outcome.places[seat] if outcome.places else seat)
        for seat in order:
            role = name_of(outcome.roles[seat], self._language) if outcome.roles else "–"
            place = place_name(outcome.places[seat], self._language) if outcome.places else "–"
            yield f"  {self._seat(seat)}  {role}  {place}  {outcome.scores[seat]:+d}"
            if outcome.penalties[seat]:
                yield "    " + self._say("penalty", points=outcome.penalties[seat])

    def _seat(self, seat: Seat) -> str:
        return seat_name(seat, self._language)

    def _say(self, key: str, **values: object) -> str:
        return text(self._language, key, **values)


def _wrapped(start: str, parts: list[str], separator: str) -> Iterator[str]:
    """`parts` in lines of at most about 100 columns, never cut within a part."""
    line = start
    first = True
    for part in parts:
        piece = part if first else separator + part
        if not first and cell_len(line) + cell_len(piece) > _WIDTH:
            yield line
            line = "    " + part
        else:
            line += piece
        first = False
    yield line
