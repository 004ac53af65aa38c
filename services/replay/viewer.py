"""A game step by step: its page, the same to be embedded, the frames for the script, the live stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import lru_cache, partial
from typing import Final

import msgspec
from litestar import Controller, MediaType, Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import ServerSentEvent, ServerSentEventMessage

from services.kit.errors import PlatformError
from services.replay import drawing
from services.replay.choices import choices_at
from services.replay.frames import frames_of, is_clockwise, items_of, positions, style_of
from services.replay.known import REVEALED, KnownGame
from services.replay.library import Library, Shelved
from services.replay.live import Live
from services.replay.look import SEAT_VIEWS, AnyRequest, Look, Reveal, Speed, View
from services.replay.moments import first_shown_step, moment_of
from services.replay.rendering import render
from services.replay.sittings import Sitting, Sittings

_JSON: Final = "application/json"
_SPEEDS: Final = {Speed.HALF: "½", Speed.ONE: "1", Speed.TWO: "2", Speed.FOUR: "4", Speed.EIGHT: "8"}


class Viewer(Controller):
    """Games in the browser. Their pages need no script; with one they do not load again for each step."""

    include_in_schema = False

    @get("/replay/{game_id:str}", media_type=MediaType.HTML)
    async def replay(
        self,
        game_id: FromPath[str],
        look: NamedDependency[Look],
        library: NamedDependency[Library],
        sittings: NamedDependency[Sittings],
    ) -> str:
        """A game at one step. Of a running game what a spectator may see."""
        shelved = await library.find(game_id)
        return render_replay(shelved, await sittings.find(game_id), look)

    @get("/embed/{game_id:str}", media_type=MediaType.HTML)
    async def embed(
        self,
        game_id: FromPath[str],
        look: NamedDependency[Look],
        library: NamedDependency[Library],
        sittings: NamedDependency[Sittings],
    ) -> str:
        """The same for a frame in somebody's page: the table and the buttons."""
        shelved = await library.find(game_id)
        return render_replay(shelved, await sittings.find(game_id), look, is_embedded=True)

    @get("/replay/{game_id:str}/frames")
    async def frames(
        self,
        game_id: FromPath[str],
        look: NamedDependency[Look],
        library: NamedDependency[Library],
        sittings: NamedDependency[Sittings],
    ) -> Response[bytes]:
        """All steps of a game as the script shows them."""
        shelved = await library.find(game_id)
        names = (await sittings.find(game_id)).names
        # To draw a long game takes longer than others should wait.
        body = await asyncio.to_thread(_frames, shelved.game, look.but(step=None), names)
        return Response(body, media_type=_JSON, headers={"Cache-Control": "no-store"})

    @get("/replay/{game_id:str}/live")
    async def live(
        self,
        request: AnyRequest,
        game_id: FromPath[str],
        look: NamedDependency[Look],
        live: NamedDependency[Live],
        library: NamedDependency[Library],
        after: FromQuery[str | None] = None,
    ) -> ServerSentEvent:
        """A running game as it goes on: server-sent events (services.replay.live)."""
        await library.find(game_id)
        last = request.headers.get("last-event-id") or after

        async def messages() -> AsyncIterator[ServerSentEventMessage]:
            async for message in live.watch(game_id, look, last):
                yield ServerSentEventMessage(
                    event=message.kind, id=message.mark or None, data=message.data.decode(), retry=1000
                )

        return ServerSentEvent(messages(), headers={"Cache-Control": "no-store"})

    @get("/replay/{game_id:str}/legal", media_type=MediaType.HTML)
    async def legal(
        self, game_id: FromPath[str], look: NamedDependency[Look], library: NamedDependency[Library]
    ) -> str:
        """What was legal at a step of a finished game."""
        game = (await library.find(game_id)).game
        if game.is_running:
            raise PlatformError("NOT_FOUND", "what is legal shows hands: it is told once the game is over")
        return render_legal(game, look)


@lru_cache(maxsize=64)
def _frames(game: KnownGame, look: Look, names: tuple[str, ...] | None) -> bytes:
    return msgspec.json.encode(frames_of(game, look, names))


def render_replay(shelved: Shelved, sitting: Sitting, look: Look, *, is_embedded: bool = False) -> str:
    """The page of a game at a step. Raises PlatformError (NOT_FOUND) if it has no such step."""
    summary, game = shelved.summary, shelved.game
    step = _step(game, look)
    style = style_of(game, look)
    base = f"/{'embed' if is_embedded else 'replay'}/{summary.game_id}"
    return render(
        "embed.html" if is_embedded else "replay.html",
        look,
        base,
        summary=summary,
        game=game,
        base=base,
        sitting=sitting,
        step=step,
        last=len(game.steps),
        moment=moment_of(game, step, look.language, look.viewpoint(game), sitting.names),
        items=[] if is_embedded else items_of(game, look, step),
        positions=positions(look),
        is_clockwise=is_clockwise(summary.rules),
        steps=_steps(game, step),
        step_url=partial(_url, look),
        views=[(view, _url(look.seen_by(view), step)) for view in (View.PUBLIC, *SEAT_VIEWS)],
        reveal_url=_url(look.but(reveal=Reveal.NO if look.is_revealed else Reveal.YES), step),
        speeds=[(speed, word, _url(look.but(speed=speed), step)) for speed, word in _SPEEDS.items()],
        query=look.query(with_step=False),
        full_url=f"/replay/{summary.game_id}?{look.but(step=step).query()}",
        hand_url=lambda game_id: (
            f"/{'embed' if is_embedded else 'replay'}/{game_id}?{look.query(with_step=False)}"
        ),
        plate=partial(drawing.draw_plate, style=style),
        spot=partial(drawing.draw_spot, style=style),
        middle=partial(drawing.draw_middle, style=style),
        said=partial(drawing.draw_said, style=style),
        remark=partial(drawing.draw_remark, style=style),
        hand=partial(drawing.draw_hand, style=style),
    )


def render_legal(game: KnownGame, look: Look) -> str:
    """What was legal at a step of a finished game."""
    step = _step(game, look)
    style = style_of(game, look)
    return render(
        "legal.html",
        look,
        f"/replay/{game.game_id}/legal",
        game=game,
        step=step,
        choices=choices_at(game, step),
        said=drawing.draw_said(moment_of(game, step, look.language, REVEALED).said, style),
        back_url=f"/replay/{game.game_id}?{look.but(step=step).query()}",
        cards=partial(drawing.draw_cards, style=style),
        phrase=partial(drawing.draw_phrase, style=style),
    )


def _url(look: Look, step: int) -> str:
    return f"?{look.but(step=step).query()}"


def _step(game: KnownGame, look: Look) -> int:
    step = first_shown_step(game) if look.step is None else look.step
    if not 1 <= step <= len(game.steps):
        raise PlatformError("NOT_FOUND", f"the game has the steps 1 to {len(game.steps)}, and no step {step}")
    return step


def _steps(game: KnownGame, step: int) -> dict[str, int | None]:
    """Where the buttons lead; None where there is nothing further that way."""
    last = len(game.steps)
    starts = game.trick_starts
    return {
        "first": 1 if step > 1 else None,
        "previous-trick": next((start for start in reversed(starts) if start < step), None),
        "previous": step - 1 if step > 1 else None,
        "next": step + 1 if step < last else None,
        "next-trick": next((start for start in starts if start > step), None),
        "last": last if step < last else None,
    }
