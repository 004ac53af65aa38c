"""A client that survives restarts of the server, with nothing but the standard library.

python examples/steady_client.py --lobby http://127.0.0.1:8000 --hands 1
"""

from __future__ import annotations

import argparse
import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

SILENCE_SECONDS = 20
NO_ANSWERS = {429, 503, 504}


class Lobby:
    """A player's requests, each sent again for as long as it has no answer."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.headers = {"Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: object = None, key: str = "") -> tuple[int, Any]:
        """Status and JSON of the answer."""
        while True:
            try:
                with self.open(method, path, body, {"Idempotency-Key": key} if key else {}) as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code not in NO_ANSWERS:
                    return error.code, json.load(error)
            except (OSError, ValueError):
                pass  # the server is away, or went away in the middle of its answer
            time.sleep(0.2)

    def open(self, method: str, path: str, body: object, headers: dict[str, str]) -> Any:
        """The answer as it arrives."""
        data = None if body is None else json.dumps(body).encode()
        url, sent = self.address + path, self.headers | headers
        request = urllib.request.Request(url, data, sent, method=method)  # noqa: S310 (its user names it)
        return urllib.request.urlopen(request, timeout=SILENCE_SECONDS)  # noqa: S310

    def my_games(self) -> Iterator[tuple[str, Any]]:
        """What the stream of all games says, opened again wherever it breaks off."""
        last_id = ""
        while True:
            headers = {"Last-Event-ID": last_id} if last_id else {}
            try:
                with self.open("GET", "/v1/me/games/stream", None, headers) as lines:
                    event, event_id = "", last_id
                    for line in lines:
                        name, _, value = line.decode().rstrip("\n").partition(": ")
                        if name == "event":
                            event = value
                        elif name == "id":
                            event_id = value
                        elif name == "data":
                            yield event, json.loads(value)
                            # Only now: should we fall before this, we are told it again.
                            last_id = event_id
            except urllib.error.HTTPError as error:
                if error.code not in NO_ANSWERS:
                    raise
            except (OSError, ValueError):
                pass
            print("the stream broke off; opening it again", flush=True)
            time.sleep(0.2)


def act(lobby: Lobby, game_id: str) -> None:
    """Do what is awaited in a game, if anything is: the first action listed."""
    status, offered = lobby.ask("GET", f"/v1/games/{game_id}/legal-actions")
    if status != 200 or not offered["actions"]:
        return
    body = {"action": offered["actions"][0], "expected_version": offered["version"]}
    # A refusal means that somebody was quicker: the server's clock, or we ourselves before a break.
    lobby.ask("POST", f"/v1/games/{game_id}/actions", body, key=f"{game_id}.{offered['version']}")


def main() -> None:
    """Plays some hands with built-in bots."""
    parser = argparse.ArgumentParser(description="Plays hands on a lobby that may be restarted meanwhile.")
    parser.add_argument("--lobby", default="http://127.0.0.1:8000")
    parser.add_argument("--hands", type=int, default=1)
    arguments = parser.parse_args()

    lobby = Lobby(arguments.lobby)
    _, registered = lobby.ask("POST", "/v1/players", {"name": f"steady {secrets.token_hex(4)}"})
    lobby.headers["Authorization"] = f"Bearer {registered['secret']}"
    table = {"rules": {"preset": "marked-guard"}, "hands": arguments.hands, "pace": {"pause_seconds": 0}}
    _, table = lobby.ask("POST", "/v1/tables", table, key="table")
    lobby.ask("POST", f"/v1/tables/{table['table_id']}/start", {"bot": "random"}, key="start")
    print(f"table {table['table_id']}", flush=True)

    left = arguments.hands
    for event, data in lobby.my_games():
        if event == "all_games":
            for game in data["games"]:
                act(lobby, game["game_id"])
        elif event in ("began", "asked"):
            act(lobby, data["game_id"])
        elif event == "ended":
            print(f"{data['game_id']}: {data['outcome']['scores'][data['seat']]:+d}", flush=True)
            left -= 1
            if not left:
                return


if __name__ == "__main__":
    main()
