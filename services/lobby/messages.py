"""What goes over the wire: requests and answers of the REST interface."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

MAX_HANDS = 100

TableStatus = Literal["starting", "playing", "finished", "dissolved", "failed"]
HandStatus = Literal["opening", "playing", "ended", "failed"]
OptionValue = bool | int | str

# Whether there is such a bot or preset is checked where the refusal can list those that there are.
BotName = Annotated[str, msgspec.Meta(max_length=40)]
PresetName = Annotated[
    str,
    msgspec.Meta(
        max_length=40, description="One of those that `GET /v1/rules` lists.", examples=["lianzhong-simple"]
    ),
]


class Rules(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A preset and the options that differ from it."""

    preset: PresetName
    options: Annotated[dict[str, OptionValue], msgspec.Meta(max_length=40, examples=[{"kaopai": True}])] = {}


class NewTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A table with five built-in bots, the one at index s in seat s."""

    rules: Rules
    bots: Annotated[
        list[BotName],
        msgspec.Meta(
            min_length=5, max_length=5, examples=[["greedy", "greedy", "random", "random", "random"]]
        ),
    ]
    hands: Annotated[int, msgspec.Meta(ge=1, le=MAX_HANDS, description="How many hands it plays.")] = 1


class DueMessage(msgspec.Struct, frozen=True):
    """One card that `giver` owes `receiver` right after the deal."""

    kind: Literal["debt", "tribute"]
    giver: int
    receiver: int


class OutcomeMessage(msgspec.Struct, frozen=True):
    """What a hand ended with.

    Lists of five are by seat; `places` and `roles` are null unless it was played.
    """

    termination: Literal["played", "refused", "void"]
    places: list[int] | None
    roles: list[Literal["emperor", "guard", "rebel"]] | None
    solo: Literal["none", "hidden", "open"]
    multiplier: int
    scores: list[int]
    penalties: list[int]
    auto_play: list[bool]
    next_first_drawer: int
    dues: list[DueMessage]


class Hand(msgspec.Struct, frozen=True):
    """One hand of a table, whose game the engine knows as `game_id`. `outcome` is null until it has ended."""

    number: int
    game_id: str
    status: HandStatus
    first_drawer: int
    dues: list[DueMessage]
    outcome: OutcomeMessage | None
    created_at_ms: int
    ended_at_ms: int | None


class Seat(msgspec.Struct, frozen=True):
    """Who sits in a seat."""

    seat: int
    bot: str | None


class Totals(msgspec.Struct, frozen=True):
    """Sums over a table's hands by seat: `scores` of the `counted` ones, `penalties` of all (R9.4)."""

    hands: int
    counted: int
    scores: list[int]
    penalties: list[int]


class NextHand(msgspec.Struct, frozen=True):
    """What the hands so far hand on to the next (R2.2, R10.6)."""

    first_drawer: int
    dues: list[DueMessage]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table. `failure` says why a failed one could not go on."""

    table_id: str
    status: TableStatus
    created_at_ms: int
    rules: Rules
    seats: list[Seat]
    hands_to_play: int
    hands: list[Hand]
    totals: Totals
    next_hand: NextHand
    dissolved: bool
    failure: str | None


class TableSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A table in a list, with the game of its latest hand."""

    table_id: str
    status: TableStatus
    created_at_ms: int
    rules: Rules
    hands_to_play: int
    hands_played: int
    latest_game_id: str


class TablePage(msgspec.Struct, frozen=True):
    """The newest tables first.

    `next` is what to ask for as `after` to see older ones, null on the last page.
    """

    tables: list[TableSummary]
    next: str | None


class Option(msgspec.Struct, frozen=True):
    """An option of a rule set. `choices` are its texts, null where any whole number can be tried."""

    name: str
    choices: list[str] | None


class Preset(msgspec.Struct, frozen=True):
    """A preset with the value of every option."""

    name: str
    values: dict[str, OptionValue | None]


class RulesCatalogue(msgspec.Struct, frozen=True):
    """What a table can be opened with."""

    presets: list[Preset]
    options: list[Option]
    bots: list[str]
