"""The OpenAPI document: whole, and its examples are what its schemas say."""

import msgspec
import pytest

from services.lobby.messages import games, matches, players, tables
from services.lobby.rest.app import API
from services.lobby.rest.document import make_document
from services.lobby.rest.examples import ANSWERS, PROBLEMS, REQUESTS

DOCUMENT = make_document(API)
OPERATIONS = {
    operation["operationId"]: operation
    for operations in DOCUMENT["paths"].values()
    for operation in operations.values()
}
MESSAGES = {
    name: value
    for module in (players, tables, matches, games)
    for name, value in vars(module).items()
    if isinstance(value, type) and issubclass(value, msgspec.Struct)
}


def message_of(content):
    return MESSAGES[content["schema"]["$ref"].rpartition("/")[2]]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_described(name):
    operation = OPERATIONS[name]
    assert operation["summary"]
    assert operation["description"]
    assert operation["security"]
    for status, answer in operation["responses"].items():
        assert "X-Request-Id" in answer["headers"]
        assert answer["description"]
        assert status.startswith("2") or status in PROBLEMS


@pytest.mark.parametrize("name", REQUESTS)
def test_examples_of_requests_can_be_sent(name):
    content = OPERATIONS[name]["requestBody"]["content"]["application/json"]
    assert content["example"] == REQUESTS[name]
    msgspec.convert(REQUESTS[name], message_of(content), strict=True)


@pytest.mark.parametrize("name", ANSWERS)
def test_examples_of_answers_are_whole(name):
    responses = OPERATIONS[name]["responses"]
    content = responses.get("200", responses.get("201"))["content"]["application/json"]
    message = msgspec.convert(ANSWERS[name], message_of(content), strict=True)
    assert msgspec.to_builtins(message) == ANSWERS[name]


def test_every_reference_leads_somewhere():
    text = msgspec.json.encode(DOCUMENT).decode()
    for part in text.split('"#/components/schemas/')[1:]:
        assert part.partition('"')[0] in DOCUMENT["components"]["schemas"]
