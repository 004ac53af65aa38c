"""The pages around the games: what is played, what was played, who played it, and help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from litestar import Controller, MediaType, Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from baohuang import PRESETS
from baohuang.rules.outcome import Termination
from baohuang.rules.roles import Solo
from baohuang.words import Language, name_of
from services.kit.errors import PlatformError
from services.kit.paging import Place
from services.replay.assets import ASSETS, VERSION
from services.replay.games import Games, GameSummary, known_rules
from services.replay.look import Look
from services.replay.rendering import render
from services.replay.sittings import Sittings

_GAMES_A_PAGE: Final = 25
_RUNNING_ON_HOME: Final = 12
_MOST_NAME: Final = 32


class Pages(Controller):
    """What a browser is shown beside the games themselves."""

    include_in_schema = False

    @get("/", media_type=MediaType.HTML)
    async def home(
        self,
        look: NamedDependency[Look],
        games: NamedDependency[Games],
        sittings: NamedDependency[Sittings],
    ) -> str:
        """The games that are played now, and the newest finished ones."""
        running = await games.page(is_running=True, limit=_RUNNING_ON_HOME)
        finished = await games.page(is_running=False, limit=_GAMES_A_PAGE)
        return render(
            "home.html",
            look,
            "/",
            running=running.games,
            are_more_running=running.next is not None,
            finished=finished.games,
            are_more_finished=finished.next is not None,
            **await _about(running.games + finished.games, sittings, look.language),
        )

    @get("/live", media_type=MediaType.HTML)
    async def live(
        self,
        look: NamedDependency[Look],
        games: NamedDependency[Games],
        sittings: NamedDependency[Sittings],
        rules: FromQuery[str | None] = None,
        after: FromQuery[str | None] = None,
    ) -> str:
        """The games that are played now."""
        return await _list_page("/live", look, games, sittings, is_running=True, rules=rules, after=after)

    @get("/games", media_type=MediaType.HTML)
    async def finished(
        self,
        look: NamedDependency[Look],
        games: NamedDependency[Games],
        sittings: NamedDependency[Sittings],
        rules: FromQuery[str | None] = None,
        after: FromQuery[str | None] = None,
    ) -> str:
        """The games that are over."""
        return await _list_page("/games", look, games, sittings, is_running=False, rules=rules, after=after)

    @get("/player/{name:str}", media_type=MediaType.HTML)
    async def player(
        self,
        name: FromPath[str],
        look: NamedDependency[Look],
        games: NamedDependency[Games],
        sittings: NamedDependency[Sittings],
        after: FromQuery[str | None] = None,
    ) -> str:
        """The games of a player or bot."""
        found = await games.page(player=name[:_MOST_NAME], after=_place(after), limit=_GAMES_A_PAGE)
        if not found.games and after is None:
            raise PlatformError("NOT_FOUND", f"there is no game of a player {name[:_MOST_NAME]!r}")
        path = f"/player/{name}"
        return render(
            "player.html",
            look,
            path,
            name=name,
            games=found.games,
            next=found.next and found.next.format(),
            is_further=after is not None,
            **await _about(found.games, sittings, look.language),
        )

    @get("/help", media_type=MediaType.HTML)
    async def help(self, look: NamedDependency[Look]) -> str:
        """How to read the table, and the keys."""
        return render("help.html", look, "/help")

    @get(f"/assets/{VERSION}/{{name:str}}")
    async def asset(self, name: FromPath[str]) -> Response[bytes]:
        """Styles, scripts, the icon; their address changes with their content."""
        if name not in ASSETS:
            raise PlatformError("NOT_FOUND", f"there is no {name[:40]!r}")
        body, media_type = ASSETS[name]
        return Response(
            body, media_type=media_type, headers={"Cache-Control": "public, max-age=31536000, immutable"}
        )


async def _list_page(
    path: str,
    look: Look,
    games: Games,
    sittings: Sittings,
    *,
    is_running: bool,
    rules: str | None,
    after: str | None,
) -> str:
    preset = known_rules(rules)
    found = await games.page(rules=preset, is_running=is_running, after=_place(after), limit=_GAMES_A_PAGE)
    return render(
        "games.html",
        look,
        path,
        is_running=is_running,
        rules=preset,
        presets=tuple(PRESETS),
        games=found.games,
        next=found.next and found.next.format(),
        is_further=after is not None,
        **await _about(found.games, sittings, look.language),
    )


def _place(after: str | None) -> Place | None:
    return None if after is None else Place.parse(after)


async def _about(games: Sequence[GameSummary], sittings: Sittings, language: Language) -> dict[str, object]:
    """What the lists in templates ask about games."""
    players = await sittings.names([game.game_id for game in games])
    return {
        "players": lambda game: players.get(game.game_id),
        "result": lambda game: _result(game, language),
    }


def _result(game: GameSummary, language: Language) -> str:
    """How a finished game ended, in words."""
    ended = Termination(game.termination or Termination.PLAYED)
    words = [
        name_of(ended, language) if ended is not Termination.PLAYED else "",
        name_of(Solo(game.solo or Solo.NONE), language),
        f"×{game.multiplier}" if game.multiplier != 1 else "",
    ]
    return language.say(", ", "，").join([word for word in words if word])
