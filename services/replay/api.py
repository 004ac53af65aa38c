"""The REST interface, version 1."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

import msgspec
from litestar import Controller, Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from services.kit.paging import PLACE, Place
from services.kit.rest import refusals
from services.replay.games import MOST_GAMES, Games, GameSummary, known_rules
from services.replay.library import Library

JSON_LINES = "application/jsonl; charset=utf-8"
VIEW_HEADER = "Baohuang-View"

Status = Literal["running", "finished"]


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """A game. What is null is not known while it runs.

    Lists of five are by seat; `places` and `roles` are null unless the hand was played. `events` counts the
    lines of its record.
    """

    game_id: str
    rules: str
    options: dict[str, bool | int | str]
    status: Status
    started_ms: int
    finished_ms: int | None
    events: int | None
    termination: Literal["played", "refused", "void"] | None
    solo: Literal["none", "hidden", "open"] | None
    multiplier: int | None
    places: list[int] | None
    roles: list[Literal["emperor", "guard", "rebel"]] | None
    scores: list[int] | None
    penalties: list[int] | None


class GamePage(msgspec.Struct, frozen=True):
    """The newest games first; `next` is what to ask for as `after` to see older ones, null at the end."""

    games: list[Game]
    next: str | None


class GameTotals(msgspec.Struct, frozen=True):
    """How many games there are."""

    running: int
    finished: int


class GamesApi(Controller):
    """Games that are played or were played."""

    path = "/v1"
    tags = ("games",)

    @get("/games", summary="List games, the newest first", responses=refusals(HTTPStatus.BAD_REQUEST))
    async def list_games(
        self,
        games: NamedDependency[Games],
        rules: Annotated[str | None, QueryParameter(description="Only games of this preset.")] = None,
        status: Annotated[Status | None, QueryParameter(description="Only these.")] = None,
        limit: Annotated[int, QueryParameter(ge=1, le=MOST_GAMES, description="How many at most.")] = 20,
        after: Annotated[
            str | None,
            QueryParameter(pattern=PLACE, max_length=80, description="`next` of the page before."),
        ] = None,
    ) -> GamePage:
        """A page of the index, which follows the log by some milliseconds."""
        page = await games.page(
            rules=known_rules(rules),
            is_running=None if status is None else status == "running",
            after=None if after is None else Place.parse(after),
            limit=limit,
        )
        return GamePage([_game(each) for each in page.games], page.next and page.next.format())

    @get("/totals", summary="Count the games", responses=refusals())
    async def count_games(self, games: NamedDependency[Games]) -> GameTotals:
        """How many are being played, and how many are over."""
        return GameTotals(*await games.totals())

    @get("/games/{game_id:str}", summary="Show a game", responses=refusals(HTTPStatus.NOT_FOUND))
    async def get_game(self, game_id: FromPath[str], library: NamedDependency[Library]) -> Game:
        """What the index says of it, read from the log."""
        return _game((await library.find(game_id)).summary)

    @get(
        "/games/{game_id:str}/record",
        summary="Get a game's record",
        responses=refusals(HTTPStatus.NOT_FOUND),
    )
    async def get_record(self, game_id: FromPath[str], library: NamedDependency[Library]) -> Response[bytes]:
        """The record as JSON Lines.

        That of a finished game is whole and can be checked. Of a running game it holds what a spectator may
        see so far: the header `Baohuang-View` is then `spectator` and not `whole`, and the file's name says
        `running`.
        """
        shelved = await library.find(game_id)
        is_running = shelved.game.is_running
        name = f"{game_id}{'-running' if is_running else ''}.jsonl"
        return Response(
            shelved.record().dumps().encode(),
            media_type=JSON_LINES,
            headers={
                VIEW_HEADER: "spectator" if is_running else "whole",
                "Content-Disposition": f'attachment; filename="{name}"',
                "Cache-Control": "no-store" if is_running else "no-cache",
            },
        )


def _game(summary: GameSummary) -> Game:
    fields = {field: getattr(summary, field) for field in GameSummary.__dataclass_fields__}
    return msgspec.convert(fields | {"status": "running" if summary.is_running else "finished"}, Game)
