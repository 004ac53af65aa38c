"""What the lobby counts, in Prometheus' default registry."""

from prometheus_client import Counter, Gauge

TABLES_OPENED = Counter("baohuang_lobby_tables_opened_total", "Tables opened by this process")
HANDS_OPENED = Counter("baohuang_lobby_hands_opened_total", "Games that this process had the engine create")
HANDS_ENDED = Counter(
    "baohuang_lobby_hands_ended_total",
    "Hands whose end this process stored; a turn that is rolled back counts twice",
    ["termination"],
)
OPENINGS_FAILED = Counter(
    "baohuang_lobby_openings_failed_total", "Attempts to open a hand that failed", ["reason"]
)
TURNS_SENT = Counter("baohuang_lobby_turns_sent_total", "Turns of bots sent to the workers", ["send"])
SENDS_FAILED = Counter("baohuang_lobby_turn_sends_failed_total", "Turns that the broker did not take")
TURNS_WAITING = Gauge("baohuang_lobby_turns_waiting", "Decisions awaited from built-in bots now")
TURNS_LATE = Gauge("baohuang_lobby_turns_late", "... of these, those that were sent more than once")
HANDS_WAITING = Gauge("baohuang_lobby_hands_waiting", "Hands that wait for the engine to create their game")
