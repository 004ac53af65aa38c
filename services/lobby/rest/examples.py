"""Examples of the OpenAPI document, by operation. A test holds them against the schemas."""

from __future__ import annotations

from typing import Any, Final

_PLAYER: Final = {
    "player_id": "k3v7q2w5n6m4x8c2b9z5a7s3d4",
    "name": "保皇高手",
    "is_bot": False,
    "created_at_ms": 1_790_000_000_000,
}
_TOKEN: Final = {
    "token_id": "d4f6g7h2j3k5l7q2w4e6r7t2y3",
    "label": "",
    "scopes": ["play"],
    "created_at_ms": 1_790_000_000_000,
    "expires_at_ms": None,
}
_SECRET: Final = "bh_0123456789abcdef0123456789abcdef0123456789abcdef"
_RULES: Final = {"preset": "lianzhong-simple", "options": {"kaopai": True}}
_TABLE_ID: Final = "b2c4d6f3g5h7j2k4l6m3n5p7q2"
_GAME_ID: Final = "w3e5r7t2y4u6i3o5p7a2s4d6f3"


def _seat(seat: int, player: dict[str, Any] | None, bot: str | None) -> dict[str, Any]:
    return {"seat": seat, "player": player, "bot": bot, "ready": bot is not None, "away": False}


_TABLE: Final = {
    "table_id": _TABLE_ID,
    "status": "gathering",
    "created_at_ms": 1_790_000_000_000,
    "rules": _RULES,
    "host": _PLAYER,
    "is_private": False,
    "code": None,
    "bots_allowed": True,
    "pace": {"turn_seconds": 30, "opening_seconds": 30, "pause_seconds": 15},
    "spectator_delay": 0,
    "seats": [_seat(0, _PLAYER, None), *(_seat(seat, None, "greedy") for seat in (1, 2)), *(
        _seat(seat, None, None) for seat in (3, 4)
    )],
    "hands_to_play": 3,
    "hands": [],
    "totals": {"hands": 0, "counted": 0, "scores": [0] * 5, "penalties": [0] * 5},
    "next_hand": {"first_drawer": 0, "dues": []},
    "reason": None,
}  # fmt: skip
_TICKET: Final = {
    "ticket_id": "z2x4c6v3b5n7m2a4s6d3f5g7h2",
    "status": "waiting",
    "rules": _RULES,
    "hands": 3,
    "created_at_ms": 1_790_000_000_000,
    "waiting": 2,
    "table_id": None,
}
_APPLIED: Final = {
    "game_id": _GAME_ID,
    "version": 42,
    "events": [{"event": "played", "seat": 0, "cards": "7c 7d BJ"}],
    "outcome": None,
}
_MY_GAME: Final = {"game_id": _GAME_ID, "table_id": _TABLE_ID, "seat": 0, "version": 41, "to_act": True}
_VIEW: Final = {
    "viewer": 0,
    "public": {
        "rules": _RULES,
        "first_drawer": 0,
        "dues": [],
        "commitment": "00" * 32,
        "version": 41,
        "opened_version": 41,
        "step": "play",
        "to_act": [0],
        "answered": [],
        "nonces": [None] * 5,
        "deck": "6c 6c 6d",
        "redeal": 0,
        "given_deal": False,
        "counts": [12, 20, 18, 25, 9],
        "first_holder": 2,
        "holder": 2,
        "yields": 0,
        "carried_count": 0,
        "emperor": 2,
        "called": None,
        "guard": None,
        "open_solo": False,
        "open_guard": False,
        "rebels": [],
        "rebellion": False,
        "counters": [],
        "counter": False,
        "recounters": [],
        "recounter": False,
        "table": {"seat": 4, "cards": "6s 6s"},
        "passes": 0,
        "trick": [{"seat": 4, "cards": "6s 6s"}],
        "tricks": [],
        "places": [None] * 5,
        "cleared": [],
        "auto_play": [False] * 5,
        "auto_play_starts": [0] * 5,
        "forfeited": [False] * 5,
        "outcome": None,
    },
    "own": {
        "seat": 0,
        "hand": "7c 7d 9h BJ",
        "to_act": True,
        "guard": None,
        "carried": "",
        "laid": "",
        "answers": [],
        "gifts": [],
    },
    "hands": None,
}

