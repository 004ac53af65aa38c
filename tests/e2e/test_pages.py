"""Real games of the running platform in the browser's pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from baohuang import Game
from services.local.first_hands import PlayedHand
from services.local.platform import Platform

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

CHROMIUM_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
EVERY_PROCESS = {"engine", "lobby", "lobby-follower", "bots", "replay", "replay-follower"}


def test_pages_of_played_games(platform: Platform, hands: list[PlayedHand]) -> None:
    with httpx.Client(base_url=platform.replay_url) as client:
        home = client.get("/?lang=en").text
        for hand in hands:
            assert f"/replay/{hand.game_id}?lang=en" in home
            game = Game.replay(client.get(f"/v1/games/{hand.game_id}/record").text)
            for step in (*range(1, game.version, 20), game.version):
                for language in ("zh", "en"):
                    page = client.get(f"/replay/{hand.game_id}?step={step}&lang={language}")
                    assert page.status_code == 200
                    assert page.text.count('aria-current="step"') == 1


def test_every_process_is_scraped(platform: Platform, hands: list[PlayedHand]) -> None:
    assert set(platform.metrics_urls) == EVERY_PROCESS
    for name, url in platform.metrics_urls.items():
        answer = httpx.get(url)
        assert answer.status_code == 200, name
        assert "baohuang_" in answer.text, name


def test_running_games_keep_their_secrets(platform: Platform) -> None:
    with httpx.Client(timeout=30) as client:
        table = client.post(
            f"{platform.lobby_url}/v1/tables",
            json={"rules": {"preset": "lianzhong-simple"}, "bots": ["random"] * 5, "hands": 1},
        ).json()
        game_id = table["hands"][0]["game_id"]
        seen = 0
        while True:
            record = client.get(f"{platform.replay_url}/v1/games/{game_id}/record")
            if record.status_code != 200:
                continue
            if record.headers["baohuang-view"] == "whole":
                break
            page = client.get(f"{platform.replay_url}/replay/{game_id}?lang=en").text
            if "still being played" in page:
                seen += 1
                assert 'class="ranks"' not in page, "a hand of a running game is shown"
                assert "(secret)" not in page
            for line in record.text.splitlines():
                assert '"hand_ended"' not in line
    assert seen


class Watched:
    """What a page complains of, and whom it asks beside the service."""

    def __init__(self, page: Page, home: str) -> None:
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        self._home = home
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("requestfailed", lambda request: self.complaints.append(request.url))
        page.on("request", self._note_request)

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith(self._home):
            self.strangers.append(request.url)


@pytest.mark.system
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800)], ids=["phone", "laptop"])
def test_a_replay_in_chromium(platform: Platform, hands: list[PlayedHand], width: int, height: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_ARGUMENTS)
        context = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB")
        page = context.new_page()
        watched = Watched(page, platform.replay_url)
        page.goto(f"{platform.replay_url}/")
        page.click(f"a[href*='{hands[0].game_id}']")
        for _ in range(12):
            here = page.locator("[aria-current=step]").get_attribute("href")
            page.click("text=Next ›")
            assert page.locator("[aria-current=step]").get_attribute("href") != here
        page.click("text=Trick »")
        # By keyboard alone: the first link of the page leads over the head of it.
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "To the content"
        page.click("text=Last ›|")
        assert "The hand is over" in page.inner_text("h2#now")
        page.click("text=中文")
        assert "本局结束" in page.inner_text("h2#now")
        for address in (page.url, f"{platform.replay_url}/"):
            page.goto(address)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()
    assert watched.complaints == []
    assert watched.strangers == []
