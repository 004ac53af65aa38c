"""The OpenAPI document: operations as the handlers declare them, schemas as the decoder reads them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from litestar import Litestar
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components
from litestar.types import ControllerRouterHandler

from services.kit.rest import PROBLEM, FieldViolation, Problem
from services.kit.web import REQUEST_ID
from services.lobby.messages import common, games, matches, players, tables
from services.lobby.rest.access import DEPENDENCIES, SCHEME, SECURITY_SCHEME
from services.lobby.rest.examples import ANSWERS, PROBLEMS, REQUESTS

DOCUMENT_PATH: Final = "/openapi/lobby.json"
_REFERENCE: Final = "#/components/schemas/{name}"
_JSON: Final = "application/json"
_DESCRIPTION: Final = """Tables at which Baohuang (保皇) is played: players, seats, games, live streams.

Times are milliseconds since 1970 (`…_ms`), seats 0 to 4. Every refusal is `application/problem+json` with a
stable `reason`. Within version 1 fields and operations are only added: ignore what you do not know."""

Json = dict[str, Any]


def make_document(handlers: Sequence[ControllerRouterHandler]) -> Json:
    """The OpenAPI 3.1 document of these handlers, with examples."""
    # An application that never serves: the framework's own addresses for documents would come with it.
    app = Litestar(
        route_handlers=list(handlers),
        dependencies=DEPENDENCIES,
        logging_config=None,  # the process has its own
        openapi_config=OpenAPIConfig(
            title="Baohuang lobby",
            version="1",
            description=_DESCRIPTION,
            path="/openapi",
            components=Components(security_schemes={SCHEME: SECURITY_SCHEME}),
            use_handler_docstrings=True,
            operation_id_creator=lambda handler, _method, _path: handler.handler_name.rpartition(".")[2],
        ),
    )
    document = app.openapi_schema.to_schema()
    document["paths"] = dict(sorted(document["paths"].items()))
    document["components"]["schemas"] = _schemas()
    for operations in document["paths"].values():
        for operation in operations.values():
            _complete(operation)
    return document


def _schemas() -> Json:
    """The schema of every message: the framework's own generator loses what lies within unions."""
    kinds: set[type[msgspec.Struct]] = {Problem, FieldViolation}
    for module in (common, players, tables, matches, games):
        for value in vars(module).values():
            if inspect.isclass(value) and issubclass(value, msgspec.Struct):
                kinds.add(value)
    kinds -= {msgspec.Struct, common.Body}
    _, schemas = msgspec.json.schema_components(sorted(kinds, key=repr), ref_template=_REFERENCE)
    return dict(sorted(schemas.items()))


def _complete(operation: Json) -> None:
    """Add what the handlers do not declare: examples, headers, one type for each parameter."""
    name = operation["operationId"]
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = _without_null(parameter["schema"])
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON)
    if body is not None:
        body["example"] = REQUESTS[name]
    for status, answer in operation["responses"].items():
        answer["headers"] = _headers(status)
        for kind, content in answer.get("content", {}).items():
            if kind == _JSON:
                content["example"] = ANSWERS[name]
            elif kind == PROBLEM and status in PROBLEMS:
                content["example"] = PROBLEMS[status]
        if status.startswith("2") and "content" not in answer:
            answer["description"] = "Done"


def _without_null(schema: Json) -> Json:
    """A parameter that is absent has no value: it is not null."""
    kinds: list[Json] = [kind for kind in schema.get("oneOf", ()) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    return kinds[0] | {key: value for key, value in schema.items() if key != "oneOf"}


def _headers(status: str) -> Json:
    headers = {REQUEST_ID: _header("The id of the request: the client's own, if it gave one.")}
    if status == "201":
        headers["Location"] = _header("Where what was made is found.")
    if status in ("429", "503"):
        headers["Retry-After"] = _header("The seconds to wait.")
    if status == "401":
        headers["WWW-Authenticate"] = _header("`Bearer`")
    return headers


def _header(description: str) -> Json:
    return {"description": description, "schema": {"type": "string"}}
