"""Prometheus metrics of accounts."""

from prometheus_client import Counter, Gauge

MAILS = Gauge(
    "parley_mails",
    "Mails of the last day that wait for the mail server, and that were given up.",
    ["state"],
    multiprocess_mode="mostrecent",
)
SIGN_INS = Counter("parley_sign_ins_total", "Sign-ins that were let in.", ["factor"])