REQUESTS: Final[dict[str, Any]] = {
    "register": {"name": "保皇高手"},
    "add_token": {"label": "my laptop", "scopes": ["play"], "expires_in_seconds": 2_592_000},
    "create_table": {
        "rules": _RULES,
        "hands": 3,
        "bots": [None, "greedy", "greedy", None, None],
        "pace": {"turn_seconds": 30},
    },
    "join": {"table_id": _TABLE_ID, "seat": 3},
    "leave": {"by_force": False},
    "set_ready": {"ready": True},
    "start": {"bot": "greedy"},
    "seat_bot": {"bot": "greedy"},
    "request_match": {"rules": _RULES, "hands": 3, "bots_after_seconds": 60},
    "act": {"action": "play 7c 7d BJ", "expected_version": 41},
    "set_auto_play": {"auto_play": False},
}
"""Of request bodies."""

ANSWERS: Final[dict[str, Any]] = {
    "register": {"player": _PLAYER, "token": _TOKEN, "secret": _SECRET},
    "get_me": _PLAYER,
    "get_player": _PLAYER,
    "list_tokens": {"tokens": [_TOKEN]},
    "add_token": {"token": _TOKEN, "secret": _SECRET},
    "get_rules": {
        "presets": [{"name": "lianzhong-simple", "values": {"kaopai": False}}],
        "options": [{"name": "kaopai", "choices": ["true", "false"]}],
        "bots": ["random", "greedy"],
    },
    "list_tables": {
        "tables": [
            {
                "table_id": _TABLE_ID,
                "status": "gathering",
                "created_at_ms": 1_790_000_000_000,
                "rules": _RULES,
                "hands_to_play": 3,
                "hands_played": 0,
                "free_seats": 2,
                "bots_allowed": True,
                "latest_game_id": None,
            }
        ],
        "next": None,
    },
    **dict.fromkeys(
        (
            "create_table",
            "get_table",
            "join",
            "leave",
            "set_ready",
            "start",
            "seat_bot",
            "unseat_bot",
            "dissolve",
            "remove_player",
        ),
        _TABLE,
    ),
    **dict.fromkeys(("request_match", "get_match", "cancel_match"), _TICKET),
    "get_view": {"game_id": _GAME_ID, "view": _VIEW, "deadline_ms": 1_790_000_030_000},
    "get_legal_actions": {
        "game_id": _GAME_ID,
        "version": 41,
        "actions": ["play 7c 7d", "play 9h BJ", "pass"],
        "deadline_ms": 1_790_000_030_000,
    },
    **dict.fromkeys(("act", "set_auto_play"), _APPLIED),
    "list_my_games": {"games": [_MY_GAME], "cursor": "3f2-1a"},
}
"""Of answers."""


def _problem(reason: str, status: int, detail: str, **more: Any) -> dict[str, Any]:
    return {
        "type": f"urn:baohuang:{reason.lower().replace('_', '-')}",
        "title": reason.replace("_", " ").capitalize(),
        "status": status,
        "reason": reason,
        "detail": detail,
        **more,
    }


PROBLEMS: Final[dict[str, Any]] = {
    "400": _problem(
        "MALFORMED_REQUEST",
        400,
        "hands: Expected `int`, got `str`",
        violations=[{"field": "hands", "problem": "Expected `int`, got `str`"}],
    ),
    "401": _problem("UNAUTHENTICATED", 401, "this token is unknown, was revoked, or has expired"),
    "403": _problem("FORBIDDEN", 403, "you have no seat in this game"),
    "404": _problem("TABLE_NOT_FOUND", 404, "there is no table 'nothing'"),
    "409": _problem(
        "VERSION_CONFLICT",
        409,
        "expected version 40, but the game is at version 41",
        details={"version": "41"},
    ),
    "413": _problem("REQUEST_TOO_LARGE", 413, "Request Entity Too Large"),
    "422": _problem(
        "NOT_YOUR_TURN", 422, "it is not the turn of seat 0; awaited in the step play: 3", clause="R3.3"
    ),
    "429": _problem(
        "RATE_LIMITED",
        429,
        "too many requests: at most 3000 a minute; try again in 2 s",
        details={"limit": "requests", "seconds": "2"},
    ),
    "503": _problem("STORE_UNAVAILABLE", 503, "the event store cannot answer now"),
    "504": _problem("DEADLINE_EXCEEDED", 504, "Deadline Exceeded"),
}
"""Of refusals, by status."""
