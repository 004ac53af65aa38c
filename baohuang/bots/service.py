"""`BotService` for any bot: what `baohuang bots serve` runs. The client's side is a host (hosts.service).

Needs `pip install "baohuang[rpc]"`.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from baohuang.bots.bot import BotError
from baohuang.bots.hosts.host import (
    MOST_GAMES,
    Answer,
    Decision,
    EndedGame,
    FaultKind,
    Host,
    NewGame,
    Started,
    Times,
)
from baohuang.bots.hosts.process import ProcessHost
from baohuang.rpc.bots.v1 import bots_pb2 as pb
from baohuang.rpc.codec import (
    CodecError,
    decode_action,
    decode_outcome,
    decode_rules,
    decode_seat,
    decode_view,
    encode_action,
    inside,
)
from baohuang.rules.errors import BaohuangError, Reason
from baohuang.rules.ruleset import RuleSet

MOST_KNOWN_GAMES: Final = 10_000
"""How many games the service keeps that nobody has ended."""
MOST_REQUEST_BYTES: Final = 16 * 1024 * 1024
"""256 decisions late in a hand are about two megabytes."""
_LONGEST_SECONDS: Final = 600.0

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Request = TypeVar("Request", bound=Message)


class _Shard:
    """One process of the bot and the games in it, used by one call at a time."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.games: OrderedDict[str, NewGame] = OrderedDict()
        self.lock = asyncio.Lock()


class BotServer:
    """Plays a bot in some processes of its own, each game in one of them."""

    def __init__(self, spec: str, *, processes: int = 1, shows_output: bool = True) -> None:
        hosts = [ProcessHost(spec, shows_output=shows_output) for _ in range(processes)]
        self._shards = [_Shard(host) for host in hosts]
        self._times = Times()

    async def warm_up(self) -> None:
        """Start the bot in all processes. Raises `BotError` if it cannot be."""
        game = NewGame("warm-up", 0, RuleSet.preset("jiaodong"), 0)
        for shard in self._shards:
            started = await asyncio.to_thread(shard.host.start, [game], self._times)
            await asyncio.to_thread(shard.host.end, [EndedGame(game.game_id, None)])
            for fault in started.faults.values():
                raise BotError(Reason.UNKNOWN_OPTION, f"the bot cannot be started: {fault}")

    async def start(self, request: pb.StartRequest, context: Context) -> pb.StartResponse:
        """Begin games. A bot that cannot be started in any of them fails the call; else it fails in those."""
        await _check_games(context, [game.game_id for game in request.games])
        games = []
        for index, game in enumerate(request.games):
            with inside(f"games[{index}]"):
                rules = decode_rules(game.rules)
                games.append(NewGame(game.game_id, decode_seat(game.seat), rules, game.seed))
        self._times = Times(_seconds(request.start_time_ms), _seconds(request.move_time_ms))
        started = await self._start(games)
        faults = {game_id: fault for each in started for game_id, fault in each.faults.items()}
        if games and len(faults) == len(games):
            # The client learns why from the call, as if this service itself had failed.
            why = next(iter(faults.values()))
            is_late = why.kind is FaultKind.LATE
            code = grpc.StatusCode.DEADLINE_EXCEEDED if is_late else grpc.StatusCode.ABORTED
            await context.abort(code, why.message)
        return pb.StartResponse(
            name=started[0].name if started else "", version=started[0].version if started else ""
        )

    async def choose(self, request: pb.ChooseRequest, context: Context) -> pb.ChooseResponse:
        """Choose in each game. One that this service does not know, having been started anew, begins now."""
        await _check_games(context, [decision.game_id for decision in request.decisions])
        decisions = [_decision(message, index) for index, message in enumerate(request.decisions)]
        known = {game_id for shard in self._shards for game_id in shard.games}
        unknown = [each for each in decisions if each.game_id not in known]
        if unknown:
            self._times = Times(self._times.start_seconds, _seconds(request.move_time_ms))
            await self._start(
                [NewGame(each.game_id, each.view.viewer or 0, each.view.public.rules, 0) for each in unknown]
            )

        async def ask(shard: _Shard, some: Sequence[Decision]) -> dict[str, Answer]:
            async with shard.lock:
                return await asyncio.to_thread(shard.host.choose, some)

        asked = [ask(shard, some) for shard, some in self._by_shard(decisions)]
        answers = {
            game_id: answer for each in await asyncio.gather(*asked) for game_id, answer in each.items()
        }
        return pb.ChooseResponse(
            choices=[
                _choice(game_id, answer)
                for game_id, answer in answers.items()
                # A game that is left out is a late one to the client, and that is what it is.
                if answer.fault is None or answer.fault.kind is not FaultKind.LATE
            ]
        )

    async def end(self, request: pb.EndRequest, context: Context) -> pb.EndResponse:
        """Forget games."""
        games = []
        for index, game in enumerate(request.games):
            with inside(f"games[{index}].outcome"):
                outcome = decode_outcome(game.outcome) if game.HasField("outcome") else None
            games.append(EndedGame(game.game_id, outcome))
        for shard, some in self._by_shard(games):
            await self._forget(shard, some)
        return pb.EndResponse()

    def close(self) -> None:
        """End the processes."""
        for shard in self._shards:
            shard.host.close()

    async def _start(self, games: Sequence[NewGame]) -> list[Started]:
        async def begin(shard: _Shard, some: Sequence[NewGame]) -> Started:
            async with shard.lock:
                started = await asyncio.to_thread(shard.host.start, some, self._times)
            shard.games |= {game.game_id: game for game in some}
            excess = len(shard.games) - MOST_KNOWN_GAMES // len(self._shards)
            if excess > 0:
                await self._forget(shard, [EndedGame(game_id, None) for game_id in [*shard.games][:excess]])
            return started

        return await asyncio.gather(*(begin(shard, some) for shard, some in self._by_shard(games)))

    async def _forget(self, shard: _Shard, games: Sequence[EndedGame]) -> None:
        for game in games:
            shard.games.pop(game.game_id, None)
        async with shard.lock:
            await asyncio.to_thread(shard.host.end, games)

    def _by_shard(self, things: Iterable[Thing]) -> list[tuple[_Shard, list[Thing]]]:
        """Things of games with the process of each game, the same for a game whenever it is asked."""
        found: defaultdict[int, list[Thing]] = defaultdict(list)
        for thing in things:
            found[zlib.crc32(thing.game_id.encode()) % len(self._shards)].append(thing)
        return [(self._shards[index], some) for index, some in found.items()]


