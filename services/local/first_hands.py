"""The hands that `up` plays: one table for each rule set, opened over the lobby's REST interface."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from services.local.platform import Platform
from services.local.server import Deadline

BOTS = ("greedy", "random", "greedy", "random", "greedy")
TOKEN_FILE = "player-token"  # noqa: S105 (a name, not a secret)
"""In the data folder: the secret of the player who opens the first tables, for whoever reads that folder."""

_REQUEST_SECONDS = 10.0
_LONGEST_WAIT_SECONDS = 300.0
_LOOK_SECONDS = 0.25
_LEAST_FREE_BYTES = 8 << 20


class HandFailed(RuntimeError):
    """A table could not be opened, or its hand was not played to an end."""


@dataclass(frozen=True)
class PlayedHand:
    """A hand and how it ended. `emperor` and `guard` are seats, None where there was none; one in a solo."""

    rules: str
    table_id: str
    game_id: str
    termination: str
    solo: str
    emperor: int | None
    guard: int | None
    places: tuple[int, ...] | None
    scores: tuple[int, ...]
    seconds: float


def play_first_hands(platform: Platform, presets: Sequence[str]) -> list[PlayedHand]:
    """Open a table for each preset, wait until each has played one hand and the replay service shows it.

    The platform is looked after meanwhile. Raises HandFailed, and what `look_after` and `pause` raise.
    """
    with httpx.Client(timeout=_REQUEST_SECONDS, trust_env=False) as client:
        client.headers["Authorization"] = f"Bearer {player_token(client, platform)}"
        tables = [_open_table(client, platform, preset) for preset in presets]
        played: dict[str, PlayedHand] = {}
        deadline = Deadline(_LONGEST_WAIT_SECONDS)
        while len(played) < len(tables):
            platform.pause(_LOOK_SECONDS)
            platform.look_after()
            _check_disk(platform.data_dir)
            for table_id in tables:
                if table_id not in played:
                    hand = _look_at_table(client, platform, table_id)
                    if hand is not None:
                        played[table_id] = hand
                        deadline = Deadline(_LONGEST_WAIT_SECONDS)
            if deadline.has_passed():
                raise HandFailed(
                    f"no further hand was finished within {_LONGEST_WAIT_SECONDS:.0f} s: the processes run, "
                    "but do not get on; their logs may say why"
                )
    return [played[table_id] for table_id in tables]


def player_token(client: httpx.Client, platform: Platform) -> str:
    """The token of the platform's own player, who is registered at the first call. Raises HandFailed."""
    path = platform.data_dir / TOKEN_FILE
    try:
        if path.exists():
            secret = path.read_text("ascii").strip()
            answer = client.get(f"{platform.lobby_url}/v1/me", headers={"Authorization": f"Bearer {secret}"})
            if answer.is_success:
                return secret
        answer = client.post(
            f"{platform.lobby_url}/v1/players", json={"name": f"local {secrets.token_hex(4)}"}
        )
        secret = str(answer.raise_for_status().json()["secret"])
    except httpx.HTTPError as error:
        raise HandFailed(f"the lobby registered no player: {error}") from error
    path.touch(mode=0o600)
    path.write_text(f"{secret}\n", "ascii")
    return secret


def count_finished_games(replay_url: str) -> int:
    """How many finished games the replay service knows. Raises HandFailed if it does not say."""
    try:
        answer = httpx.get(f"{replay_url}/v1/totals", timeout=_REQUEST_SECONDS, trust_env=False)
        return int(answer.raise_for_status().json()["finished"])
    except httpx.HTTPError as error:
        raise HandFailed(f"the replay service does not say what games there are: {error}") from error


def _open_table(client: httpx.Client, platform: Platform, preset: str) -> str:
    # With a key the request may be sent again: it opens one table at most.
    headers = {"Idempotency-Key": secrets.token_urlsafe(16)}
    body = {"rules": {"preset": preset}, "bots": list(BOTS), "hands": 1}
    deadline = Deadline(60.0)
    while True:
        problem: str
        try:
            answer = client.post(f"{platform.lobby_url}/v1/tables", json=body, headers=headers)
        except httpx.TransportError as error:
            problem = f"{type(error).__name__}: {error}"
        else:
            if answer.is_success:
                return str(answer.json()["table_id"])
            problem = f"{answer.status_code}: {answer.text[:300]}"
            if answer.is_client_error:
                raise HandFailed(f"the lobby opened no table for {preset}: {problem}")
        if deadline.has_passed():
            raise HandFailed(f"the lobby opened no table for {preset}: {problem}")
        platform.pause(_LOOK_SECONDS)


def _look_at_table(client: httpx.Client, platform: Platform, table_id: str) -> PlayedHand | None:
    """The table's first hand once it has ended and can be replayed; None before, and while one is away."""
    try:
        table = client.get(f"{platform.lobby_url}/v1/tables/{table_id}")
        if not table.is_success:
            return None
        return _played_hand(client, platform.replay_url, table.json())
    except httpx.TransportError:
        return None


def _played_hand(client: httpx.Client, replay_url: str, table: dict[str, Any]) -> PlayedHand | None:
    if table["status"] == "failed":
        raise HandFailed(f"the table {table['table_id']} failed: {table['failure']}")
    hands = table["hands"]
    if not hands or hands[0]["outcome"] is None:
        return None
    game_id = hands[0]["game_id"]
    game = client.get(f"{replay_url}/v1/games/{game_id}")
    if not game.is_success or game.json()["status"] != "finished":
        return None
    outcome = hands[0]["outcome"]
    emperor, guard = _royals(outcome)
    return PlayedHand(
        rules=table["rules"]["preset"],
        table_id=table["table_id"],
        game_id=game_id,
        termination=outcome["termination"],
        solo=outcome["solo"],
        emperor=emperor,
        guard=guard,
        places=None if outcome["places"] is None else tuple(outcome["places"]),
        scores=tuple(outcome["scores"]),
        seconds=(hands[0]["ended_at_ms"] - hands[0]["created_at_ms"]) / 1000,
    )


def _royals(outcome: dict[str, Any]) -> tuple[int | None, int | None]:
    roles = outcome["roles"]
    if roles is None:
        return None, None
    emperor = roles.index("emperor")
    return emperor, roles.index("guard") if "guard" in roles else emperor


def _check_disk(data_dir: Path) -> None:
    free = shutil.disk_usage(data_dir).free
    if free < _LEAST_FREE_BYTES:
        raise HandFailed(
            f"the disk of {data_dir} is full ({free >> 10} KiB left): free some space, or choose another "
            "folder with --data, and start again"
        )
