"""A case as data, read so that nothing in it is overlooked, and the comparison of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from baohuang.rules.cards import Card, format_cards
from baohuang.rules.ruleset import RuleSet
from baohuang.testing.cases.words import UninterpretableError, read_cards
from baohuang.testing.scenarios import cards_for

Answers = dict[str, Any]
"""What the library says to each question that a situation can be asked, by key of `expect`."""


class Facts:
    """A mapping whose every key must be read: what a case says must not be ignored."""

    INFORMATION = frozenset({"note", "source", "basis", "clause"})

    def __init__(self, values: Mapping[str, Any], what: str) -> None:
        self._values = values
        self._what = what
        self._unread = set(values) - self.INFORMATION

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def names(self) -> list[str]:
        return sorted(self._values)

    def get(self, *keys: str, default: Any = None) -> Any:
        """The value of the first of `keys` that is there, else `default`."""
        for key in keys:
            if key in self._values:
                self._unread.discard(key)
                return self._values[key]
        return default

    def cards(self, *keys: str) -> list[str] | None:
        """A list of cards as words, None where it is missing or null."""
        value = self.get(*keys)
        return None if value is None else read_cards(value)

    def require_all_read(self) -> None:
        if self._unread:
            raise UninterpretableError(
                f"{self._what} has keys that this category does not know: {sorted(self._unread)}"
            )


@dataclass
class Case:
    """One case under one rule set. `action` is its text, or "" with `act` holding the mapping."""

    rules: RuleSet
    given: frozenset[str]
    """Options that the case sets."""
    situation: Facts
    action: str
    act: Facts = field(default_factory=lambda: Facts({}, "action"))

    def no_action(self) -> UninterpretableError:
        return UninterpretableError(f"cannot read the action {self.action!r}")


@dataclass(frozen=True)
class OneOf:
    """An answer that may be put in several words."""

    words: tuple[Any, ...]


@dataclass(frozen=True)
class Cards:
    """Cards as an answer; a bare rank in `expect` means any suit."""

    cards: tuple[Card, ...]


Category = Callable[[Case], Answers]

NOTHING = OneOf((None, "nothing", "none", "nobody", "no", "-", []))


def fits(expected: Any, got: Any) -> bool:
    """Whether an expected value is what the library answered."""
    if isinstance(got, OneOf):
        return any(fits(expected, word) for word in got.words)
    if isinstance(got, Cards):
        if not got.cards:
            return fits(expected, NOTHING)
        if not isinstance(expected, str | Sequence):
            return False
        words = read_cards(expected)
        return len(words) == len(got.cards) and cards_for(got.cards, words) is not None
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, str) and isinstance(got, str):
        return " ".join(expected.split()).casefold() == " ".join(got.split()).casefold()
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return all(key in got and fits(value, got[key]) for key, value in expected.items())
    if isinstance(expected, Sequence) and isinstance(got, Sequence) and not isinstance(expected, str):
        return len(expected) == len(got) and all(fits(*pair) for pair in zip(expected, got, strict=True))
    return bool(expected == got)


def show(got: Any) -> str:
    """An answer as text."""
    if isinstance(got, OneOf):
        return repr(got.words[0])
    if isinstance(got, Cards):
        return repr(format_cards(got.cards))
    if isinstance(got, Mapping):
        return "{" + ", ".join(f"{key}: {show(value)}" for key, value in got.items()) + "}"
    return repr(got)


def synonyms(*words: Any) -> OneOf:
    """One answer in several words."""
    return OneOf(words)


def unknown(asked: Iterable[str], answers: Answers) -> list[str]:
    """The questions of a case that its category does not answer."""
    return sorted(set(asked) - set(answers) - Facts.INFORMATION)
