"""A bot that plays on a server, as any player does: over the public interface, in all its games at once.

    asyncio.run(play_remote(Clever, "127.0.0.1:50052", token))

It keeps no state that a restart of either side could lose: what is asked it takes from the server's stream of
all its games, which it resumes where it broke off, and each answer goes out under an id that follows from the
decision, so that it is done once however often it is sent. Needs `pip install "baohuang[rpc]"`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, TypeVar

from baohuang.bots.hosts.direct import DirectHost
from baohuang.bots.hosts.host import MOST_GAMES, Answer, Decision, EndedGame, Host, NewGame, Times
from baohuang.bots.hosts.spec import Maker
from baohuang.bots.referee import MOST_FAULTS
from baohuang.bots.remote_client import LobbyClient, RemoteError, wait_seconds
from baohuang.rpc.codec import decode_action, decode_outcome, decode_view, encode_action
from baohuang.rpc.lobby.v1 import games_pb2 as pb
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.autoplay import LAST_START
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import Seat
from baohuang.rules.state import View

# Somebody was quicker: the server's clock, or this very bot a moment ago.
_OVERTAKEN: Final = frozenset(
    {"VERSION_CONFLICT", "NOT_YOUR_TURN", "ALREADY_ANSWERED", "GAME_OVER", "COMMAND_REUSED"}
)
_GONE: Final = frozenset({"FORBIDDEN", "GAME_NOT_FOUND", "NOT_FOUND"})
_HOPELESS: Final = frozenset({"UNAUTHENTICATED", "UNIMPLEMENTED"})
_MOST_FINISHED: Final = 10_000
"""How many games are known to be over; of older ones nothing is told any more."""

Argument = TypeVar("Argument")
Result = TypeVar("Result")

_log = logging.getLogger(__name__)


class Finished(NamedTuple):
    """A game of the bot's that is over."""

    game_id: str
    table_id: str
    seat: Seat
    outcome: Outcome


class _Waiting(NamedTuple):
    """A decision that somebody waits for."""

    decision: Decision
    seat: Seat
    answered: asyncio.Future[Answer]


class RemoteBot:
    """Plays all games of a player until `run` is cancelled. The host's bot decides; see `hosts.open_host`.

    For an answer that cannot be taken it does nothing where that is allowed, so that the table does not wait.
    A bot that comes to as many faults in a game as the referee allows is not asked in it any more.
    """

    def __init__(
        self,
        client: LobbyClient,
        host: Host,
        *,
        times: Times | None = None,
        on_end: Callable[[Finished], None] = lambda _finished: None,
    ) -> None:
        self._client = client
        self._deciding = _Deciding(host, times or Times())
        self._on_end = on_end
        self._cursor: str | None = None
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._asked_again: set[str] = set()
        self._faults: dict[str, int] = {}
        self._finished: dict[str, None] = {}

    async def run(self) -> None:
        """Play for ever. Raises `RemoteError` if the token is not good, and what the bot's host raises."""
        deciding = asyncio.create_task(self._deciding.run())
        listening = asyncio.create_task(self._listen())
        tasks = [deciding, listening]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            tasks += self._turns.values()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self) -> None:
        attempt = 0
        while True:
            try:
                # What came up in between is on the stream; this finds a game that went to auto-play.
                games = await self._client.call(self._client.games.ListMyGames, pb.ListMyGamesRequest())
                for game in games.games:
                    self._look_at(game)
                request = pb.WatchMyGamesRequest(after_cursor=self._cursor)
                stream = self._client.stream(self._client.games.WatchMyGames, request)
                async with contextlib.aclosing(stream) as messages:
                    async for message in messages:
                        attempt = 0
                        await self._hear(message)
            except RemoteError as error:
                if error.reason in _HOPELESS:
                    raise
                if not error.is_retryable:
                    # A cursor from before the server's log was restored: what is live is told again.
                    self._cursor = None
                _log.info("the stream of games broke off: %s", error)
            attempt += 1
            await asyncio.sleep(wait_seconds(attempt))

    async def _hear(self, message: pb.WatchMyGamesResponse) -> None:
        match message.WhichOneof("message"):
            case "all_games":
                for game in message.all_games.games:
                    self._look_at(game)
            case "began":
                self._look_at(message.began.game)
            case "asked":
                self._look_at(message.asked.game)
            case "ended":
                await self._end(message.ended)
            case _:
                return  # a sign of life
        # What was heard is on its way to be done; should this process end now, it is told again.
        self._cursor = message.cursor or self._cursor

    def _look_at(self, game: pb.MyGame) -> None:
        """Have a look at a game, now, or once more if one is under way."""
        if game.game_id in self._finished:
            return
        turn = self._turns.get(game.game_id)
        if turn is not None and not turn.done():
            self._asked_again.add(game.game_id)
            return
        if turn is not None:
            turn.result()  # a fault of ours, or of the host's, is nothing to go on after
        self._turns[game.game_id] = asyncio.create_task(self._take_turns(game.game_id, game.seat))

    async def _take_turns(self, game_id: str, seat: Seat) -> None:
        while True:
            self._asked_again.discard(game_id)
            try:
                await self._take_turn(game_id, seat)
            except RemoteError as error:
                if error.reason in _HOPELESS:
                    return  # the stream will say so too
                if error.reason not in _OVERTAKEN:
                    _log.warning("game %s: %s", game_id, error)
            if game_id not in self._asked_again:
                return

    async def _take_turn(self, game_id: str, seat: Seat) -> None:
        """Do what is asked of the seat, if anything is."""
        games = self._client.games
        view = await self._view(game_id)
        if view.public.auto_play[seat] and view.public.outcome is None:
            if view.public.auto_play_starts[seat] >= LAST_START:
                return
            await self._client.call(
                games.SetAutoPlay,
                pb.SetAutoPlayRequest(
                    game_id=game_id, command_id=_command_id(game_id, view, "back"), auto_play=False
                ),
            )
            view = await self._view(game_id)
        if view.own is None or not view.own.to_act:
            return
        offered = await self._client.call(games.GetLegalActions, pb.GetLegalActionsRequest(game_id=game_id))
        legal = tuple([decode_action(action) for action in offered.actions])
        if not legal or offered.version != view.public.version:
            self._asked_again.add(game_id)
            return
        if self._faults.get(game_id, 0) < MOST_FAULTS:
            answer = await self._deciding.decide(Decision(game_id, view, legal), seat)
            if answer.choice is None:
                why: object = answer.fault
            else:
                try:
                    await self._act(game_id, view, answer.choice.action, "")
                    return
                except RemoteError as error:
                    if error.reason == "ON_AUTO_PLAY":
                        self._asked_again.add(game_id)
                        return
                    if error.reason in _OVERTAKEN | _GONE | _HOPELESS:
                        raise
                    why = f"{answer.choice.action} was refused: {error}"
            self._faults[game_id] = self._faults.get(game_id, 0) + 1
            _log.warning("game %s: %s", game_id, why)
        await self._act(game_id, view, _default(legal), "default")

    async def _view(self, game_id: str) -> View:
        answer = await self._client.call(self._client.games.GetView, pb.GetViewRequest(game_id=game_id))
        return decode_view(answer.view)

    async def _act(self, game_id: str, view: View, action: Action, kind: str) -> None:
        await self._client.call(
            self._client.games.Act,
            pb.ActRequest(
                game_id=game_id,
                command_id=_command_id(game_id, view, kind),
                expected_version=view.public.opened_version,
                action=encode_action(action),
            ),
        )

    async def _end(self, ended: pb.WatchMyGamesResponse.Ended) -> None:
        game_id = ended.game.game_id
        if game_id in self._finished:
            return
        self._finished[game_id] = None
        if len(self._finished) > _MOST_FINISHED:
            del self._finished[next(iter(self._finished))]
        self._faults.pop(game_id, None)
        turn = self._turns.pop(game_id, None)
        if turn is not None:
            turn.cancel()
        outcome = decode_outcome(ended.outcome)
        await self._deciding.end(game_id, outcome)
        self._on_end(Finished(game_id, ended.game.table_id, ended.game.seat, outcome))


