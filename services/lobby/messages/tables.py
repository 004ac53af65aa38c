"""Tables, their seats and hands."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from services.lobby.messages.common import Body, BotName, Due, Hands, OptionValue, Outcome, Rules, Seat
from services.lobby.messages.players import Player

TableStatus = Literal["gathering", "starting", "playing", "finished", "dissolved", "failed"]
HandStatus = Literal["opening", "playing", "ended", "failed", "cancelled"]

Seconds = Annotated[int, msgspec.Meta(ge=3, le=600)]


class Pace(Body, frozen=True, kw_only=True):
    """How long things may take: a decision of play, a step before the first card, the pause between hands."""

    turn_seconds: Seconds = 30
    opening_seconds: Seconds = 30
    pause_seconds: Annotated[
        int, msgspec.Meta(ge=0, le=120, description="The next hand begins earlier if all are ready.")
    ] = 15


class NewTable(Body, frozen=True, kw_only=True):
    """A table. With five bots it begins at once."""

    rules: Rules
    hands: Hands = 1
    bots: Annotated[
        tuple[BotName | None, ...],
        msgspec.Meta(
            min_length=5,
            max_length=5,
            description="The built-in bot in each seat, null for a free one.",
            examples=[[None, "greedy", "greedy", None, "random"]],
        ),
    ] = (None,) * 5
    sit: Annotated[bool, msgspec.Meta(description="Whether the caller takes a seat, if one is free.")] = True
    seat: Annotated[Seat | None, msgspec.Meta(description="Which; null: the first free one.")] = None
    is_private: Annotated[bool, msgspec.Meta(description="Whether it is joined by its code only.")] = False
    bots_allowed: Annotated[
        bool, msgspec.Meta(description="Whether players that are programs may sit down.")
    ] = True
    pace: Pace = msgspec.field(default_factory=Pace)
    spectator_delay: Annotated[
        int, msgspec.Meta(ge=0, le=20, description="How many plays and passes spectators are behind.")
    ] = 0


class Join(Body, frozen=True, kw_only=True):
    """A wish to sit down: at a public table by its id, at a private one by its code."""

    table_id: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    code: Annotated[str, msgspec.Meta(max_length=16)] | None = None
    seat: Annotated[Seat | None, msgspec.Meta(description="Which; null: the first free one.")] = None


class Leave(Body, frozen=True, kw_only=True):
    """A wish to leave."""

    by_force: Annotated[
        bool,
        msgspec.Meta(
            description="In the middle of a hand: with the penalty of R8.5, and the table goes on with a bot."
        ),
    ] = False


class SeatBot(Body, frozen=True, kw_only=True):
    """A built-in bot for a seat."""

    bot: BotName


class Ready(Body, frozen=True, kw_only=True):
    """Whether the caller is ready for the next hand."""

    ready: bool


class Start(Body, frozen=True, kw_only=True):
    """A wish to begin now."""

    bot: Annotated[BotName, msgspec.Meta(description="For the seats that are free.")] = "greedy"


class Hand(msgspec.Struct, frozen=True):
    """One hand of a table, whose game is `game_id`. `outcome` is null until it has ended."""

    number: int
    game_id: str
    status: HandStatus
    first_drawer: int
    dues: list[Due]
    outcome: Outcome | None
    created_at_ms: int
    ended_at_ms: int | None


class TableSeat(msgspec.Struct, frozen=True, kw_only=True):
    """A seat with a player, a built-in bot, or nobody. A player is `away` after a minute of silence."""

    seat: int
    player: Player | None
    bot: str | None
    ready: bool
    away: bool


class Totals(msgspec.Struct, frozen=True):
    """Sums over a table's hands by seat: `scores` of the `counted` ones, `penalties` of all (R9.4)."""

    hands: int
    counted: int
    scores: list[int]
    penalties: list[int]


class NextHand(msgspec.Struct, frozen=True):
    """What the hands so far hand on to the next (R2.2, R10.6)."""

    first_drawer: int
    dues: list[Due]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table.

    `code` is told to those who sit at a private one, or host it; `reason` says why a table failed or was
    dissolved.
    """

    table_id: str
    status: TableStatus
    created_at_ms: int
    rules: Rules
    host: Player | None
    is_private: bool
    code: str | None
    bots_allowed: bool
    pace: Pace
    spectator_delay: int
    seats: list[TableSeat]
    hands_to_play: int
    hands: list[Hand]
    totals: Totals
    next_hand: NextHand
    reason: str | None


class TableSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A table in a list, with the game of its latest hand (null before the first)."""

    table_id: str
    status: TableStatus
    created_at_ms: int
    rules: Rules
    hands_to_play: int
    hands_played: int
    free_seats: int
    bots_allowed: bool
    latest_game_id: str | None


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
