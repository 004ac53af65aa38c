"""Real games of the running platform on the pages of the replay service."""

import httpx

from baohuang import Game
from services.local.first_hands import PlayedHand, player_token
from services.local.platform import Platform
from services.replay.steps import spans_of

EVERY_PROCESS = {"engine", "lobby", "lobby-follower", "bots", "replay", "replay-follower"}


def test_pages_of_played_games(platform: Platform, hands: list[PlayedHand]) -> None:
    with httpx.Client(base_url=platform.replay_url) as client:
        home = client.get("/?lang=en").text
        for hand in hands:
            assert f"/replay/{hand.game_id}?lang=en" in home
            game = Game.replay(client.get(f"/v1/games/{hand.game_id}/record").text)
            steps = len(spans_of(game.events))
            for step in (*range(1, steps, 20), steps):
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
        client.headers["Authorization"] = f"Bearer {player_token(client, platform)}"
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
                assert 'class="chips"' not in page, "a hand of a running game is shown"
                assert 'class="stacks"' not in page
                assert "(secret)" not in page
            for line in record.text.splitlines():
                assert '"hand_ended"' not in line
    assert seen
