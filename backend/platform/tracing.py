"""OpenTelemetry in the processes of the product, by its standard variables.

Off unless `OTEL_EXPORTER_OTLP_ENDPOINT` (or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`) names where spans
go; nothing of the SDK is imported then. Sampling is `OTEL_TRACES_SAMPLER`'s, the batches'
`OTEL_BSP_…`. Spans leave by OTLP over HTTP, from a thread of their own; a collector that is away
costs spans, and nothing else.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import SpanContext, Tracer

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_FLUSH_MS = 2000


@cache
def is_traced() -> bool:
    """Whether this process sends spans."""
    wanted = any(os.environ.get(name) for name in _ENDPOINTS)
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return wanted and not is_disabled and os.environ.get("OTEL_TRACES_EXPORTER", "otlp") == "otlp"


def tracer() -> Tracer:
    """Of this process; only where `is_traced`."""
    return _provider().get_tracer("parley")


def tracing_end() -> None:
    """Send what is left, for a moment. Blocks."""
    if is_traced():
        _provider().force_flush(_FLUSH_MS)


def parent_of(traceparent: str) -> SpanContext | None:
    """What a `traceparent` names; None where it is malformed, which is to be ignored.

    Source: W3C, "Trace Context", sections 3.2 and 4.3.
    """
    from opentelemetry.trace import SpanContext, TraceFlags

    if not is_well_formed(traceparent):
        return None
    _, trace_id, span_id, flags = traceparent.split("-")[:4]
    sampled = TraceFlags(int(flags, 16) & TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=sampled)


def is_well_formed(traceparent: str) -> bool:
    """By the W3C's recommendation; version 00 has four fields, later ones may have more."""
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None or (found[1] == "00" and found[5]):
        return False
    return int(found[2], 16) != 0 and int(found[3], 16) != 0


def traceparent_of(context: SpanContext) -> str:
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags) & 1:02x}"


@cache
def _provider() -> TracerProvider:
    """One a process: built when first asked for, after the server has forked."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME") or "parley-web"
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
