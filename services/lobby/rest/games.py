"""Games: views, actions, streams."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

from litestar import Controller, Request, get, post, put
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import FromPath, HeaderParameter, JSONBody, QueryParameter

from baohuang import Action, BaohuangError
from baohuang.codec_json import event_to_json
from services.kit.errors import PlatformError, to_platform_error
from services.lobby.engine import Applied
from services.lobby.messages import games as messages
from services.lobby.rest.access import TOKEN, CallerDependency, Key, LobbyDependency, answers, secret_of
from services.lobby.rest.sse import EVENT_STREAM, EventStream, game_chunks, my_games_chunks, show_my_game
from services.lobby.shown import show_outcome, show_view

AsSpectator = Annotated[
    bool, QueryParameter(description="What a spectator sees, also for those who play in it.")
]
LastEventId = Annotated[
    str | None,
    HeaderParameter(
        name="Last-Event-ID",
        max_length=40,
        pattern=r"^[!-~]+$",
        description="The last id received: the stream goes on right after it.",
    ),
]
_COMMANDS: Final = answers(
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
_GAME_STREAM: Final = """Server-sent events.

`snapshot` first (or with Last-Event-ID every later event at once), then `event` for each event, `asked` when
the caller's action is awaited, `ended` at the end of the hand, `ping` every 7 seconds when nothing happens,
`error` with a problem where the stream breaks off. The id is the number of the event in its game."""
_GAME_EXAMPLE: Final = """id: 17
event: event
data: {"game_id":"…","version":17,"event":{"event":"passed","seat":2}}

"""
_MY_GAMES_STREAM: Final = """Server-sent events.

`all_games` first (or with Last-Event-ID everything since), then `began`, `asked` and `ended`, `ping` every 7
seconds when nothing happens, `error` with a problem where the stream breaks off. The id is opaque."""
_MY_GAMES_EXAMPLE: Final = """id: 3f2-1a
event: asked
data: {"game_id":"…","table_id":"…","seat":2,"version":40,"to_act":true}

"""


def _stream_of(description: str, example: str) -> dict[int, ResponseSpec]:
    spec = ResponseSpec(
        str,
        description=description,
        media_type=EVENT_STREAM,
        generate_examples=False,
        examples=[Example(value=example)],
    )
    return answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT) | {200: spec}


class GamesApi(Controller):
    """Games of hands, for those who play in them and for spectators."""

    path = "/v1"
    tags = ("games",)

    @get(
        "/games/{game_id:str}/view",
        summary="Look at a game",
        responses=answers(HTTPStatus.NOT_FOUND),
        security=TOKEN,
    )
    async def get_view(
        self,
        game_id: FromPath[str],
        caller: CallerDependency,
        lobby: LobbyDependency,
        as_spectator: AsSpectator = False,
    ) -> messages.GameView:
        """All that the caller's seat may know, or a spectator."""
        seen = await lobby.play.view(caller, game_id, as_spectator)
        return messages.GameView(game_id=game_id, view=show_view(seen.view), deadline_ms=seen.deadline_ms)

    @get(
        "/games/{game_id:str}/legal-actions",
        summary="List what the caller may do",
        responses=answers(HTTPStatus.NOT_FOUND),
        security=TOKEN,
    )
    async def get_legal_actions(
        self, game_id: FromPath[str], caller: CallerDependency, lobby: LobbyDependency
    ) -> messages.LegalActions:
        """Empty when nothing is awaited from the caller."""
        offered = await lobby.play.legal_actions(caller, game_id)
        return messages.LegalActions(
            game_id=game_id,
            version=offered.version,
            actions=[str(action) for action in offered.actions],
            deadline_ms=offered.deadline_ms,
        )

    @post(
        "/games/{game_id:str}/actions",
        summary="Do an action",
        responses=_COMMANDS,
        security=TOKEN,
        status_code=200,
    )
    async def act(
        self,
        game_id: FromPath[str],
        data: JSONBody[messages.NewAction],
        caller: CallerDependency,
        lobby: LobbyDependency,
        key: Key = None,
    ) -> messages.Applied:
        """What followed. The action that ends the hand is answered with the outcome.

        A stale `expected_version` is 409 `VERSION_CONFLICT` with the current `version` in `details`; answers
        of other seats in an open step never make one stale. A breach of the rules is 422 with its clause.
        """
        applied = await lobby.play.act(
            caller, game_id, _parse_action(data.action), data.expected_version, key
        )
        return _shown(game_id, applied)

    @put(
        "/games/{game_id:str}/auto-play",
        summary="Begin or end auto-play",
        responses=_COMMANDS,
        security=TOKEN,
    )
    async def set_auto_play(
        self,
        game_id: FromPath[str],
        data: JSONBody[messages.AutoPlay],
        caller: CallerDependency,
        lobby: LobbyDependency,
        key: Key = None,
    ) -> messages.Applied:
        """Auto-play begins by itself when the time is over. The fourth of a hand cannot be ended (R9.3)."""
        applied = await lobby.play.set_auto_play(caller, game_id, data.auto_play, key)
        return _shown(game_id, applied)

    @get(
        "/games/{game_id:str}/stream",
        summary="Follow a game",
        responses=_stream_of(_GAME_STREAM, _GAME_EXAMPLE),
        security=TOKEN,
        media_type=EVENT_STREAM,
    )
    async def stream_game(
        self,
        game_id: FromPath[str],
        request: Request[Any, Any, Any],
        caller: CallerDependency,
        lobby: LobbyDependency,
        after: LastEventId = None,
        as_spectator: AsSpectator = False,
    ) -> EventStream:
        """The end of the connection is never the end of the game: that is the event `ended`."""
        await lobby.limits.take("streams", caller.player_id)
        stream = await lobby.streams.watch(
            caller, game_id, _parse_version(after), as_spectator, secret_of(request) or ""
        )
        return EventStream(game_chunks(stream), lobby.registry)

    @get("/me/games", summary="List the caller's live games", responses=answers(), security=TOKEN)
    async def list_my_games(self, caller: CallerDependency, lobby: LobbyDependency) -> messages.MyGames:
        """Those that have begun and are not over."""
        games, cursor = await lobby.my_games.listed(caller)
        return messages.MyGames(games=[show_my_game(game) for game in games], cursor=cursor.format())

    @get(
        "/me/games/stream",
        summary="Follow all games of the caller",
        responses=_stream_of(_MY_GAMES_STREAM, _MY_GAMES_EXAMPLE),
        security=TOKEN,
        media_type=EVENT_STREAM,
    )
    async def stream_my_games(
        self,
        request: Request[Any, Any, Any],
        caller: CallerDependency,
        lobby: LobbyDependency,
        after: LastEventId = None,
    ) -> EventStream:
        """It has no end of its own."""
        await lobby.limits.take("streams", caller.player_id)
        cursor = None if after is None else await lobby.my_games.check_cursor(after)
        items = lobby.my_games.watch(caller, cursor, secret_of(request) or "")
        return EventStream(my_games_chunks(items), lobby.registry)


def _parse_action(text: str) -> Action:
    try:
        return Action.parse(text)
    except BaohuangError as error:
        raise to_platform_error(error).at("action") from error


def _parse_version(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise PlatformError.malformed("Last-Event-ID", "no number of an event")
    return int(text)


def _shown(game_id: str, applied: Applied) -> messages.Applied:
    return messages.Applied(
        game_id=game_id,
        version=applied.version,
        events=[event_to_json(event) for event in applied.events],
        outcome=show_outcome(applied.outcome),
    )
