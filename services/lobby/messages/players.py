"""Players and their tokens."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from services.lobby.messages.common import Body

Scope = Literal["play", "bot", "operator"]


class Player(msgspec.Struct, frozen=True):
    """A player."""

    player_id: str
    name: str
    is_bot: bool
    created_at_ms: int


class Token(msgspec.Struct, frozen=True):
    """A token without its secret. `expires_at_ms` is null if it never does."""

    token_id: str
    label: str
    scopes: list[Scope]
    created_at_ms: int
    expires_at_ms: int | None


class NewPlayer(Body, frozen=True, kw_only=True):
    """Who wants to play."""

    name: Annotated[
        str,
        msgspec.Meta(max_length=200, description="1 to 32 characters of any script.", examples=["保皇高手"]),
    ]
    is_bot: Annotated[bool, msgspec.Meta(description="Whether a program plays under this name.")] = False


class Registered(msgspec.Struct, frozen=True):
    """A new player with his first token. `secret` is told this once: only a digest of it is kept."""

    player: Player
    token: Token
    secret: Annotated[str, msgspec.Meta(examples=["bh_0f3c…"])]


class NewToken(Body, frozen=True, kw_only=True):
    """Another token for the same player."""

    label: Annotated[str, msgspec.Meta(max_length=64, examples=["my laptop"])] = ""
    scopes: Annotated[
        list[Scope] | None,
        msgspec.Meta(description="Some of those of the token that asks; null: all of them."),
    ] = None
    expires_in_seconds: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=10 * 366 * 86_400)] | None,
        msgspec.Meta(description="null: never"),
    ] = None


class TokenWithSecret(msgspec.Struct, frozen=True):
    """A new token. `secret` is told this once."""

    token: Token
    secret: str


class TokenList(msgspec.Struct, frozen=True):
    """A player's tokens, the oldest first."""

    tokens: list[Token]