class _Deciding:
    """A blocking host, used by many games: what they ask while it is busy goes to it together."""

    def __init__(self, host: Host, times: Times) -> None:
        self._host = host
        self._times = times
        self._begun: set[str] = set()
        self._waiting: list[_Waiting] = []
        self._woken = asyncio.Event()
        # One thread: whoever gives up waiting leaves the host busy, and it is not for two at once.
        self._thread = ThreadPoolExecutor(max_workers=1)

    async def decide(self, decision: Decision, seat: Seat) -> Answer:
        """What the bot answers, or the fault that it gave no answer for."""
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(decision, seat, answered))
        self._woken.set()
        return await answered

    async def run(self) -> None:
        """Ask the host for ever. Raises what it raises."""
        try:
            while True:
                await self._woken.wait()
                self._woken.clear()
                while self._waiting:
                    some, self._waiting = self._waiting[:MOST_GAMES], self._waiting[MOST_GAMES:]
                    answers = await self._in_thread(self._ask, some)
                    for each in some:
                        if not each.answered.done():
                            each.answered.set_result(answers[each.decision.game_id])
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)
            if not isinstance(self._host, DirectHost):
                # Whoever closes it next finds it idle; its times say how long that takes at most.
                await asyncio.to_thread(self._thread.shutdown)

    async def end(self, game_id: str, outcome: Outcome) -> None:
        """Let the bot forget a game."""
        if game_id in self._begun:
            self._begun.discard(game_id)
            await self._in_thread(self._host.end, [EndedGame(game_id, outcome)])

    async def _in_thread(self, work: Callable[[Argument], Result], argument: Argument) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, argument)

    def _ask(self, asked: Sequence[_Waiting]) -> dict[str, Answer]:
        new = [
            # Nobody may foresee what a bot draws by chance.
            NewGame(decision.game_id, seat, decision.view.public.rules, secrets.randbits(64))
            for decision, seat, _ in asked
            if decision.game_id not in self._begun
        ]
        if new:
            started = self._host.start(new, self._times)
            self._begun |= {game.game_id for game in new} - started.faults.keys()
        return self._host.choose([decision for decision, _, _ in asked])


async def play_remote(make: Maker, server: str, token: str) -> None:
    """Play all games of a player with bots that `make(seed)` makes, in this process, until cancelled."""
    async with LobbyClient(server, token) as client:
        await RemoteBot(client, DirectHost("remote", make)).run()


def _command_id(game_id: str, view: View, kind: str) -> str:
    """The id of a command, the same however often it is sent; at most 64 characters."""
    own = view.own
    answers = 0 if own is None else len(own.answers)
    starts = 0 if own is None else view.public.auto_play_starts[own.seat]
    parts = [game_id[:32], str(view.public.opened_version), str(answers), str(starts), kind]
    return ".".join([part for part in parts if part])


def _default(legal: Sequence[Action]) -> Action:
    """What is done for a bot that gave no usable answer: nothing, where that is allowed."""
    return next((action for action in legal if action.kind in (ActionKind.PASS, ActionKind.NO)), legal[0])
