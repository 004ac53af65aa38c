"""What the engine counts beyond the kit's requests and the event store's appends."""

from typing import Final

from prometheus_client import Counter, Gauge

CACHE: Final = Counter(
    "baohuang_engine_cache_lookups_total",
    "Commands and questions, by what the cache held for their game: the current state, an older one, or none",
    ["state"],
)
GAMES_FINISHED: Final = Counter(
    "baohuang_engine_games_finished_total", "Games that this process ended", ["rules", "termination"]
)
STREAMS: Final = Gauge("baohuang_engine_streams", "Seats that play over a stream of this process")
