"""Whole pages from templates, with what every page needs."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from services.kit.rest import Problem
from services.replay.assets import asset_url
from services.replay.drawing import NAMES, TEMPLATES
from services.replay.look import AnyRequest, Look, Theme, look_of

_ERRORS: Final[dict[int, tuple[str, str]]] = {
    HTTPStatus.NOT_FOUND: ("Not found", "没有找到"),
    HTTPStatus.SERVICE_UNAVAILABLE: ("Not available now", "暂时无法使用"),
    HTTPStatus.INTERNAL_SERVER_ERROR: ("Something went wrong here", "出错了"),
}


def render(template: str, look: Look, path: str, /, **values: object) -> str:
    """A page. Its links to itself in the other language or light go to `path` with all that `look` says."""
    other = look.but(language=look.language.other)
    return TEMPLATES.get_template(template).render(
        lang=look.language,
        look=look,
        path=path,
        names=NAMES[look.language],
        asset_url=asset_url,
        page=look.page,
        other_language_url=f"{path}?{other.query()}",
        theme_urls=[
            (theme, f"{path}?{look.but(theme=theme).query()}") for theme in (None, Theme.LIGHT, Theme.DARK)
        ],
        **values,
    )


def render_error(request: AnyRequest, problem: Problem) -> str:
    """The page for an error, from the body that the REST interface would answer with."""
    look = look_of(request)
    return render(
        "error.html",
        look,
        request.url.path,
        title=look.language.say(
            *_ERRORS.get(problem.status, ("This request cannot be answered", "无法回答这个请求"))
        ),
        detail=problem.detail,
        status=problem.status,
        reason=problem.reason,
    )
