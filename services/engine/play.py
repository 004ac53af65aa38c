"""A seat of a game as a conversation over one stream (`EngineService.Play`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

import grpc.aio

from baohuang.rpc.codec import decode_seat, encode_action, encode_event, encode_outcome, encode_view
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.game.v1 import error_pb2
from baohuang.rules.events import Event, redact
from baohuang.rules.legal import legal_actions
from baohuang.rules.roles import Seat
from baohuang.rules.state import State, known
from baohuang.rules.views import view
from services.engine import metrics, orders
from services.engine.feeds import Feed, Feeds
from services.engine.games import Games
from services.kit.errors import PlatformError, to_platform_error
from services.kit.rpc import note_error

KEEP_ALIVE_SECONDS: Final = 7.0
JOIN_SECONDS: Final = 10.0
"""How long a stream may stay without its first request."""
SLOW_READER_SECONDS: Final = 10.0
"""How long a message may wait for its reader. Nothing is kept for him but what lies in the connection."""

Context = grpc.aio.ServicerContext[Any, Any]


class Paces(NamedTuple):
    """How long a stream's parts may take."""

    join_seconds: float = JOIN_SECONDS
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS
    slow_reader_seconds: float = SLOW_READER_SECONDS


class Conversations:
    """All streams of this process."""

    def __init__(self, games: Games, feeds: Feeds, paces: Paces | None = None) -> None:
        self.games = games
        self.feeds = feeds
        self.paces = paces or Paces()
        self.is_stopping = False
        self._open: set[Conversation] = set()

    async def play(self, requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        """Holds one conversation to its end; raises `PlatformError`, `StoreError` where it cannot go on."""
        try:
            async with asyncio.timeout(self.paces.join_seconds):
                first = await anext(requests, None)
        except TimeoutError as error:
            raise PlatformError("DEADLINE_EXCEEDED", "nobody joined in time") from error
        if first is None or first.WhichOneof("request") != "join":
            raise PlatformError.malformed("join", "comes first")
        conversation = Conversation(self, first.join, context)
        self._open.add(conversation)
        metrics.STREAMS.set(len(self._open))
        try:
            await conversation.hold(requests)
        finally:
            self._open.discard(conversation)
            metrics.STREAMS.set(len(self._open))

    def stop(self) -> None:
        """Ends all conversations, each after the action that it is doing, in UNAVAILABLE."""
        self.is_stopping = True
        for conversation in self._open:
            conversation.woken.set()


class Conversation:
    """One seat's."""

    def __init__(self, conversations: Conversations, join: pb.PlayRequest.Join, context: Context) -> None:
        self.woken = asyncio.Event()
        self._all = conversations
        self._game_id = orders.checked_game_id(join.game_id)
        self._seat: Seat = decode_seat(join.seat, "join.seat")
        self._after = join.after_version if join.HasField("after_version") else None
        self._context = context
        self._writing = asyncio.Lock()
        self._acting = asyncio.Lock()
        self._asked: tuple[int, int] | None = None

    async def hold(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        """Tells what happens and does what is asked until the hand is over."""
        state = await self._all.games.current(self._game_id)
        with self._all.feeds.following(self._game_id, state, self.woken) as feed:
            try:
                async with asyncio.TaskGroup() as group:
                    others = [
                        group.create_task(self._act_all(requests)),
                        group.create_task(self._keep_alive()),
                    ]
                    await self._tell_all(feed, state)
                    for task in others:
                        task.cancel()
            except BaseExceptionGroup as raised:
                # They fail for one reason: the stream's end.
                raise raised.exceptions[0] from None

    async def _tell_all(self, feed: Feed, state: State) -> None:
        await self._tell_beginning(state)
        while state.public.outcome is None:
            await self._ask(feed, state)
            await self.woken.wait()
            self.woken.clear()
            if self._all.is_stopping:
                async with self._acting:
                    raise PlatformError(
                        "SERVICE_UNAVAILABLE",
                        "the engine is stopping: open the stream again with after_version",
                    )
            before, (events, state) = state, await feed.after(state)
            await self._tell(before.version, events)
        async with self._acting:  # the answer to the last action comes before the end
            outcome = encode_outcome(known(state.public.outcome))
            await self._send(pb.PlayResponse(ended=pb.PlayResponse.Ended(outcome=outcome)))

    async def _tell_beginning(self, state: State) -> None:
        if self._after is None:
            snapshot = encode_view(view(state, self._seat))
            await self._send(
                pb.PlayResponse(snapshot=pb.PlayResponse.Snapshot(version=state.version, view=snapshot))
            )
        elif self._after > state.version:
            raise PlatformError.malformed("join.after_version", f"the game has {state.version} events")
        elif self._after < state.version:
            missed = await self._all.games.events_after(self._game_id, self._after, state.version)
            await self._tell(self._after, missed)

    async def _tell(self, version: int, events: Sequence[Event]) -> None:
        for number, event in enumerate(events, version + 1):
            message = encode_event(redact(event, self._seat))
            await self._send(
                pb.PlayResponse(happened=pb.PlayResponse.Happened(version=number, event=message))
            )

    async def _ask(self, feed: Feed, state: State) -> None:
        """Asks for the seat's action, once for each decision: other seats' answers bring up none (R5.0)."""
        public = state.public
        if self._seat not in state.to_act or public.auto_play[self._seat]:
            self._asked = None
            return
        decision = public.opened_version, len(state.hidden.answers[self._seat])
        if decision == self._asked:
            return
        async with self._acting:  # the answers to actions that were sent come before
            if feed.is_ahead_of(state):
                return  # one of them may have answered this question
            self._asked = decision
            actions = [encode_action(action) for action in legal_actions(state, self._seat)]
            asked = pb.PlayResponse.Asked(version=public.version, actions=actions)
            await self._send(pb.PlayResponse(asked=asked))

    async def _act_all(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        # One after the other: who sends faster than he reads the answers waits.
        async for request in requests:
            if request.WhichOneof("request") != "act":
                raise PlatformError.malformed("act", "is all that may follow")
            async with self._acting:
                await self._send(await self._act(request.act))

    async def _act(self, asked: pb.PlayRequest.Act) -> pb.PlayResponse:
        # The same command as one sent as `Act`: after a broken stream either may be used.
        request = pb.ActRequest(
            game_id=self._game_id, seat=self._seat, command_id=asked.command_id, action=asked.action
        )
        if not asked.HasField("action"):
            request.ClearField("action")
        if asked.HasField("expected_version"):
            request.expected_version = asked.expected_version
        try:
            done = await self._all.games.execute(orders.act(request))
        except Exception as raised:  # noqa: BLE001 (the edge: each becomes an error on the wire)
            error = to_platform_error(raised)
            note_error(error, raised)
            return pb.PlayResponse(
                refused=pb.PlayResponse.Refused(
                    command_id=asked.command_id,
                    reason=error_pb2.ErrorReason.Value(f"ERROR_REASON_{error.reason}"),
                    message=error.message,
                    clause=error.clause,
                    details=error.details,
                    retryable=error.is_retryable,
                )
            )
        return pb.PlayResponse(
            done=pb.PlayResponse.Done(
                command_id=asked.command_id,
                version=done.state.public.version,
                repeated_command=done.is_repeated,
            )
        )

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(self._all.paces.keep_alive_seconds)
            await self._send(pb.PlayResponse(keep_alive=pb.PlayResponse.KeepAlive()))

    async def _send(self, message: pb.PlayResponse) -> None:
        async with self._writing:
            try:
                async with asyncio.timeout(self._all.paces.slow_reader_seconds):
                    await self._context.write(message)
            except TimeoutError as error:
                raise PlatformError(
                    "SERVICE_UNAVAILABLE", "reads too slowly: open the stream again with after_version"
                ) from error
