"""What the workers count; with `PROMETHEUS_MULTIPROC_DIR` set before the import, over all their processes."""

from prometheus_client import Counter, Histogram

from baohuang.bots import BOT_NAMES

TURNS = Counter(
    "baohuang_bots_turns_total", "Turns taken from the queue, by what came of them", ["bot", "result"]
)
FAULTS = Counter(
    "baohuang_bots_faults_total",
    "Answers of bots that could not be taken, by what was wrong",
    ["bot", "fault"],
)
CHOICE_SECONDS = Histogram(
    "baohuang_bots_choice_seconds",
    "How long bots thought",
    ["bot"],
    buckets=(0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5),
)

# There from the start: a series that begins at one has no rate, so the first fault would go unseen.
for _bot in (*BOT_NAMES, "unknown"):
    TURNS.labels(_bot, "refused")
    for _fault in ("illegal", "no_action"):
        FAULTS.labels(_bot, _fault)
