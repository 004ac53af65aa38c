"""What the sender of a task and its worker agree on: names, with ids alone as arguments."""

from __future__ import annotations

from typing import Final

BOTS_QUEUE: Final = "baohuang.bots"
TAKE_TURN: Final = "bots.take_turn"
"""Arguments: game_id, seat, version, bot."""
