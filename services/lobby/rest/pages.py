"""The interface as a page for people, made from its OpenAPI document; and the document itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import jinja2
import msgspec
from litestar import MediaType, Response, get
from litestar.enums import OpenAPIMediaType
from litestar.handlers import HTTPRouteHandler
from markupsafe import Markup, escape

from services.lobby.rest.document import DOCUMENT_PATH, Json

_TEMPLATES: Final = Path(__file__).parent / "templates"
_METHODS: Final = ("get", "post", "put", "delete")


def make_pages(document: Json) -> list[HTTPRouteHandler]:
    """The handlers of the page, its style and the document, all of which stay the same."""
    page = _render(document)
    style = (_TEMPLATES / "api.css").read_text("utf-8")
    content = msgspec.json.encode(document)

    @get("/", include_in_schema=False, sync_to_thread=False)
    def show_page() -> Response[str]:
        return Response(page, media_type=MediaType.HTML)

    @get("/api.css", include_in_schema=False, sync_to_thread=False)
    def show_style() -> Response[str]:
        return Response(style, media_type=MediaType.CSS, headers={"Cache-Control": "max-age=3600"})

    @get(DOCUMENT_PATH, include_in_schema=False, sync_to_thread=False)
    def show_document() -> Response[bytes]:
        return Response(content, media_type=OpenAPIMediaType.OPENAPI_JSON)

    return [show_page, show_style, show_document]


def _render(document: Json) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.ChainableUndefined
    )
    environment.filters |= {"code": _code, "kind": _kind, "json": _json}
    return environment.get_template("api.html").render(
        document=document,
        document_path=DOCUMENT_PATH,
        schemas=document["components"]["schemas"],
        tags=_by_tag(document),
    )


def _by_tag(document: Json) -> dict[str, list[Json]]:
    tags: dict[str, list[Json]] = {}
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                operation = operations[method]
                shown = operation | {"method": method.upper(), "path": path, "access": _access(operation)}
                tags.setdefault(operation["tags"][0], []).append(shown)
    return dict(sorted(tags.items()))


def _access(operation: Json) -> str:
    security = operation.get("security", [])
    if security == [{}]:
        return "Needs no token."
    return "Needs no token, but may show more to its owner." if {} in security else "Needs a token."


def _code(text: str) -> Markup:
    """Text with what stands in backticks as code."""
    parts = re.split(r"`([^`]*)`", text)
    return Markup("").join(
        [
            Markup("<code>{}</code>").format(part) if odd % 2 else escape(part)
            for odd, part in enumerate(parts)
        ]
    )


def _kind(schema: Json) -> Markup:
    """A type in short, with links to the schemas that it names."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    if "anyOf" in schema or "oneOf" in schema:
        return Markup(" or ").join([_kind(each) for each in schema.get("anyOf") or schema["oneOf"]])
    if schema.get("type") == "array":
        return Markup("list of {}").format(_kind(schema.get("items") or {}))
    if "enum" in schema:
        return Markup(", ").join([Markup("<code>{}</code>").format(each) for each in schema["enum"]])
    return escape(schema.get("type", "any"))


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
