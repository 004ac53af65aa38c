"""The error of a message that holds no value of the game."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from baohuang.rules.errors import BaohuangError, Reason


class CodecError(BaohuangError, ValueError):
    """A message that holds no value of the game, or bytes that are no message.

    `field` is the path of the first fault, such as `events[3].played.cards[1]`; "" is the message itself.
    """

    def __init__(self, reason: Reason, problem: str, *, field: str = "") -> None:
        super().__init__(reason, f"{field}: {problem}" if field else problem, field=field)
        self.problem = problem
        self.field = field

    def within(self, field: str) -> CodecError:
        """This error as seen from a message that holds the faulty one in its `field`."""
        separator = "" if not self.field or self.field.startswith("[") else "."
        return CodecError(self.reason, self.problem, field=f"{field}{separator}{self.field}")


@contextmanager
def inside(field: str) -> Iterator[None]:
    """Errors of the message in `field` name their place as seen from the message that holds it."""
    try:
        yield
    except CodecError as error:
        raise error.within(field) from error
