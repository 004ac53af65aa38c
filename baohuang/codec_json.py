"""Events as JSON objects, by the names of docs/record-format.md.

The names below are what is stored: they are chosen here, for ever, and no class path is among them. `EVENTS`
says which fields an event has and how each is written; a field that a viewer may not see is `null` in what he
is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from baohuang.rules import events as ev
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import DECKS, Hand, format_cards, parse_card
from baohuang.rules.errors import BaohuangError
from baohuang.rules.events import Event
from baohuang.rules.outcome import Due, DueKind, Outcome, Termination
from baohuang.rules.roles import SEATS, Opening, Role, Solo
from baohuang.rules.ruleset import PRESETS, RuleSet
from baohuang.rules.shuffle import SALT_BYTES, SEED_BYTES

_MOST_CARDS: Final = max(DECKS)

Json = None | bool | int | str | list["Json"] | dict[str, "Json"]


class MalformedError(Exception):
    """A JSON value that is no event; the message says where in it and what was wanted there."""

    def __init__(self, message: str, *, clause: str = "") -> None:
        super().__init__(message)
        self.clause = clause


class Codec(NamedTuple):
    """How one kind of value is written as JSON and read back; `read` raises `MalformedError`."""

    write: Callable[[Any], Json]
    read: Callable[[Json], Any]


def event_to_json(event: Event) -> dict[str, Json]:
    """An event as a JSON object: its name under `event`, then its fields."""
    name, codecs = _BY_TYPE[type(event)]
    values = event.__dict__
    return {"event": name} | {field: codec.write(values[field]) for field, codec in codecs.items()}


def event_from_json(value: Json) -> Event:
    """The event of a JSON object; raises `MalformedError`. Whether it can happen is not asked here."""
    if not isinstance(value, dict):
        raise MalformedError(f"{show(value)} is no object")
    if "event" not in value:
        raise MalformedError("the field event, with the name of the event, is missing")
    name = value["event"]
    found = EVENTS.get(name) if isinstance(name, str) else None
    if found is None:
        raise MalformedError(f"there is no event {show(name)}")
    kind, codecs = found
    fields = {field: each for field, each in value.items() if field != "event"}
    try:
        return kind(**_read_fields(fields, codecs))
    except MalformedError as error:
        raise MalformedError(f"{name}: {error}", clause=error.clause) from None


def show(value: Json) -> str:
    """A JSON value for an error message: as Python writes it, at most 60 characters."""
    try:
        text = repr(value)
    except RecursionError:
        text = "a deeply nested value"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _read_fields(value: Json, codecs: Mapping[str, Codec]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedError(f"{show(value)} is no object")
    missing = [field for field in codecs if field not in value]
    if missing:
        raise MalformedError(f"the field {missing[0]} is missing")
    unknown = [field for field in value if field not in codecs]
    if unknown:
        raise MalformedError(f"there is no field {show(unknown[0])}")
    return {field: _at(field, codec, value[field]) for field, codec in codecs.items()}


def _at(where: object, codec: Codec, value: Json) -> Any:
    try:
        return codec.read(value)
    except MalformedError as error:
        raise MalformedError(f"{where}: {error}", clause=error.clause) from None


def _whole(low: int, high: int, what: str) -> Codec:
    def read(value: Json) -> int:
        if type(value) is not int or not low <= value <= high:
            raise MalformedError(f"{show(value)} is no {what} (a whole number from {low} to {high})")
        return value

    return Codec(int, read)


def _read_flag(value: Json) -> bool:
    if not isinstance(value, bool):
        raise MalformedError(f"{show(value)} is neither true nor false")
    return value


def _read_text(value: Json) -> str:
    if not isinstance(value, str):
        raise MalformedError(f"{show(value)} is no text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise MalformedError(f"{ascii(value)[:60]} holds half a character (a lone surrogate)") from None
    return value


_THRONE_ANSWERS: Final = (ActionKind.KEEP, ActionKind.TAKE, ActionKind.YIELD, ActionKind.DECLINE)
_DECLARED: Final = (ActionKind.SOLO, ActionKind.GUARD, ActionKind.REBEL, ActionKind.COUNTER)


def _word(words: Iterable[StrEnum]) -> Codec:
    values = {word.value: word for word in words}

    def read(value: Json) -> StrEnum:
        found = values.get(value) if isinstance(value, str) else None
        if found is None:
            raise MalformedError(f"{show(value)} is none of {', '.join(values)}")
        return found

    return Codec(lambda value: value.value, read)


def _hex(size: int) -> Callable[[Json], bytes]:
    def read(value: Json) -> bytes:
        digits = frozenset("0123456789abcdef")
        if not isinstance(value, str) or len(value) != 2 * size or not digits.issuperset(value):
            raise MalformedError(f"{show(value)} is not {2 * size} lower-case hexadecimal digits")
        return bytes.fromhex(value)

    return read


def _refused(read: Callable[[str], Any]) -> Callable[[Json], Any]:
    """Reads a text by a function of the library, whose refusals become `MalformedError`."""

    def read_text(value: Json) -> Any:
        try:
            return read(_read_text(value))
        except BaohuangError as error:
            raise MalformedError(error.message, clause=error.clause) from None

    return read_text


def _read_cards(text: str) -> Hand:
    # The order is kept: added cards lie in the order in which they were added.
    words = text.split(" ") if text else []
    if len(words) > _MOST_CARDS:
        raise MalformedError(f"{len(words)} cards, more than the largest deck has")
    return tuple([parse_card(word) for word in words])


def _read_action(text: str) -> Action:
    action = Action.parse(text)
    if str(action) != text:
        raise MalformedError(f"{show(text)} is written {show(str(action))}")
    return action


def _optional(codec: Codec) -> Codec:
    return Codec(
        lambda value: None if value is None else codec.write(value),
        lambda value: None if value is None else codec.read(value),
    )


def _list(codec: Codec, length: int | None = None, most: int = 64) -> Codec:
    def read(value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise MalformedError(f"{show(value)} is no list")
        if length is not None and len(value) != length:
            raise MalformedError(f"a list of {len(value)}, not {length}")
        if len(value) > most:
            raise MalformedError(f"a list of {len(value)}, more than {most}")
        return tuple([_at(place, codec, each) for place, each in enumerate(value)])

    return Codec(lambda values: [codec.write(value) for value in values], read)


def _record(kind: Callable[..., Any], codecs: Mapping[str, Codec]) -> Codec:
    return Codec(
        lambda value: {field: codec.write(getattr(value, field)) for field, codec in codecs.items()},
        lambda value: kind(**_read_fields(value, codecs)),
    )


def _write_declaration(declaration: tuple[int, ActionKind]) -> Json:
    seat, kind = declaration
    return {"seat": seat, "declared": kind.value}


def _read_declaration(value: Json) -> tuple[int, ActionKind]:
    fields = _read_fields(value, {"seat": _SEAT, "declared": _word(_DECLARED)})
    return fields["seat"], fields["declared"]


def _write_rules(rules: RuleSet) -> Json:
    return {"preset": rules.name, "options": {**rules.options()}}


def _read_rules(value: Json) -> RuleSet:
    fields = _read_fields(value, {"preset": _TEXT, "options": _ANY})
    options = fields["options"]
    if not isinstance(options, dict):
        raise MalformedError(f"options: {show(options)} is no object")
    if fields["preset"] not in PRESETS:
        raise MalformedError(f"preset: there is no rule set {show(fields['preset'])}", clause="R2")
    try:
        rules = RuleSet.preset(fields["preset"], **options)
    except BaohuangError as error:
        raise MalformedError(error.message, clause=error.clause) from None
    if _typed(rules.options()) != _typed(options):
        raise MalformedError(f"options: they list what differs from the preset, so here {rules.options()}")
    return rules


def _typed(options: Mapping[str, object]) -> dict[str, tuple[type, object]]:
    return {name: (type(value), value) for name, value in options.items()}


_SEAT: Final = _whole(0, len(SEATS) - 1, "seat")
_PLACE: Final = _whole(1, len(SEATS), "place")
_COUNT: Final = _whole(0, 255, "count")
_POINTS: Final = _whole(-10_000, 10_000, "score")
_FLAG: Final = Codec(bool, _read_flag)
_TEXT: Final = Codec(str, _read_text)
_ANY: Final = Codec(lambda value: value, lambda value: value)
_CARD: Final = Codec(str, _refused(parse_card))
_CARDS: Final = Codec(format_cards, _refused(_read_cards))
_ACTION: Final = Codec(str, _refused(_read_action))
_SEED: Final = Codec(
    lambda seed: seed.to_bytes(SEED_BYTES, "big").hex(),
    lambda value: int.from_bytes(_hex(SEED_BYTES)(value), "big"),
)
_SALT: Final = Codec(lambda salt: salt.hex(), _hex(SALT_BYTES))
_COMMITMENT: Final = Codec(str, lambda value: _hex(32)(value).hex())
_RULES: Final = Codec(_write_rules, _read_rules)
_SEATS: Final = _list(_SEAT, most=len(SEATS))
_DUES: Final = _list(_record(Due, {"kind": _word(DueKind), "giver": _SEAT, "receiver": _SEAT}))
_OPENING: Final = _record(
    Opening,
    {
        "emperor": _SEAT,
        "guard": _optional(_SEAT),
        "open_solo": _FLAG,
        "called": _optional(_CARD),
        "open_guard": _FLAG,
        "rebels": _SEATS,
        "counters": _SEATS,
        "recounters": _SEATS,
    },
)
_OUTCOME: Final = _record(
    Outcome,
    {
        "termination": _word(Termination),
        "places": _optional(_list(_PLACE, 5)),
        "roles": _optional(_list(_word(Role), 5)),
        "solo": _word(Solo),
        "multiplier": _whole(1, 64, "multiplier"),
        "scores": _list(_POINTS, 5),
        "penalties": _list(_POINTS, 5),
        "auto_play": _list(_FLAG, 5),
        "next_first_drawer": _SEAT,
        "dues": _DUES,
    },
)

EVENTS: Final[Mapping[str, tuple[type[Event], Mapping[str, Codec]]]] = {
    "game_started": (
        ev.GameStarted,
        {
            "rules": _RULES,
            "first_drawer": _SEAT,
            "dues": _DUES,
            "commitment": _optional(_COMMITMENT),
            "seed": _optional(_SEED),
            "salt": _optional(_SALT),
        },
    ),
    "nonce_added": (ev.NonceAdded, {"seat": _SEAT, "nonce": _TEXT}),
    "dealt": (ev.Dealt, {"redeal": _COUNT, "hands": _list(_optional(_CARDS), 5), "deck": _optional(_CARDS)}),
    "opening_given": (ev.OpeningGiven, {"opening": _OPENING}),
    "card_given": (
        ev.CardGiven,
        {
            "giver": _SEAT,
            "receiver": _SEAT,
            "kind": _word(DueKind),
            "returned": _FLAG,
            "card": _optional(_CARD),
        },
    ),
    "throne_answered": (
        ev.ThroneAnswered,
        {
            "seat": _SEAT,
            "answer": _word(_THRONE_ANSWERS),
            "asked": _optional(_SEAT),
            "laid": _optional(_CARDS),
            "laid_count": _COUNT,
            "carried": _optional(_CARDS),
            "carried_count": _COUNT,
        },
    ),
    "enthroned": (ev.Enthroned, {"emperor": _SEAT}),
    "call_answered": (ev.CallAnswered, {"seat": _SEAT, "card": _optional(_CARD)}),
    "answered": (ev.Answered, {"seat": _SEAT, "step": _word(ev.Step), "action": _optional(_ACTION)}),
    "step_closed": (
        ev.StepClosed,
        {
            "step": _word(ev.Step),
            "declared": _list(Codec(_write_declaration, _read_declaration), most=len(SEATS)),
            "stands": _FLAG,
        },
    ),
    "guard_revealed": (ev.GuardRevealed, {"emperor": _SEAT, "guard": _SEAT}),
    "played": (ev.Played, {"seat": _SEAT, "cards": _CARDS}),
    "passed": (ev.Passed, {"seat": _SEAT}),
    "went_out": (ev.WentOut, {"seat": _SEAT, "place": _PLACE}),
    "cleared": (ev.Cleared, {"seat": _SEAT, "place": _PLACE, "by": _SEAT}),
    "trick_ended": (ev.TrickEnded, {"winner": _SEAT, "leader": _SEAT}),
    "auto_play_started": (ev.AutoPlayStarted, {"seat": _SEAT, "why": _word(ev.AutoPlayReason)}),
    "auto_play_ended": (ev.AutoPlayEnded, {"seat": _SEAT}),
    "seat_forfeited": (ev.SeatForfeited, {"seat": _SEAT, "why": _word(ev.ForfeitReason)}),
    "hand_ended": (ev.HandEnded, {"outcome": _OUTCOME, "seed": _optional(_SEED), "salt": _optional(_SALT)}),
}
"""Every event by its stored name, with its fields in the order in which they are written."""

_BY_TYPE: Final = {kind: (name, codecs) for name, (kind, codecs) in EVENTS.items()}


def hidden_field(event: Event) -> str:
    """The first field of `event` that is hidden in it, as in what a viewer is shown; "" if it is whole.

    The seed and salt of a `game_started` are told apart from a game that has none by its commitment alone.
    """
    match event:
        case ev.GameStarted(commitment=str(), seed=None):
            return "seed"
        case ev.GameStarted(commitment=str(), salt=None):
            return "salt"
        case ev.Dealt(hands=hands) if None in hands:
            return f"hands.{hands.index(None)}"
        case ev.OpeningGiven(opening=Opening(guard=None)):
            return "opening.guard"
        case ev.ThroneAnswered(laid=None):
            return "laid"
        case ev.ThroneAnswered(carried=None):
            return "carried"
        case ev.CardGiven(card=None):
            return "card"
        case ev.Answered(action=None):
            return "action"
        case _:
            return ""
