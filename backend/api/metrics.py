"""Prometheus metrics of HTTP. Labels are route patterns, never raw paths or ids."""

from django.http import HttpRequest
from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter(
    "parley_http_requests_total", "HTTP requests answered.", ["method", "route", "status"]
)
DURATION = Histogram(
    "parley_http_request_duration_seconds",
    "From the first byte read to the last byte sent; whole streams included.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)
IN_FLIGHT = Gauge("parley_http_requests_in_flight", "HTTP requests not yet answered in full.")
WEBSOCKETS = Gauge("parley_websocket_connections", "Open /ws/events connections.")

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def route_label(request: HttpRequest) -> str:
    """The matched URL pattern: `/v1/models/<path:model_id>`, `/static/`, or `unmatched`."""
    match = request.resolver_match
    if match is not None:
        return f"/{match.route}"
    return "/static/" if request.path.startswith("/static/") else "unmatched"


def method_label(request: HttpRequest) -> str:
    """The method, with invented ones as `OTHER`, so that a client cannot grow the series."""
    method = request.method or ""
    return method if method in _METHODS else "OTHER"
