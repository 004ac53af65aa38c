"""Words of all requests and answers."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Final, Literal

import msgspec

from baohuang import PRESETS, RuleSet
from baohuang.bots import BOT_NAMES

OptionValue = bool | int | str
OPTION_NAMES: Final = tuple([field.name for field in fields(RuleSet) if field.name != "name"])

# Whether there is such a bot or preset is checked where the refusal can list those that there are.
BotName = Annotated[
    str,
    msgspec.Meta(max_length=40, examples=["greedy"], extra_json_schema={"enum": list(BOT_NAMES)}),
]
PresetName = Annotated[
    str,
    msgspec.Meta(
        max_length=40,
        description="One of those that `GET /v1/rules` lists.",
        examples=["lianzhong-simple"],
        extra_json_schema={"enum": list(PRESETS)},
    ),
]
Seat = Annotated[int, msgspec.Meta(ge=0, le=4)]
Hands = Annotated[int, msgspec.Meta(ge=1, le=100, description="How many hands are played.")]


class Body(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Base of what clients send."""


class Rules(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A preset and the options that differ from it."""

    preset: PresetName
    options: Annotated[
        dict[str, OptionValue],
        msgspec.Meta(
            max_length=40,
            examples=[{"kaopai": True}],
            extra_json_schema={"propertyNames": {"enum": list(OPTION_NAMES)}},
        ),
    ] = {}


class Due(msgspec.Struct, frozen=True):
    """One card that `giver` owes `receiver` right after the deal."""

    kind: Literal["debt", "tribute"]
    giver: int
    receiver: int


class Outcome(msgspec.Struct, frozen=True):
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
    dues: list[Due]
