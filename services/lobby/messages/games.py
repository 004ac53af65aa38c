"""Games as a viewer sees them.

Cards are texts: `7c`, `TD` is `Td`, `SJ GJ BJ EJ` the jokers; several are separated by spaces, in deck order.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from services.lobby.messages.common import Body, Due, OptionValue, Outcome

Step = Literal[
    "nonces", "tribute", "throne", "call", "claim", "declare", "counter", "recounter", "play", "over"
]
Cards = Annotated[str, msgspec.Meta(examples=["7c 7d BJ"])]
Action = Annotated[
    str,
    msgspec.Meta(
        max_length=1_000,
        description="`keep take yield decline solo guard rebel counter no pass`, `call 9c`, `give 2c`, "
        "`play 7c 7d BJ` (R12).",
        examples=["play 7c 7d BJ"],
    ),
]
Event = Annotated[
    dict[str, Any],
    msgspec.Meta(
        description="`event` names it; the fields are those of docs/record-format.md, null where they are "
        "hidden from the viewer.",
        examples=[{"event": "played", "seat": 3, "cards": "7c 7d"}],
    ),
]


class RuleSet(msgspec.Struct, frozen=True):
    """A preset and what differs from it."""

    preset: str
    options: dict[str, OptionValue]


class Move(msgspec.Struct, frozen=True):
    """A play, or a pass where `cards` is empty."""

    seat: int
    cards: Cards


class ClearedDebt(msgspec.Struct, frozen=True):
    """`giver` was cleared and owes `receiver` his highest card in the next hand (R10.4)."""

    giver: int
    receiver: int


class PublicState(msgspec.Struct, frozen=True, kw_only=True):
    """What everybody may know. Lists of five are by seat; what is null is not known yet, or hidden."""

    rules: RuleSet
    first_drawer: int
    dues: list[Due]
    commitment: str | None
    version: Annotated[
        int, msgspec.Meta(description="Events up to the last one that everybody saw; for `expected_version`.")
    ]
    opened_version: Annotated[
        int, msgspec.Meta(description="When the awaited decision came up; `expected_version` at least.")
    ]
    step: Step
    to_act: list[int]
    answered: list[int]
    nonces: list[str | None]
    deck: Cards
    redeal: int
    given_deal: bool
    counts: list[int | None]
    first_holder: int | None
    holder: int | None
    yields: int
    carried_count: int
    emperor: int | None
    called: str | None
    guard: int | None
    open_solo: bool
    open_guard: bool
    rebels: list[int]
    rebellion: bool
    counters: list[int]
    counter: bool
    recounters: list[int]
    recounter: bool
    table: Move | None
    passes: int
    trick: list[Move]
    tricks: list[list[Move]]
    places: list[int | None]
    cleared: list[ClearedDebt]
    auto_play: list[bool]
    auto_play_starts: list[int]
    forfeited: list[bool]
    outcome: Outcome | None


class SeatState(msgspec.Struct, frozen=True, kw_only=True):
    """What a seat knows beyond the public."""

    seat: int
    hand: Cards
    to_act: bool
    guard: int | None
    carried: Cards
    laid: Cards
    answers: list[Action]
    gifts: list[Event]


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a viewer may know. `own` is null for a spectator; `hands` are those left once the hand is over."""

    viewer: int | None
    public: PublicState
    own: SeatState | None
    hands: list[Cards] | None


class GameView(msgspec.Struct, frozen=True, kw_only=True):
    """A game as the caller sees it. `deadline_ms` is when his time is over, null if nothing is awaited."""

    game_id: str
    view: View
    deadline_ms: int | None


class LegalActions(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller may do now; empty when nothing is awaited from him.

    Equal plays are listed once; other cards that form the same play may be played too (R11.4).
    """

    game_id: str
    version: Annotated[int, msgspec.Meta(description="For `expected_version`.")]
    actions: list[Action]
    deadline_ms: int | None


class NewAction(Body, frozen=True, kw_only=True):
    """An action of the caller's seat."""

    action: Action
    expected_version: Annotated[
        Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] | None,
        msgspec.Meta(description="`version` of a view; null: whatever the version."),
    ] = None


class AutoPlay(Body, frozen=True, kw_only=True):
    """Whether the server plays for the caller's seat (R9)."""

    auto_play: bool


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: the version of what everybody saw, the events as the caller sees them.

    `outcome` is set when the hand is over.
    """

    game_id: str
    version: int
    events: list[Event]
    outcome: Outcome | None


class MyGame(msgspec.Struct, frozen=True, kw_only=True):
    """A live game of the caller's."""

    game_id: str
    table_id: str
    seat: int
    version: int
    to_act: bool


class MyGames(msgspec.Struct, frozen=True, kw_only=True):
    """All live games of the caller's; `cursor` is where a stream of them goes on."""

    games: list[MyGame]
    cursor: str
