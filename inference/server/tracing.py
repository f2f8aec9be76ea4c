"""The engine's spans in the trace of whoever asked it: OpenTelemetry, by its standard variables.

    engine          one sequence, below the request's `traceparent`
      queue         until it ran first
      prefill       until its first token
      first_token   until that token is handed to the response
      decode        until its last

Off unless `OTEL_EXPORTER_OTLP_ENDPOINT` (or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`) is set and the
SDK is installed; then nothing of it is imported. Requests without a well-formed `traceparent` get
no spans: the engine begins no trace of its own. Attributes are counts; no text is among them.
"""

from __future__ import annotations

import os
import time
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from inference.core import FinishReason
from inference.protocol import SequenceOutput

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_FLUSH_MS = 2000

traceparent: ContextVar[str] = ContextVar("traceparent", default="")
"""Of the request that is being answered, as it came."""


@cache
def is_traced() -> bool:
    wanted = any(os.environ.get(name) for name in _ENDPOINTS)
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return wanted and not is_disabled and os.environ.get("OTEL_TRACES_EXPORTER", "otlp") == "otlp"


def tracing_end() -> None:
    """Send what is left, for a moment. Blocks."""
    if is_traced():
        _provider().force_flush(_FLUSH_MS)


class SequenceTrace:
    """The moments of one sequence, which become spans at its end."""

    def __init__(self) -> None:
        self._parent = _parent(traceparent.get()) if is_traced() and traceparent.get() else None
        self._began_at = time.time()
        self._waited_s: float | None = None
        self._first_at: float | None = None
        self._given_at: float | None = None
        self._tokens = 0

    def output(self, output: SequenceOutput) -> None:
        """A step gave it something."""
        self._tokens += len(output.new_token_ids)
        if self._first_at is None and output.new_token_ids:
            self._first_at = time.time()
            self._waited_s = output.waited_s

    def given(self) -> None:
        """What the step gave was handed on."""
        self._given_at = self._given_at or time.time()

    def end(self, reason: FinishReason, *, prompt_tokens: int, cached_tokens: int) -> None:
        """Write the spans, where they are wanted."""
        if self._parent is None:
            return
        from opentelemetry.trace import SpanKind, set_span_in_context

        ended_at = time.time()
        tracer = _provider().get_tracer("parley")
        engine = tracer.start_span(
            "engine",
            self._parent,
            kind=SpanKind.SERVER,
            attributes={
                "gen_ai.provider.name": "parley",
                "gen_ai.usage.input_tokens": prompt_tokens,
                "gen_ai.usage.output_tokens": self._tokens,
                "parley.cached_tokens": cached_tokens,
                "gen_ai.response.finish_reasons": [reason.value],
            },
            start_time=_ns(self._began_at),
        )
        below = set_span_in_context(engine, self._parent)
        for name, begin, end in self._stations(ended_at):
            tracer.start_span(name, below, start_time=_ns(begin)).end(_ns(end))
        engine.end(_ns(ended_at))

    def _stations(self, ended_at: float) -> list[tuple[str, float, float]]:
        if self._first_at is None or self._waited_s is None:
            return [("queue", self._began_at, ended_at)]
        ran_at = min(self._began_at + self._waited_s, self._first_at)
        given_at = self._given_at or ended_at
        return [
            ("queue", self._began_at, ran_at),
            ("prefill", ran_at, self._first_at),
            ("first_token", self._first_at, given_at),
            ("decode", given_at, ended_at),
        ]


def _parent(header: str) -> Context | None:
    """What a `traceparent` names; None where it is malformed, which is to be ignored.

    Source: W3C, "Trace Context", sections 3.2 and 4.3.
    """
    from opentelemetry.context import Context
    from opentelemetry.trace import get_current_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    found = TraceContextTextMapPropagator().extract({"traceparent": header}, Context())
    return found if get_current_span(found).get_span_context().is_valid else None


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)


@cache
def _provider() -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME") or "parley-engine"
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
