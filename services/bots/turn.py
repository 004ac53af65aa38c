"""One decision of a built-in bot, from its view to its action. Doing it twice changes nothing."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol

import structlog

from baohuang import Action, ActionKind, View
from baohuang.bots import BOT_NAMES, make_bot
from baohuang.rpc.codec.values import decode_action, encode_action
from services.bots import metrics
from services.kit.errors import PlatformError

MOVE_SECONDS: Final = 5.0
"""What a bot is told that it has for a move."""

# Somebody else has acted in the meantime: another worker with the same turn, or the server.
_OVERTAKEN: Final = frozenset(
    {
        "VERSION_CONFLICT",
        "COMMAND_REUSED",
        "NOT_YOUR_TURN",
        "ALREADY_ANSWERED",
        "GAME_OVER",
        "ON_AUTO_PLAY",
        "NOT_ON_AUTO_PLAY",
    }
)

_log = structlog.get_logger(__name__)


class Result(StrEnum):
    """What came of a turn."""

    ACTED = "acted"
    REPEATED = "repeated"
    """This very command had been done before."""
    OVERTAKEN = "overtaken"
    """The decision is no longer awaited."""
    UNAVAILABLE = "unavailable"
    """The engine was away; the lobby sends the turn again."""
    REFUSED = "refused"
    """The engine wants none of it; a fault of ours."""


class GameServer(Protocol):
    """What a turn needs of the engine; each raises PlatformError."""

    def view(self, game_id: str, seat: int) -> View: ...
    def legal_actions(self, game_id: str, seat: int) -> tuple[int, list[Action]]: ...
    def act(self, game_id: str, command_id: str, version: int, seat: int, action: Action) -> bool: ...
    def auto_act(self, game_id: str, command_id: str, version: int, seat: int) -> bool: ...


def take_turn(engine: GameServer, game_id: str, seat: int, version: int, bot: str) -> Result:
    """Have `bot` decide for a seat, if the decision that came up at `version` is still awaited from it."""
    name = bot if bot in BOT_NAMES else "unknown"
    try:
        result = _take_turn(engine, game_id, seat, version, bot)
    except PlatformError as error:
        if error.is_retryable:
            result = Result.UNAVAILABLE
        else:
            result = Result.OVERTAKEN if error.reason in _OVERTAKEN else Result.REFUSED
        log = _log.debug if result is Result.OVERTAKEN else _log.warning
        log("turn not taken", result=result, seat=seat, version=version, bot=bot, cause=str(error))
    metrics.TURNS.labels(name, result).inc()
    return result


def _take_turn(engine: GameServer, game_id: str, seat: int, version: int, bot: str) -> Result:
    view = engine.view(game_id, seat)
    own, opened = view.own, view.public.opened_version
    if own is None or not own.to_act or opened != version:
        return Result.OVERTAKEN
    # A step may ask a seat for several answers one after another (R10.6), all at the same version.
    command_id = f"bot.{seat}.{version}.{len(own.answers)}"
    if view.public.auto_play[seat]:
        return _result(engine.auto_act(game_id, command_id, version, seat))
    seen, legal = engine.legal_actions(game_id, seat)
    if not legal or seen != view.public.version:
        return Result.OVERTAKEN
    action = _choose(bot, _seed(game_id, seat, version), view, legal)
    try:
        return _result(engine.act(game_id, command_id, version, seat, action))
    except PlatformError as error:
        if error.is_retryable or error.reason in _OVERTAKEN:
            raise
        _note_fault(bot, "illegal", error)
    return _result(engine.act(game_id, command_id, version, seat, _default(legal)))


def _result(repeated: bool) -> Result:
    return Result.REPEATED if repeated else Result.ACTED


def _choose(bot: str, seed: int, view: View, legal: Sequence[Action]) -> Action:
    """The bot's choice; a bot that fails costs the table no more than a dull move."""
    started = time.perf_counter()
    try:
        action = _checked(make_bot(bot, seed=seed).choose(view, legal, MOVE_SECONDS))
    except Exception as error:  # noqa: BLE001 (a bot may raise anything, Celery's time limit included)
        _note_fault(bot, "no_action", error)
        return _default(legal)
    metrics.CHOICE_SECONDS.labels(bot).observe(time.perf_counter() - started)
    return action


def _checked(answer: object) -> Action:
    """A bot's answer, which may be anything, as the action that it is on the wire; raises if it is none."""
    if not isinstance(answer, Action):
        raise TypeError(f"{str(answer)[:80]!r} is no action")
    return decode_action(encode_action(answer))


def _default(legal: Sequence[Action]) -> Action:
    """What is done for a bot that gave no usable answer: nothing, where that is allowed."""
    return next((action for action in legal if action.kind in (ActionKind.PASS, ActionKind.NO)), legal[0])


def _note_fault(bot: str, fault: str, error: Exception) -> None:
    metrics.FAULTS.labels(bot if bot in BOT_NAMES else "unknown", fault).inc()
    _log.error("a bot gave no usable answer", bot=bot, fault=fault, cause=repr(error))


def _seed(game_id: str, seat: int, version: int) -> int:
    """The same for the same decision, so that a turn taken twice is decided the same way."""
    digest = hashlib.sha256(f"{game_id} {seat} {version}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
