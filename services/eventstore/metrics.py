"""What the store counts, in Prometheus' default registry."""

from prometheus_client import Counter, Gauge

COMMITS_APPENDED = Counter(
    "baohuang_log_commits_appended_total", "Commits appended to the log by this process"
)
EVENTS_APPENDED = Counter("baohuang_log_events_appended_total", "Events appended to the log by this process")
APPENDS_REFUSED = Counter("baohuang_log_appends_refused_total", "Appends refused by the log", ["reason"])
UNAVAILABLE = Counter("baohuang_log_unavailable_calls_total", "Calls that the database could not answer")

COMMITS_APPLIED = Counter(
    "baohuang_subscription_commits_applied_total", "Commits applied by this process", ["subscription"]
)
COMMITS_PARKED = Counter(
    "baohuang_subscription_commits_parked_total",
    "Commits parked by this process with their error",
    ["subscription"],
)
TURNS_FAILED = Counter(
    "baohuang_subscription_turns_failed_total",
    "Turns rolled back because the database failed or another worker was faster",
    ["subscription", "reason"],
)
LAG_SECONDS = Gauge(
    "baohuang_subscription_lag_seconds", "Age of the oldest commit that was not applied yet", ["subscription"]
)
LAG_COMMITS = Gauge(
    "baohuang_subscription_lag_commits", "Commits not applied yet; counting stops at 64,000", ["subscription"]
)
PARKED = Gauge("baohuang_subscription_parked_commits", "Commits that are parked now", ["subscription"])
HORIZON_HIDDEN_SECONDS = Gauge(
    "baohuang_log_horizon_hidden_seconds",
    "Age of the oldest commit that open transactions hide from the readers",
)
HORIZON_HIDDEN_COMMITS = Gauge(
    "baohuang_log_horizon_hidden_commits", "Commits that open transactions hide from the readers"
)
