"""The small languages in cases: seats, sets of cards, events, kinds of solo, declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from baohuang.rules.actions import ActionKind
from baohuang.rules.cards import RANK_NAMES, parse_card
from baohuang.rules.errors import CardError
from baohuang.rules.roles import Seat, Solo

LETTERS: Final = "ABCDE"
"""Seats 0 … 4."""


class UninterpretableError(Exception):
    """A case says something that this runner does not understand; it then counts as failed."""


def read_seat(letter: object) -> Seat:
    """The seat of a letter A … E (or a number 0 … 4)."""
    if isinstance(letter, int) and not isinstance(letter, bool) and 0 <= letter < 5:
        return letter
    word = re.sub(r"^(player|seat)\s+", "", str(letter).strip(), flags=re.IGNORECASE)
    if len(word) != 1 or word.upper() not in LETTERS:
        raise UninterpretableError(f"{letter!r} is no seat: A to E")
    return LETTERS.index(word.upper())


def letter_of(seat: Seat | None) -> str | None:
    """The letter of a seat, None for none."""
    return None if seat is None else LETTERS[seat]


_CARD: Final = re.compile(r"(BJ|SJ|EJ|GJ|大王|小王|(?:10|[2-9TJQKA])[cdhs]?)", re.IGNORECASE)
_NAMES: Final = {"大王": "BJ", "小王": "SJ"}


def read_cards(value: str | Sequence[str]) -> list[str]:
    """Words of cards: a list of them, or a text such as `99`, `1010`, `9c 9c` or `BJ+88`."""
    if not isinstance(value, str):
        return [word for item in value for word in read_cards(str(item))]
    text = re.sub(r"[\s,+]", "", value)
    words = _CARD.findall(text)
    if not words or "".join(words) != text:
        raise UninterpretableError(f"{value!r} is no set of cards")
    return [_read_card(word) for word in words]


def _read_card(word: str) -> str:
    word = _NAMES.get(word, word)
    if word[:2].upper() in ("BJ", "SJ", "EJ", "GJ"):
        return word.upper()
    rank, suit = (word[:-1], word[-1].lower()) if word[-1] in "cdhsCDHS" else (word, "")
    rank = "T" if rank == "10" else rank.upper()
    if rank not in RANK_NAMES:
        raise UninterpretableError(f"{word!r} is no card")
    if suit:
        try:
            parse_card(rank + suit)
        except CardError as error:
            raise UninterpretableError(str(error)) from None
    return rank + suit


@dataclass(frozen=True)
class PlayEvent:
    """`A 99 (A is out)`: `cards` is empty for a pass."""

    seat: Seat
    cards: tuple[str, ...]
    goes_out: bool


_EVENT: Final = re.compile(r"([A-E])\s+(?:plays?\s+|leads?\s+)?([^()]+?)\s*(?:\(([^()]*)\))?", re.IGNORECASE)
_REMARKS: Final = re.compile(
    r"(([A-E] )?(is |goes )?out|applies|applies for the wind|leads|grants?|)", re.IGNORECASE
)


def read_event(text: str) -> PlayEvent:
    """An event of play such as `B pass (applies)`."""
    match = _EVENT.fullmatch(text.strip())
    if match is None or not _REMARKS.fullmatch((match[3] or "").strip()):
        raise UninterpretableError(f"cannot read the event {text!r}")
    seat, what, remark = read_seat(match[1]), match[2].strip(), (match[3] or "").lower()
    out = "out" in remark
    if out and (named := re.match(r"([a-e]) ", remark)) and read_seat(named[1]) != seat:
        raise UninterpretableError(f"{text!r}: another player goes out")
    if re.fullmatch(r"pass(es)?|过", what, re.IGNORECASE):
        return PlayEvent(seat, (), out)
    if match_out := re.fullmatch(r"(.*\S)\s*,?\s+(?:and )?(?:is |goes )?out", what, re.IGNORECASE):
        what, out = match_out[1], True
    return PlayEvent(seat, tuple(read_cards(what)), out)


@dataclass(frozen=True)
class Hand:
    """A kind of hand: `暗独被反又被踢` is a hidden solo, rebelled against and countered."""

    solo: Solo
    rebelled: bool = False
    countered: bool = False


_KIND: Final = re.compile(
    r"(?P<solo>暗独|明独|抢独|hidden solo|open solo|grab solo|hidden|open)"
    r"(?P<rebelled>[,\s]*(?:又|and )?(?:被反|被造反|rebelled against|rebelled))?"
    r"(?P<countered>[,\s]*(?:又|and )?(?:被踢|被扭|countered))?",
    re.IGNORECASE,
)


def read_kind(text: str | None) -> Hand:
    """The kind of a hand; none is a hand with a guard."""
    if text is None or re.fullmatch(r"(pair|normal|none|no solo|普通)", text, re.IGNORECASE):
        return Hand(Solo.NONE)
    match = _KIND.fullmatch(text.strip())
    if match is None:
        raise UninterpretableError(f"{text!r} is no kind of hand")
    hidden = match["solo"].lower() in ("暗独", "hidden solo", "hidden")
    return Hand(Solo.HIDDEN if hidden else Solo.OPEN, bool(match["rebelled"]), bool(match["countered"]))


KIND_NAMES: Final = {
    Solo.HIDDEN: ("暗独", "hidden solo", "hidden"),
    Solo.OPEN: ("明独", "open solo", "open"),
    Solo.NONE: (None, "pair", "normal", "none"),
}


@dataclass(frozen=True)
class Declaration:
    """One item of a list such as `明保 and two 反`; `number` and `actor` are None where it does not say."""

    kind: ActionKind
    word: str
    number: int | None
    actor: str | None


_NUMBERS: Final = {
    "a": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
}
_NUMBER: Final = "|".join([*(_NUMBERS), r"\d"])
_WORDS: Final = {
    "明保": ActionKind.GUARD,
    "open guard": ActionKind.GUARD,
    "造反": ActionKind.REBEL,
    "反皇": ActionKind.REBEL,
    "反": ActionKind.REBEL,
    "rebellion": ActionKind.REBEL,
    "rebel": ActionKind.REBEL,
    "明独": ActionKind.SOLO,
    "抢独": ActionKind.SOLO,
    "open solo": ActionKind.SOLO,
    "扭": ActionKind.COUNTER,
    "踢": ActionKind.COUNTER,
    "recounter": ActionKind.COUNTER,
    "counter": ActionKind.COUNTER,
}
RECOUNTER_WORDS: Final = frozenset({"踢", "recounter"})
"""The answer to a counter; in a solo hand the sources call the counter itself 踢 (R5.11)."""
_ACTORS: Final = r"emperor|guard|rebels?|royals?|both|all|[A-E]"
_DECLARATION: Final = re.compile(
    rf"(?:(?:the )?(?P<before>{_NUMBER})\s*)?(?:(?:the |a )?(?P<actor>{_ACTORS})\s+)?(?:(?:declares?|by)\s+)?"
    rf"(?P<word>{'|'.join(_WORDS)})(?:\s*(?:by|x|×)?\s*(?P<after>{_NUMBER}|{_ACTORS})(?:\s+rebels?)?)?",
    re.IGNORECASE,
)


def read_declarations(text: str | None) -> list[Declaration]:
    """A list of declarations in order: `明保, 扭, 踢`, `造反 by two`, `明保 and two 反`, `emperor 踢`."""
    if text is None or text.strip().lower() in ("", "nothing", "none", "null"):
        return []
    items = re.split(r"\s*(?:[,，、;+]|\band\b|\bthen\b|又)\s*", text.strip())
    return [_read_declaration(item, text) for item in items if item]


def _read_declaration(item: str, text: str) -> Declaration:
    match = _DECLARATION.fullmatch(item.removeprefix("被").strip())
    if match is None:
        raise UninterpretableError(f"cannot read the declaration {item!r} of {text!r}")
    number: int | None = None
    actor = match["actor"]
    for word in (match["before"], match["after"]):
        if word is None:
            continue
        if word.lower() in _NUMBERS or word.isdigit():
            number = _NUMBERS.get(word.lower()) or int(word)
        else:
            actor = word
    word = match["word"].lower()
    return Declaration(_WORDS[word], word, number, actor)


def matches(text: str, *patterns: str) -> re.Match[str] | None:
    """The first match of the whole `text` (case and a closing question mark aside) with one of `patterns`."""
    plain = re.sub(r"\s*\([^()]*\)", "", text).strip().rstrip("?？").strip()
    for pattern in patterns:
        if found := re.fullmatch(pattern, plain, re.IGNORECASE):
            return found
    return None


def letters_of(seats: Iterable[Seat]) -> list[str]:
    """The letters of seats, in their order."""
    return [LETTERS[seat] for seat in seats]
