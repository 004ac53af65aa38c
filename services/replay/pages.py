"""The pages: the list of games, and a game step by step. They need no scripts."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from litestar import Controller, MediaType, Request, Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, QueryParameter

from baohuang import PRESETS
from baohuang.phrases import how_it_ended
from baohuang.rules.outcome import Termination
from baohuang.rules.roles import Role, Solo
from baohuang.rules.state import PublicState
from baohuang.words import (
    Language,
    name_of,
    place_name,
    preset_name,
    seat_name,
)
from services.kit.errors import PlatformError
from services.kit.paging import Place
from services.kit.rest import Problem
from services.replay.drawing import FOLDER, TEMPLATES, draw_card, draw_cards, draw_phrase, draw_suit
from services.replay.faces import groups_of
from services.replay.games import Games, GameSummary, known_rules
from services.replay.library import Library, Shelved
from services.replay.moments import first_shown_step, moment_of

_GAMES_A_PAGE: Final = 25
_MOST_RUNNING: Final = 25

_ASSETS: Final = {
    "style.css": ((FOLDER / "static/style.css").read_bytes(), "text/css; charset=utf-8"),
    "icon.svg": ((FOLDER / "static/icon.svg").read_bytes(), "image/svg+xml"),
}
_ASSETS_VERSION: Final = hashlib.sha256(b"".join([body for body, _ in _ASSETS.values()])).hexdigest()[:12]

LanguageParameter = Annotated[
    Language | None, QueryParameter(description="`zh` or `en`; without it the browser's.")
]
AnyRequest = Request[Any, Any, Any]


class Pages(Controller):
    """What a browser is shown."""

    include_in_schema = False

    @get("/", media_type=MediaType.HTML)
    async def home(
        self,
        request: AnyRequest,
        games: NamedDependency[Games],
        lang: LanguageParameter = None,
        rules: FromQuery[str | None] = None,
        after: FromQuery[str | None] = None,
    ) -> str:
        """The games that are played now, and finished ones, the newest first."""
        language = lang or _language_of(request)
        preset = known_rules(rules)
        place = None if after is None else Place.parse(after)
        finished = await games.page(rules=preset, is_running=False, after=place, limit=_GAMES_A_PAGE)
        running = (
            [] if place else (await games.page(rules=preset, is_running=True, limit=_MOST_RUNNING)).games
        )

        def url(language: Language, preset: str | None, place: Place | None = None) -> str:
            return _url("/", lang=language, rules=preset, after=place and place.format())

        return _render(
            "home.html",
            language,
            url(language.other, preset, place),
            rules=preset,
            presets=tuple(PRESETS),
            running=running,
            finished=finished,
            is_further=place is not None,
            home_url=partial(url, language),
            older_url=finished.next and url(language, preset, finished.next),
            replay_url=lambda game_id: _url(f"/replay/{game_id}", lang=language),
            result=lambda game: _result(game, language),
            role_name=lambda role: name_of(Role(role), language),
        )

    @get("/replay/{game_id:str}", media_type=MediaType.HTML)
    async def replay(
        self,
        request: AnyRequest,
        game_id: FromPath[str],
        library: NamedDependency[Library],
        lang: LanguageParameter = None,
        step: FromQuery[int | None] = None,
    ) -> str:
        """A game at one step, 1 after its first event. Of a running game what a spectator may see."""
        shelved = await library.find(game_id)
        game = shelved.game
        shown = first_shown_step(game) if step is None else step
        if not 1 <= shown <= game.version:
            raise PlatformError(
                "NOT_FOUND", f"the game has the steps 1 to {game.version}, and no step {shown}"
            )
        return render_replay(shelved, shown, lang or _language_of(request), is_step_given=step is not None)

    @get("/assets/{name:str}")
    async def asset(self, name: FromPath[str]) -> Response[bytes]:
        """The style sheet and the icon; their address changes with their content."""
        if name not in _ASSETS:
            raise PlatformError("NOT_FOUND", f"there is no {name[:40]!r}")
        body, media_type = _ASSETS[name]
        return Response(
            body, media_type=media_type, headers={"Cache-Control": "public, max-age=31536000, immutable"}
        )


def render_error(request: AnyRequest, problem: Problem) -> str:
    """The page for an error, from the body that the REST interface would answer with."""
    language = _language_of(request)
    titles: dict[int, tuple[str, str]] = {
        HTTPStatus.NOT_FOUND: ("Not found", "没有找到"),
        HTTPStatus.SERVICE_UNAVAILABLE: ("Not available now", "暂时无法使用"),
        HTTPStatus.INTERNAL_SERVER_ERROR: ("Something went wrong here", "出错了"),
    }
    return _render(
        "error.html",
        language,
        _url(request.url.path, lang=language.other),
        title=language.say(
            *titles.get(problem.status, ("This request cannot be answered", "无法回答这个请求"))
        ),
        detail=problem.detail,
        status=problem.status,
        reason=problem.reason,
    )


def render_replay(shelved: Shelved, step: int, language: Language, *, is_step_given: bool) -> str:
    """The page of a game at a step that it shows; without `is_step_given` its links to itself name none."""
    summary, game = shelved
    moment = moment_of(game, step, language)

    def url(language: Language, step: int | None) -> str:
        return _url(f"/replay/{summary.game_id}", lang=language, step=step)

    return _render(
        "replay.html",
        language,
        url(language.other, step if is_step_given else None),
        title=preset_name(summary.rules, language),
        summary=summary,
        is_running=game.is_running,
        version=game.version,
        moment=moment,
        stage=name_of(moment.public.step, language),
        stands=_stands(moment.public, language),
        how_it_ended=moment.public.outcome and how_it_ended(moment.public.outcome, language),
        step_url=(url(language, None) + "&step={}").format,
        newest_url=url(language, None),
        card=partial(draw_card, language=language),
        cards=partial(draw_cards, language=language),
        suit=partial(draw_suit, language=language),
        phrase=partial(draw_phrase, language=language),
        groups=partial(groups_of, language=language),
        name_of=lambda value: name_of(value, language),
    )


def _stands(public: PublicState, language: Language) -> list[str]:
    """What has been declared and stands."""
    return [
        language.say(*words)
        for stands, words in (
            (public.open_solo, ("open solo", "明独")),
            (public.open_guard, ("open guard", "明保")),
            (public.rebellion, ("rebellion", "造反")),
            (public.counter, ("counter", "扭")),
            (public.recounter, ("recounter", "踢")),
        )
        if stands
    ]


def _result(game: GameSummary, language: Language) -> str:
    """How a finished game ended, in words."""
    ended = Termination(game.termination or Termination.PLAYED)
    words = [
        name_of(ended, language) if ended is not Termination.PLAYED else "",
        name_of(Solo(game.solo or Solo.NONE), language),
        f"×{game.multiplier}" if game.multiplier != 1 else "",
    ]
    return language.say(", ", "，").join([word for word in words if word])


def _render(template: str, language: Language, other_language_url: str, **values: object) -> str:
    return TEMPLATES.get_template(template).render(
        assets_version=_ASSETS_VERSION,
        lang=language,
        other_language_url=other_language_url,
        seat_name=lambda seat: seat_name(seat, language),
        place_name=lambda place: place_name(place, language),
        preset_name=lambda preset: preset_name(preset, language),
        signed=lambda number: f"{number:+d}".replace("-", "−") if number else "0",
        started=lambda at_ms: datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **values,
    )


def _preferred_language(accept_language: str) -> Language:
    """The first of our languages that a browser's `Accept-Language` names, else English.

    Browsers list what their users like best first, so weights are not looked at.
    """
    for part in accept_language.split(","):
        name = part.split(";")[0].strip().lower()
        for language in Language:
            if name == language or name.startswith(f"{language}-"):
                return language
    return Language.ENGLISH


def _language_of(request: AnyRequest) -> Language:
    """What an address asks for, else what the browser does."""
    wanted = request.query_params.get("lang")
    if wanted in tuple(Language):
        return Language(wanted)
    return _preferred_language(request.headers.get("accept-language", ""))


def _url(path: str, **query: object) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}"
