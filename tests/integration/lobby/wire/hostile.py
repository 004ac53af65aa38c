"""Messages that no honest client sends: random values in random fields, and bytes that are no message."""

import random
from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import Message

TEXTS = (
    "",
    " ",
    "\0",
    "a\0b",
    "保皇",
    "\N{RIGHT-TO-LEFT OVERRIDE}play",
    "é" * 64,
    "x" * 20_000,
    "../../etc/passwd",
    "' or 1=1 --",
    "{}[]%s%n",
    "-1",
    "\ud7ff\ue000\U0010ffff",
    "jiaodong",
    "lianzhong-simple",
    "greedy",
    "true",
)
_INTEGERS = {
    Field.CPPTYPE_INT32: (0, 1, -1, 2**31 - 1, -(2**31)),
    Field.CPPTYPE_UINT32: (0, 1, 4, 5, 2**31 - 1, 2**31, 2**32 - 1),
    Field.CPPTYPE_INT64: (0, 1, -1, 2**63 - 1, -(2**63)),
    Field.CPPTYPE_UINT64: (0, 1, 2**64 - 1),
    Field.CPPTYPE_ENUM: (0, 1, 2, 3, 12, 13, 99, 2**31 - 1, -1),
}


def fill(message: Message, chance: random.Random, known: Mapping[str, str], depth: int = 0) -> None:
    """Put random values into random fields; `known` are texts by field that mean something to the server."""
    for field in message.DESCRIPTOR.fields:
        if chance.random() < 0.3:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            getattr(message, field.name)[_text("", chance, known)[:200]] = _text("", chance, known)
        elif field.is_repeated:
            for _ in range(chance.choice((0, 1, 2, 5, 300 if depth == 0 else 3))):
                _add(getattr(message, field.name), field, chance, known, depth)
        elif field.cpp_type == Field.CPPTYPE_MESSAGE:
            if depth < 3:
                getattr(message, field.name).SetInParent()
                fill(getattr(message, field.name), chance, known, depth + 1)
        else:
            setattr(message, field.name, _value(field, chance, known))


def _add(values: Any, field: Field, chance: random.Random, known: Mapping[str, str], depth: int) -> None:
    if field.cpp_type == Field.CPPTYPE_MESSAGE:
        fill(values.add(), chance, known, depth + 1)
    else:
        values.append(_value(field, chance, known))


def _value(field: Field, chance: random.Random, known: Mapping[str, str]) -> Any:
    if field.cpp_type == Field.CPPTYPE_BOOL:
        return chance.random() < 0.5
    if field.cpp_type == Field.CPPTYPE_STRING:
        return _text(field.name, chance, known) if field.type == Field.TYPE_STRING else chance.randbytes(40)
    if field.cpp_type in (Field.CPPTYPE_DOUBLE, Field.CPPTYPE_FLOAT):
        return chance.choice((0.0, -1.5, float("inf"), float("nan"), 1e308))
    return chance.choice(_INTEGERS[field.cpp_type])


def _text(field: str, chance: random.Random, known: Mapping[str, str]) -> str:
    if field in known and chance.random() < 0.7:
        return known[field]
    return chance.choice((*TEXTS, *known.values()))


def noise(valid: bytes, chance: random.Random) -> bytes:
    """Bytes: a message cut off, with a byte changed, followed by more, or none at all."""
    match chance.randrange(4):
        case 0:
            return chance.randbytes(chance.choice((1, 7, 100, 5_000)))
        case 1:
            return valid[: chance.randrange(len(valid) + 1)]
        case 2 if valid:
            place = chance.randrange(len(valid))
            return valid[:place] + chance.randbytes(1) + valid[place + 1 :]
        case _:
            # A text that is no UTF-8, in the first field.
            return b"\x0a\x03\xff\xfe\xfd" + valid
