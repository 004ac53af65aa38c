"""`python -m services.engine.replayer`: replays records for an engine, in a process of its own.

One `CheckRecordRequest` after the other on standard input, each answered by a `CheckRecordResponse` on
standard output, both behind their length in four bytes. Ends with its input, and so with the engine, however
that ends.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from baohuang import Record, RecordError
from baohuang.record import replay
from baohuang.rpc.codec import CodecError, decode_event, encode_outcome
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.game.v1 import event_pb2
from baohuang.rules.errors import RuleSetError

HEAD_BYTES: Final = 4


def framed(message: bytes) -> bytes:
    """A message behind its length."""
    return len(message).to_bytes(HEAD_BYTES, "big") + message


def verdict(request: pb.CheckRecordRequest) -> pb.CheckRecordResponse:
    """Whether the record is a game that the rules allow, and if not, its first error."""
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


def main() -> None:
    """Until the end of the input."""
    while head := sys.stdin.buffer.read(HEAD_BYTES):
        request = pb.CheckRecordRequest.FromString(sys.stdin.buffer.read(int.from_bytes(head, "big")))
        sys.stdout.buffer.write(framed(verdict(request).SerializeToString()))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
