"""What an address asks to see: a step, from where, in which language, how fast, how lit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from litestar import Request
from litestar.params import FromQuery

from baohuang.rules.roles import SEATS
from baohuang.words import Language
from services.replay.known import REVEALED, SPECTATOR, KnownGame, Viewpoint

AnyRequest = Request[Any, Any, Any]


class View(StrEnum):
    """Who looks: a spectator, or a seat."""

    PUBLIC = "public"
    SEAT_0 = "seat0"
    SEAT_1 = "seat1"
    SEAT_2 = "seat2"
    SEAT_3 = "seat3"
    SEAT_4 = "seat4"

    @property
    def seat(self) -> int | None:
        return None if self is View.PUBLIC else int(self[-1])


SEAT_VIEWS: Final = tuple([View(f"seat{seat}") for seat in SEATS])


class Theme(StrEnum):
    """How a page is lit; without one as the reader's system is."""

    LIGHT = "light"
    DARK = "dark"


class Reveal(StrEnum):
    """Whether secrets are shown."""

    NO = "0"
    YES = "1"


class Speed(StrEnum):
    """How fast a game is played back; 1 is a step a second."""

    HALF = "0.5"
    ONE = "1"
    TWO = "2"
    FOUR = "4"
    EIGHT = "8"


@dataclass(frozen=True)
class Look:
    """Everything that an address says beside its path; None for what it leaves open."""

    language: Language
    theme: Theme | None = None
    step: int | None = None
    view: View = View.PUBLIC
    reveal: Reveal | None = None
    speed: Speed = Speed.ONE

    @property
    def is_revealed(self) -> bool:
        """Whether secrets are wanted: without a word on it, unless one seat's view is."""
        if self.reveal is None:
            return self.view is View.PUBLIC
        return self.reveal is Reveal.YES

    def viewpoint(self, game: KnownGame) -> Viewpoint:
        """Where the game is looked at from; a running one shows nothing but what spectators see."""
        if game.is_running:
            return SPECTATOR
        return REVEALED if self.is_revealed else Viewpoint(self.view.seat)

    def but(self, **changes: Any) -> Look:
        """This look with some things changed."""
        return replace(self, **changes)

    def seen_by(self, view: View) -> Look:
        """This look from another side, without secrets where one seat looks."""
        return self.but(view=view, reveal=None if view is View.PUBLIC else Reveal.NO)

    def query(self, *, with_step: bool = True) -> str:
        """As in an address: only what differs from what is taken without a word, the step last."""
        given: dict[str, object] = {"lang": self.language}
        if self.theme is not None:
            given["theme"] = self.theme
        if self.view is not View.PUBLIC:
            given["view"] = self.view
        if self.reveal is not None:
            given["reveal"] = self.reveal
        if self.speed is not Speed.ONE:
            given["speed"] = self.speed
        if with_step and self.step is not None:
            given["step"] = self.step
        return urlencode(given)

    def page(self, path: str, **query: object) -> str:
        """The address of another page in the same language and light."""
        given = {"lang": self.language, "theme": self.theme, **query}
        return f"{path}?{urlencode({name: value for name, value in given.items() if value is not None})}"


async def provide_look(
    request: AnyRequest,
    lang: FromQuery[Language | None] = None,
    theme: FromQuery[Theme | None] = None,
    step: FromQuery[int | None] = None,
    view: FromQuery[View] = View.PUBLIC,
    reveal: FromQuery[Reveal | None] = None,
    speed: FromQuery[Speed] = Speed.ONE,
) -> Look:
    """What a request asks to see; without a language in the browser's."""
    return Look(lang or language_of(request), theme, step, view, reveal, speed)


def look_of(request: AnyRequest) -> Look:
    """What an address asks for in language and light, whatever else is wrong with it."""
    theme = request.query_params.get("theme")
    return Look(language_of(request), Theme(theme) if theme in tuple(Theme) else None)


def language_of(request: AnyRequest) -> Language:
    """What an address asks for, else what the browser does."""
    wanted = request.query_params.get("lang")
    if wanted in tuple(Language):
        return Language(wanted)
    return _preferred_language(request.headers.get("accept-language", ""))


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
