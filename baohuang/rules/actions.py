"""What a player may do, and its text (R12)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from baohuang.rules.cards import Card, Hand, format_cards, parse_cards
from baohuang.rules.errors import CardError, Reason


class ActionKind(StrEnum):
    """The words of actions, as they stand in texts (R12)."""

    KEEP = "keep"
    TAKE = "take"
    YIELD = "yield"
    DECLINE = "decline"
    CALL = "call"
    SOLO = "solo"
    GUARD = "guard"
    REBEL = "rebel"
    COUNTER = "counter"
    NO = "no"
    GIVE = "give"
    PLAY = "play"
    PASS = "pass"


class Action(NamedTuple):
    """One action; `cards` holds one card for `call` and `give`, one or more in deck order for `play`.

    `str(action)` is its text, such as `play 7c 7d BJ`; `Action.parse` reads it back.
    """

    kind: ActionKind
    cards: Hand = ()

    @classmethod
    def parse(cls, text: str) -> Action:
        """The action of a text of R12; raises `CardError`."""
        if not isinstance(text, str):
            raise CardError(Reason.MALFORMED_ACTION, f"{str(text)[:40]!r} is no text", clause="R12")
        word, _, rest = text.strip().partition(" ")
        kind = _KINDS.get(word)
        if kind is None:
            known = ", ".join(_KINDS)
            raise CardError(
                Reason.MALFORMED_ACTION,
                f"{text[:40]!r} is no action; it starts with {known}",
                clause="R12",
                text=text[:40],
            )
        return cls.of(kind, parse_cards(rest))

    @classmethod
    def of(cls, kind: ActionKind, cards: tuple[Card, ...] = ()) -> Action:
        """An action with its cards brought into deck order.

        Raises `CardError` for what is no kind, no card, or a wrong number of cards.
        """
        well_formed = type(kind) is ActionKind and isinstance(cards, tuple)
        if not well_formed or not _ONLY_CARDS.issuperset(map(type, cards)):
            raise CardError(
                Reason.MALFORMED_ACTION,
                "an action is an ActionKind and a tuple of Cards, or a text",
                clause="R12",
            )
        least, most = _CARD_NUMBERS.get(kind, (0, 0))
        if not least <= len(cards) <= most:
            wants = "no card" if most == 0 else "one card" if most == 1 else "one or more cards"
            raise CardError(
                Reason.MALFORMED_ACTION,
                f"{kind} takes {wants}, not {len(cards)}",
                clause="R12",
                kind=str(kind),
            )
        return cls(kind, tuple(cards if len(cards) == 1 else sorted(cards)))

    @classmethod
    def play(cls, cards: str | tuple[Card, ...]) -> Action:
        """A play of cards given as text or in any order."""
        return cls.of(ActionKind.PLAY, parse_cards(cards) if isinstance(cards, str) else cards)

    def __str__(self) -> str:
        return f"{self.kind} {format_cards(self.cards)}" if self.cards else str(self.kind)

    def __repr__(self) -> str:
        return f"Action.parse({str(self)!r})"


_KINDS: Final = {kind.value: kind for kind in ActionKind}
_ONLY_CARDS: Final = frozenset({Card})
_MOST_CARDS: Final = 216
_CARD_NUMBERS: Final = {
    ActionKind.CALL: (1, 1),
    ActionKind.GIVE: (1, 1),
    ActionKind.PLAY: (1, _MOST_CARDS),
}

KEEP: Final = Action(ActionKind.KEEP)
TAKE: Final = Action(ActionKind.TAKE)
YIELD: Final = Action(ActionKind.YIELD)
DECLINE: Final = Action(ActionKind.DECLINE)
SOLO: Final = Action(ActionKind.SOLO)
GUARD: Final = Action(ActionKind.GUARD)
REBEL: Final = Action(ActionKind.REBEL)
COUNTER: Final = Action(ActionKind.COUNTER)
NO: Final = Action(ActionKind.NO)
PASS: Final = Action(ActionKind.PASS)
