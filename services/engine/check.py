"""Foreign records: are they games that the rules allow?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from baohuang import Record, RecordError
from baohuang.record import replay
from baohuang.rpc.codec import CodecError, decode_event, encode_outcome
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.game.v1 import event_pb2
from baohuang.rules.errors import RuleSetError
from services.kit.errors import PlatformError

MOST_EVENTS: Final = 2_000


class RecordChecker:
    """Replays records beside the event loop, one at a time: live games have the right of way."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(1)

    async def check(self, request: pb.CheckRecordRequest) -> pb.CheckRecordResponse:
        """The verdict on a record; raises `PlatformError` for a request without one, or with a long one."""
        if bool(request.record) is bool(request.events):
            raise PlatformError.malformed("record", "exactly one of record and events")
        length = max(len(request.events), request.record.rstrip("\n").count("\n") + 1)
        if length > MOST_EVENTS:
            raise PlatformError("REQUEST_TOO_LARGE", f"a record has at most {MOST_EVENTS:,} events")
        async with self._turn:
            return await asyncio.to_thread(_verdict, request)


def _verdict(request: pb.CheckRecordRequest) -> pb.CheckRecordResponse:
    try:
        record = Record.loads(request.record) if request.record else _decoded(request.events)
        events, state = replay(record)
    except RecordError as error:
        return pb.CheckRecordResponse(
            valid=False, line=error.line, message=error.message, clause=error.clause
        )
    outcome = state.public.outcome
    return pb.CheckRecordResponse(
        valid=True, events=len(events), outcome=None if outcome is None else encode_outcome(outcome)
    )


def _decoded(messages: Sequence[event_pb2.Event]) -> Record:
    events = []
    for number, message in enumerate(messages, 1):
        try:
            events.append(decode_event(message))
        except (CodecError, RuleSetError) as error:
            raise RecordError(error.message, line=number, clause=error.clause) from error
    return Record(tuple(events))
