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
CLOCKS_RUNNING = Gauge("baohuang_lobby_clocks_running", "Decisions awaited from players now")
TURNS_TIMED_OUT = Counter("baohuang_lobby_turns_timed_out_total", "Players whose time this process ended")
CLOCKS_FAILED = Counter(
    "baohuang_lobby_clocks_failed_total",
    "Times and automatic actions that the engine did not take",
    ["reason"],
)
DEPARTURES_FAILED = Counter(
    "baohuang_lobby_departures_failed_total", "Departures that the engine did not take", ["reason"]
)
TICKETS_WAITING = Gauge("baohuang_lobby_tickets_waiting", "Players who wait for a quick match")
REAPED = Counter("baohuang_lobby_reaped_total", "What was ended because nobody was left to end it", ["what"])
LIMITED = Counter("baohuang_lobby_limited_total", "Requests refused because there were too many", ["limit"])
LIMITS_AWAY = Counter(
    "baohuang_lobby_limits_away_total", "Requests let through because nothing could be counted"
)
STREAMS = Gauge("baohuang_lobby_streams", "Streams that are open", ["kind"])
STREAMS_CUT = Counter(
    "baohuang_lobby_streams_cut_total", "Streams that ended because of their reader", ["why"]
)
