"""Foreign records: are they games that the rules allow?"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from types import TracebackType
from typing import Final, Self

from baohuang.rpc.engine.v1 import engine_pb2 as pb
from services.engine.replayer import HEAD_BYTES, framed
from services.kit.errors import PlatformError

MOST_EVENTS: Final = 2_000
MOST_WAITING: Final = 16
"""Records that may wait for their turn."""
LONGEST_SECONDS: Final = 30.0
"""Of one replay; it is a small part of a second unless something is wrong."""


class RecordChecker:
    """Has records replayed one at a time, by a process that is started for the first of them.

    In the engine's own process each would hold up the live games, in whatever thread. Used as an asynchronous
    context manager.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end_process()

    async def check(self, request: pb.CheckRecordRequest) -> pb.CheckRecordResponse:
        """The verdict on a record.

        Raises `PlatformError` for a request without one, or with a long one, or when many wait already.
        """
        if bool(request.record) is bool(request.events):
            raise PlatformError.malformed("record", "exactly one of record and events")
        length = max(len(request.events), request.record.rstrip("\n").count("\n") + 1)
        if length > MOST_EVENTS:
            raise PlatformError("REQUEST_TOO_LARGE", f"a record has at most {MOST_EVENTS:,} events")
        if self._waiting >= MOST_WAITING:
            raise PlatformError("SERVICE_UNAVAILABLE", "many records wait to be checked; try again later")
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        # A client that goes away does not end the replay, or the next record would get its verdict.
        replay = asyncio.create_task(self._replay(request.SerializeToString()))
        replay.add_done_callback(self._end_turn)
        return pb.CheckRecordResponse.FromString(await asyncio.shield(replay))

    def _end_turn(self, replay: asyncio.Task[bytes]) -> None:
        self._turn.release()
        if not replay.cancelled():
            replay.exception()  # looked at, also where nobody waits for it any more

    async def _replay(self, request: bytes) -> bytes:
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                if self._process is None or self._process.returncode is not None:
                    self._process = await asyncio.create_subprocess_exec(
                        *(sys.executable, "-m", "services.engine.replayer"),
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        start_new_session=True,  # Ctrl-C is for the engine, which ends it
                    )
                to, answers = self._process.stdin, self._process.stdout
                if to is None or answers is None:
                    raise RuntimeError("the replayer was started without pipes")
                to.write(framed(request))
                await to.drain()
                length = int.from_bytes(await answers.readexactly(HEAD_BYTES), "big")
                return await answers.readexactly(length)
        except (OSError, asyncio.IncompleteReadError) as error:  # a TimeoutError is an OSError
            await self._end_process()
            raise PlatformError("SERVICE_UNAVAILABLE", "the check was broken off; try again") from error

    async def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
