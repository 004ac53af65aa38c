"""The engine's methods: requests to orders, what they came to into answers that show one seat's part only."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio

from baohuang.rpc.codec import decode_seat, encode_action, encode_event, encode_outcome, encode_view
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.engine.v1.engine_pb2_grpc import EngineServiceServicer
from baohuang.rules.events import redact
from baohuang.rules.legal import legal_actions
from baohuang.rules.views import view
from services.engine import orders
from services.engine.check import RecordChecker
from services.engine.games import Done, Games
from services.engine.orders import Entropy, Order
from services.engine.play import Conversations

Context = grpc.aio.ServicerContext[Any, Any]


class Engine(EngineServiceServicer):
    """Implements `baohuang.rpc.engine.v1.EngineService`; errors become statuses in the kit's interceptor."""

    def __init__(
        self,
        games: Games,
        conversations: Conversations,
        checker: RecordChecker,
        *,
        entropy: Entropy = secrets.token_bytes,
    ) -> None:
        self._games = games
        self._conversations = conversations
        self._entropy = entropy
        self._checker = checker

    async def CreateGame(self, request: pb.CreateGameRequest, context: Context) -> pb.CreateGameResponse:
        order = orders.create_game(request, self._entropy)
        return pb.CreateGameResponse(applied=_applied(order, await self._games.start(order)))

    async def AddNonce(self, request: pb.AddNonceRequest, context: Context) -> pb.AddNonceResponse:
        return pb.AddNonceResponse(applied=await self._execute(orders.add_nonce(request)))

    async def Deal(self, request: pb.DealRequest, context: Context) -> pb.DealResponse:
        return pb.DealResponse(applied=await self._execute(orders.deal(request)))

    async def Act(self, request: pb.ActRequest, context: Context) -> pb.ActResponse:
        return pb.ActResponse(applied=await self._execute(orders.act(request)))

    async def StartAutoPlay(
        self, request: pb.StartAutoPlayRequest, context: Context
    ) -> pb.StartAutoPlayResponse:
        return pb.StartAutoPlayResponse(applied=await self._execute(orders.start_auto_play(request)))

    async def StopAutoPlay(
        self, request: pb.StopAutoPlayRequest, context: Context
    ) -> pb.StopAutoPlayResponse:
        return pb.StopAutoPlayResponse(applied=await self._execute(orders.stop_auto_play(request)))

    async def AutoAct(self, request: pb.AutoActRequest, context: Context) -> pb.AutoActResponse:
        return pb.AutoActResponse(applied=await self._execute(orders.auto_act(request)))

    async def Forfeit(self, request: pb.ForfeitRequest, context: Context) -> pb.ForfeitResponse:
        return pb.ForfeitResponse(applied=await self._execute(orders.forfeit(request)))

    async def GetLegalActions(
        self, request: pb.GetLegalActionsRequest, context: Context
    ) -> pb.GetLegalActionsResponse:
        seat = decode_seat(request.seat)
        state = await self._games.current(orders.checked_game_id(request.game_id))
        return pb.GetLegalActionsResponse(
            version=state.public.version,
            actions=[encode_action(action) for action in legal_actions(state, seat)],
        )

    async def GetView(self, request: pb.GetViewRequest, context: Context) -> pb.GetViewResponse:
        viewer = decode_seat(request.viewer, "viewer") if request.HasField("viewer") else None
        state = await self._games.current(orders.checked_game_id(request.game_id))
        return pb.GetViewResponse(view=encode_view(view(state, viewer)), log_version=state.version)

    async def Play(  # type: ignore[override]  # gRPC also takes a coroutine that writes to its context
        self, request_iterator: AsyncIterator[pb.PlayRequest], context: Context
    ) -> None:
        await self._conversations.play(request_iterator, context)

    async def CheckRecord(self, request: pb.CheckRecordRequest, context: Context) -> pb.CheckRecordResponse:
        return await self._checker.check(request)

    async def _execute(self, order: Order) -> pb.Applied:
        return _applied(order, await self._games.execute(order))


def _applied(order: Order, done: Done) -> pb.Applied:
    public = done.state.public
    return pb.Applied(
        version=public.version,
        events=[encode_event(redact(event, order.viewer)) for event in done.events],
        repeated_command=done.is_repeated,
        outcome=None if public.outcome is None else encode_outcome(public.outcome),
        log_version=done.state.version,
    )