Thing = TypeVar("Thing", NewGame, Decision, EndedGame)


@contextlib.asynccontextmanager
async def serving(server: BotServer, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Serves a bot until the end of the block; gives the port. Raises OSError if it is taken."""
    grpc_server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", MOST_REQUEST_BYTES), ("grpc.so_reuseport", 0)]
    )
    methods = {
        "Start": _handler(server.start, pb.StartRequest),
        "Choose": _handler(server.choose, pb.ChooseRequest),
        "End": _handler(server.end, pb.EndRequest),
    }
    service = pb.DESCRIPTOR.services_by_name["BotService"].full_name
    grpc_server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, methods)])
    try:
        bound = grpc_server.add_insecure_port(f"{host}:{port}")
    except RuntimeError as error:
        raise OSError(f"cannot listen on {host}:{port}: is the port in use?") from error
    try:
        await grpc_server.start()
        yield bound
    finally:
        await grpc_server.stop(1.0)
        server.close()


def _handler(
    method: Callable[[Request, Context], Awaitable[Message]], kind: type[Request]
) -> grpc.RpcMethodHandler[bytes, bytes]:
    """A method that is handed bytes: gRPC itself would answer what it cannot read with INTERNAL."""

    async def answer(data: bytes, context: Context) -> bytes:
        try:
            return (await method(kind.FromString(data), context)).SerializeToString()
        except DecodeError:
            await _refuse(context, "these bytes are no message of the method's request type")
        except CodecError as error:
            await _refuse(context, f"{error.field}: {error.problem}")
        except BaohuangError as error:
            await _refuse(context, error.message)

    make: Any = grpc.unary_unary_rpc_method_handler  # typed for blocking methods only
    handler: grpc.RpcMethodHandler[bytes, bytes] = make(answer)
    return handler


async def _refuse(context: Context, problem: str) -> NoReturn:
    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem[:500])


async def _check_games(context: Context, game_ids: Sequence[str]) -> None:
    if len(game_ids) > MOST_GAMES:
        await _refuse(context, f"{len(game_ids)} games; there are {MOST_GAMES} at most")
    if len(set(game_ids)) < len(game_ids):
        await _refuse(context, "the same game twice")


def _seconds(milliseconds: int) -> float:
    return min(milliseconds / 1000, _LONGEST_SECONDS)


def _decision(message: pb.ChooseRequest.Decision, index: int) -> Decision:
    with inside(f"decisions[{index}].view"):
        view = decode_view(message.view)
    with inside(f"decisions[{index}].legal_actions"):
        actions = tuple([decode_action(action) for action in message.legal_actions])
    if view.own is None or not actions:
        problem = "a decision is a seat's, and there is something to choose"
        raise CodecError(Reason.BAD_RECORD, problem, field=f"decisions[{index}]")
    return Decision(message.game_id, view, actions)


def _choice(game_id: str, answer: Answer) -> pb.ChooseResponse.Choice:
    choice, fault = answer.choice, answer.fault
    if choice is None:
        is_crash = fault is None or fault.kind is not FaultKind.MALFORMED
        return pb.ChooseResponse.Choice(game_id=game_id, failure=str(fault) if is_crash else "")
    return pb.ChooseResponse.Choice(
        game_id=game_id,
        action=encode_action(choice.action),
        note=choice.note,
        candidates=[
            pb.ChooseResponse.Candidate(action=encode_action(action), value=value)
            for action, value in choice.candidates
        ],
    )
