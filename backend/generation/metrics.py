"""Prometheus metrics of generations. Labels are models and plans: both few, neither content."""

from prometheus_client import Counter, Gauge, Histogram

_LATENCY_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_TOKEN_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)

TTFT = Histogram(
    "parley_generation_ttft_seconds",
    "From the admission of a generation to its first delivered text.",
    ["model", "plan"],
    buckets=_LATENCY_S,
)
INTER_TOKEN = Histogram(
    "parley_generation_inter_token_seconds",
    "Mean time between delivered tokens, one observation a generation.",
    ["model", "plan"],
    buckets=_TOKEN_S,
)
DURATION = Histogram(
    "parley_generation_duration_seconds",
    "From admission to the terminal state.",
    ["model", "plan", "state"],
    buckets=(*_LATENCY_S, 120, 300),
)
STATION = Histogram(
    "parley_generation_station_seconds",
    "How long generations were at each station on their way, from the request to the last event.",
    ["station", "model"],
    buckets=(0.0001, 0.0005, 0.001, 0.002, 0.005, *_LATENCY_S),
)
TOKENS = Counter(
    "parley_generation_tokens_total", "Tokens metered.", ["model", "plan", "direction"]
)
ACTIVE = Gauge("parley_generations_active", "Generations at a replica.", ["model"])
QUEUED = Gauge("parley_generations_queued", "Generations waiting for a place.", ["model"])
QUEUE_DEPTH = Gauge(
    "parley_queue_depth",
    "Generations of all web processes that wait for a place.",
    ["model"],
    multiprocess_mode="livemostrecent",
)
QUEUE_WAIT = Gauge(
    "parley_queue_wait_seconds",
    "How long the last in the queue will probably wait.",
    ["model"],
    multiprocess_mode="livemostrecent",
)
REFUSED = Counter(
    "parley_generations_refused_total", "Refused before they began.", ["model", "plan", "code"]
)
FALLBACKS = Counter(
    "parley_generation_fallbacks_total",
    "Requests served by another model than the one asked for, which took none.",
    ["model", "to"],
)
ROUTED = Counter(
    "parley_generation_routed_total",
    "Requests of an alias that went to the simple model beside the usual one.",
    ["model", "to", "reason"],
)
SHADOW_COPIES = Counter(
    "parley_generation_shadow_copies_total",
    "Copies of requests for a model that is only looked at.",
    ["model", "candidate", "outcome"],
)
REUSE = Counter(
    "parley_answer_reuse_total",
    "Requests that another one's answer might have answered, by what was found: `shared` (a"
    " running one), `exact`, `miss`; `continued`: a leader ended early.",
    ["model", "source"],
)
SHED = Counter("parley_requests_shed_total", "Refused before they were looked at.", ["reason"])
FAILOVERS = Counter(
    "parley_generation_failovers_total", "Generations continued from another process.", ["model"]
)
REPLICA_RETRIES = Counter(
    "parley_generation_replica_retries_total",
    "Upstream requests repeated or continued after a replica failed.",
    ["model"],
)
REAPED = Counter("parley_generations_reaped_total", "Settled after process and buffer were lost.")
REPLICA_UP = Gauge("parley_replica_up", "1 when the replica takes work.", ["model", "replica"])
BUFFER_ROUNDS = Counter("parley_stream_buffer_rounds_total", "Batched appends to the buffer.")
BUFFER_ERRORS = Counter("parley_stream_buffer_errors_total", "Appends that did not reach Redis.")
BUFFER_LOST = Counter(
    "parley_stream_buffer_restored_total", "Leases restored after Redis lost them."
)
RECOVERY_FAILURES = Counter(
    "parley_generation_recovery_failures_total",
    "Attempts to fail over, restore or settle one generation that met an unexpected exception.",
    ["step"],
)
# There from the start: an alert on an increase misses a counter that begins with its first event.
for _step in ("failover", "heartbeat", "reaper"):
    RECOVERY_FAILURES.labels(_step)
LOOP_FAILURES = Counter(
    "parley_loop_failures_total", "Background loops that failed and were started again.", ["loop"]
)
