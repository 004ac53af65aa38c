"""A replay service with a log of its own, and what a browser does with its pages."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psycopg

from baohuang import Game, RuleSet
from baohuang.rules.events import Event
from services.eventstore import EventStore, make_pool, migrate, migrate_eventstore
from services.local.ports import ReservedPort
from services.local.postgres import LocalPostgres
from services.local.server import Deadline
from services.replay.__main__ import MIGRATIONS
from tests.integration.replay.scene import index, write

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Response

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
CHROMIUM_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class Site:
    """The replay service as a process, on a port that it keeps when it is started again."""

    def __init__(self, folder: Path) -> None:
        self._postgres = LocalPostgres(folder / "postgres", options={"fsync": "off"})
        self._port = ReservedPort(0, "the replay service", "")
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "replay.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port.number}"

    def __enter__(self) -> Site:
        self._postgres.start()
        migrate_eventstore(self._postgres.dsn)
        migrate(self._postgres.dsn, "replay", MIGRATIONS)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._postgres.stop()
        self._port.release()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "services.replay", "serve"],
                cwd=ROOT,
                env={
                    **os.environ,
                    "BAOHUANG_DATABASE_URL": self._postgres.dsn,
                    "BAOHUANG_PORT": str(self._port.number),
                },
                stdout=log,
                stderr=log,
            )
        deadline = Deadline(60)
        while True:
            try:
                if httpx.get(f"{self.url}/health/ready", trust_env=False).is_success:
                    return
            except httpx.TransportError:
                pass
            assert self._process.poll() is None, self._log.read_text()
            assert not deadline.has_passed(), self._log.read_text()
            deadline.pause()

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            assert self._process.wait(30) == 0, self._log.read_text()
            self._process = None

    def write(self, game_id: str, events: Sequence[Event]) -> None:
        """Appends what the log lacks of a game's events, and indexes it."""

        async def run() -> None:
            async with make_pool(self._postgres.dsn, max_size=2, application="test") as pool:
                await write(EventStore(pool), game_id, events, per_commit=400)
                await index(pool)

        # The browser's driver has a loop of its own in this thread.
        with ThreadPoolExecutor(1) as executor:
            executor.submit(asyncio.run, run()).result()

    def seat(self, game_id: str, table_id: str, hand: int, names: Sequence[str]) -> None:
        """Says who plays a game at which table."""
        with psycopg.connect(self._postgres.dsn, autocommit=True) as connection:
            connection.execute(
                "insert into replay_tables.sittings (game_id, table_id, hand, names) values (%s, %s, %s, %s)",
                [game_id, table_id, hand, list(names)],
            )


class Watched:
    """What a page complains of, whom it asks beside the service, and the bodies that it gets."""

    def __init__(self, page: Page, home: str) -> None:
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        self.answers: list[Response] = []
        self._home = home
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._note_request)
        page.on("response", self._note_answer)

    def _note_answer(self, answer: Response) -> None:
        self.answers.append(answer)

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith(self._home):
            self.strangers.append(request.url)


@contextmanager
def elsewhere(site_url: str) -> Iterator[str]:
    """Somebody else's server; each of its pages holds the page of the same address here in a frame."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            frame = f"<iframe width=900 height=700 src='{site_url}{self.path}'></iframe>"
            body = f"<!doctype html><title>elsewhere</title><link rel=icon href='data:,'>{frame}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def long_game() -> Game:
    """A game of 1,000 events: single cards only, each beaten by the last of the others if at all."""
    game = Game.deal(RuleSet.preset("shandong-folk"), seed=15)
    while game.to_act:
        seat = game.to_act[0]
        legal = game.legal_actions(seat)
        singles = [action for action in legal if action.kind == "play" and len(action.cards) == 1]
        trick = game.state.public.trick
        passes = bool(trick) and (
            len([move for move in trick if move.cards]) > 1 or (trick[0].seat - seat) % 5 != 1
        )
        choice = legal[-1] if passes or not singles else singles[0]
        game.apply(seat, choice)
    assert game.version >= 1000, game.version
    return game
