"""What a first look at a game costs, and what a step costs in Debian's Chromium, where it is installed.

The service is a process of its own; a game of 300 events is read, folded and drawn.
"""

import asyncio
import gzip
import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from baohuang.rpc.codec import encode_events
from baohuang.words import Language
from benchmarks import servers
from benchmarks.figures import Figure, figure, percentile
from benchmarks.hands import hand
from services.eventstore import EventStore, make_pool, migrate
from services.replay.__main__ import MIGRATIONS
from services.replay.frames import frames_of
from services.replay.library import Library
from services.replay.look import Look
from services.replay.sittings import Sitting, Sittings
from services.replay.viewer import render_replay

ROUNDS = 30
CHROMIUM = Path("/usr/bin/chromium")
LOOK = Look(Language.CHINESE)
MILLISECONDS = 1000.0

# Each key waits for the step to be drawn, as an eye does.
STEP = """async () => {
  const times = [];
  for (let round = 0; round < 200; round++) {
    const key = round % 100 < 80 ? "ArrowRight" : "ArrowLeft";
    const started = performance.now();
    document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    document.body.getBoundingClientRect();
    times.push(performance.now() - started);
    await new Promise((drawn) => requestAnimationFrame(drawn));
  }
  return times;
}"""
INTERACTIVE = """async () => {
  while (document.querySelector("#viewer[data-ready]") === null) {
    await new Promise((drawn) => requestAnimationFrame(drawn));
  }
  return performance.now();
}"""


def measure() -> list[Figure]:
    with servers.folder() as where, servers.postgres(where) as database_url:
        migrate(database_url, "replay", MIGRATIONS)
        figures = asyncio.run(_served(database_url))
        if CHROMIUM.exists() and importlib.util.find_spec("playwright"):
            with serving(database_url) as url:
                figures += _browsed(url)
    return figures


async def _served(database_url: str) -> list[Figure]:
    events = hand(0).events
    async with make_pool(database_url, max_size=2, application="bench") as pool:
        store = EventStore(pool)
        await store.append(
            "game",
            command_id="bench",
            fingerprint=b"",
            expected_version=0,
            payload=encode_events(events),
            event_count=len(events),
        )
        cold, warm, framed = [], [], []
        for _ in range(ROUNDS):
            library = Library(store, Sittings(pool))
            for times in (cold, warm):
                started = time.perf_counter()
                shelved = await library.find("game")
                page = render_replay(shelved, Sitting(), LOOK)
                times.append((time.perf_counter() - started) * MILLISECONDS)
            started = time.perf_counter()
            frames = msgspec.json.encode(frames_of(shelved.game, LOOK))
            framed.append((time.perf_counter() - started) * MILLISECONDS)
    sizes = [len(gzip.compress(body, 6)) / 1000 for body in (page.encode(), frames)]
    return [
        figure("viewer: page of a game that was not at hand", "ms", cold, 50, is_ceiling=True),
        figure("viewer: page of a game at hand", "ms", warm, 50, is_ceiling=True),
        figure("viewer: frames of a game", "ms", framed),
        figure("viewer: page, compressed", "kB", sizes[:1]),
        figure("viewer: frames, compressed", "kB", sizes[1:]),
    ]


def _browsed(url: str) -> list[Figure]:
    from playwright.sync_api import sync_playwright

    interactive, steps, sizes = [], [], []
    with sync_playwright() as playwright:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        for _ in range(10):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            sent: list[Any] = []
            page.on("requestfinished", lambda request, sent=sent: sent.append(request))
            page.goto(f"{url}/replay/game?lang=zh")
            interactive.append(page.evaluate(INTERACTIVE))
            sizes.append(sum([request.sizes()["responseBodySize"] for request in sent]) / 1000)
            steps.append(percentile(page.evaluate(STEP), 95))
            context.close()
        browser.close()
    return [
        figure("viewer: first view, all that is sent", "kB", sizes, 150, is_ceiling=True),
        figure("viewer: from navigation to interactive", "ms", interactive, 300, is_ceiling=True),
        figure("viewer: a step with its layout, 95th percentile", "ms", steps, 16, is_ceiling=True),
    ]


@contextmanager
def serving(database_url: str) -> Iterator[str]:
    """The replay service as a process; gives its address."""
    settings = {"BAOHUANG_DATABASE_URL": database_url, "BAOHUANG_VALKEY_URL": ""}
    with servers.listening("services.replay", **settings) as address:
        yield f"http://{address}"
