"""Live streams: a snapshot first, then what changed, exactly; after a lost connection too."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, NamedTuple

import httpx
import pytest

from baohuang.words import Language
from services.eventstore import EventStore, Pool
from services.eventstore.wakeups import WakeupSender
from services.kit.settings import Settings
from services.kit.web import serve_app
from services.local.ports import ReservedPort
from services.local.valkey import LocalValkey
from services.replay.app import end_streams, make_replay
from services.replay.frames import frames_of
from services.replay.known import KnownGame
from services.replay.library import Library
from services.replay.look import Look
from services.replay.sittings import Sittings
from tests.integration.replay.scene import played_game, write

ENGLISH = Look(Language.ENGLISH)


class Message(NamedTuple):
    kind: str
    mark: str
    data: dict[str, Any]


class Service:
    """A replay service on a port of its own."""

    def __init__(self, settings: Settings) -> None:
        self._port = ReservedPort(0, "the replay service", "")
        self.port = self._port.number
        self._settings = settings
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._stop = asyncio.Event()
        app = make_replay(self._settings)
        serving = serve_app(app, "127.0.0.1", self.port, self._stop, partial(end_streams, app))
        self._task = asyncio.create_task(serving)
        async with httpx.AsyncClient() as client:
            for _ in range(200):
                with contextlib.suppress(httpx.TransportError):
                    if (await client.get(f"{self.url}/health/live")).is_success:
                        return
                await asyncio.sleep(0.05)
        raise AssertionError("the service does not answer")

    async def stop(self) -> None:
        self._stop.set()
        if self._task is not None:
            async with asyncio.timeout(20):
                await self._task

    async def close(self) -> None:
        await self.stop()
        self._port.release()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
async def service(migrated: str, valkey: LocalValkey) -> AsyncIterator[Service]:
    """It hears of commits of `told`, and looks for others once a second."""
    running = Service(Settings(database_url=migrated, valkey_url=valkey.url, database_connections=4))
    await running.start()
    yield running
    await running.close()


@pytest.fixture
async def told(pool: Pool, valkey: LocalValkey) -> AsyncIterator[EventStore]:
    """A store that gives word of what it appends."""
    async with WakeupSender(valkey.url) as sender:
        yield EventStore(pool, sender)


@contextlib.asynccontextmanager
async def watching(
    service: Service, game_id: str, after: str | None = None
) -> AsyncIterator[AsyncIterator[Message]]:
    """The messages of a stream; pings are left out."""
    headers = {} if after is None else {"Last-Event-ID": after}
    async with (
        httpx.AsyncClient(timeout=30) as client,
        client.stream("GET", f"{service.url}/replay/{game_id}/live?lang=en", headers=headers) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        yield _messages(answer)


async def _messages(answer: httpx.Response) -> AsyncIterator[Message]:
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif fields:
            if fields["event"] != "ping":
                yield Message(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
            fields = {}


class Film:
    """The steps that were received, put together as the script does."""

    def __init__(self) -> None:
        self.steps: list[list[str]] = []

    def absorb(self, frames: dict[str, Any]) -> None:
        del self.steps[frames["first"] - 1 :]
        assert len(self.steps) == frames["first"] - 1, "steps are missing"
        here = [-1] * len(frames["slots"])
        for changes in frames["steps"]:
            for slot, part in zip(changes[::2], changes[1::2], strict=True):
                here[slot] = part
            self.steps.append([frames["fragments"][part] for part in here])


def expected(events: Any) -> list[list[str]]:
    film = Film()
    frames = frames_of(KnownGame("g", events), ENGLISH)
    film.absorb({"first": 1, "slots": frames.slots, "steps": frames.steps, "fragments": frames.fragments})
    return film.steps


@pytest.mark.parametrize("preset", ["jiaodong", "lianzhong-classic"])
async def test_a_game_is_followed_to_its_end(preset: str, service: Service, told: EventStore) -> None:
    game = played_game(preset)
    film = Film()
    await write(told, "g", game.events[:2])
    length = 2
    async with watching(service, "g") as messages:
        async for message in messages:
            if message.kind == "end":
                break
            assert message.kind == ("snapshot" if length == 2 else "steps")
            film.absorb(message.data["frames"])
            assert message.data["frames"]["game_id"] == "g"
            assert message.mark == KnownGame("g", game.events[:length]).mark
            assert film.steps == expected(game.events[:length])
            # Everybody's view must change, or nothing is sent.
            shown = message.mark
            while length < game.version and KnownGame("g", game.events[:length]).mark == shown:
                length += 1
            if length > 60:
                length = game.version
            await write(told, "g", game.events[:length], per_commit=400)
        else:
            raise AssertionError("the stream ended without its last message")
    assert message.data == {"game_id": "g"}


async def test_who_comes_back_gets_everything_later_and_nothing_twice(
    service: Service, store: EventStore
) -> None:
    game = played_game("jiaodong")
    film = Film()
    await write(store, "g", game.events[:40])
    async with watching(service, "g") as messages:
        first = await anext(messages)
    film.absorb(first.data["frames"])
    await write(store, "g", game.events[:60])
    async with watching(service, "g", first.mark) as messages:
        second = await anext(messages)
    assert second.kind == "steps"
    steps = len(KnownGame("g", game.events[:40]).steps)
    assert second.data["frames"]["first"] in (steps, steps + 1)
    film.absorb(second.data["frames"])
    assert film.steps == expected(game.events[:60])
    # A mark that is none, or of a log that has forgotten something, is answered with everything.
    for mark in ("nonsense", "900.0", "0.0"):
        async with watching(service, "g", mark) as messages:
            message = await anext(messages)
        assert (message.kind, message.data["frames"]["first"]) == ("snapshot", 1)


async def test_streams_end_when_the_service_stops_and_go_on_when_it_is_back(
    service: Service, store: EventStore
) -> None:
    game = played_game("marked-guard")
    await write(store, "g", game.events[:40])
    async with watching(service, "g") as messages:
        first = await anext(messages)
        await service.stop()
        assert [message async for message in messages] == [], "no word of an end: the game goes on"
    await write(store, "g", game.events)
    await service.start()
    async with watching(service, "g", first.mark) as messages:
        assert [message.kind async for message in messages] == ["end"]


async def test_spectators_lag_behind_by_as_many_plays_as_the_table_says(
    service: Service, store: EventStore, pool: Pool
) -> None:
    game = played_game("jiaodong")
    async with pool.connection() as connection:
        await connection.execute("insert into replay_tables.sittings (game_id, delay_plays) values ('g', 4)")
    await write(store, "g", game.events[:80])
    known = KnownGame("g", game.events[:80], delay_plays=4)
    assert known.version < 75
    async with watching(service, "g") as messages:
        message = await anext(messages)
    assert message.mark == known.mark
    assert len(message.data["frames"]["steps"]) == len(known.steps)
    assert message.data["waiting_ms"] is None, "for how long the last player thinks is a secret of the delay"
    async with httpx.AsyncClient() as client:
        record = await client.get(f"{service.url}/v1/games/g/record")
        assert len(record.text.splitlines()) == known.version
        assert (
            f"{len(known.steps)} / {len(known.steps)}" in (await client.get(f"{service.url}/replay/g")).text
        )


async def test_a_game_that_is_over_has_nothing_to_follow(service: Service, store: EventStore) -> None:
    await write(store, "g", played_game("marked-guard").events)
    async with watching(service, "g") as messages:
        assert [message.kind async for message in messages] == ["end"]


async def test_a_game_is_read_once_for_all_who_ask_and_again_when_it_has_gone_on(
    migrated: str, store: EventStore, pool: Pool
) -> None:
    library = Library(store, Sittings(pool))
    game = played_game("jiaodong")
    await write(store, "g", game.events[:40])
    first, second = await asyncio.gather(library.find("g"), library.find("g"))
    assert first is second is await library.find("g")
    await write(store, "g", game.events[:50])
    later = await library.find("g")
    assert later.game.version > first.game.version
    await write(store, "g", game.events)
    finished = await library.find("g")
    assert finished.game.events == game.events
    assert await library.find("g") is finished
