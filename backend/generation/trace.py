"""The spans of one generation: the whole, its stations, and each request to a replica.

    generation              from the request's first byte to the last event
      edge … buffer         the stations (stations.py), written at the end from the clock
      attempt               one request to a replica; its `traceparent` goes with it
        engine              the engine's own (inference/server/tracing.py)
      failover              in a process that goes on with it, and its attempts below

No attribute holds text of a prompt or an answer, a name, an address or an error's message: ids,
models, states and counts are all. Where tracing is off, the client's `traceparent` goes on to the
replica as it came.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backend.generation.stations import StationClock
from backend.platform.tracing import (
    is_traced,
    is_well_formed,
    parent_of,
    traceparent_of,
    tracer,
)

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

Attributes = Mapping[str, str | int | float | bool | Sequence[str]]


class GenerationTrace:
    """
    Attributes:
        traceparent: of the whole; "" where there is none.
    """

    def __init__(self, traceparent: str, span: Span | None = None) -> None:
        self.traceparent = traceparent
        self._span = span

    @classmethod
    def begin(cls, clock: StationClock, traceparent: str) -> GenerationTrace:
        """Of a request that has come in with this header."""
        return cls._begun("generation", traceparent, clock.arrived_at or clock.started_at)

    @classmethod
    def resumed(cls, traceparent: str) -> GenerationTrace:
        """Of a generation that another process began, under `traceparent`."""
        return cls._begun("failover", traceparent, time.monotonic())

    @classmethod
    def _begun(cls, name: str, traceparent: str, at: float) -> GenerationTrace:
        if not is_traced():
            return cls(traceparent if is_well_formed(traceparent) else "")
        from opentelemetry.trace import SpanKind

        kind = SpanKind.SERVER if name == "generation" else SpanKind.INTERNAL
        span = tracer().start_span(name, _below(traceparent), kind=kind, start_time=_epoch_ns(at))
        return cls(traceparent_of(span.get_span_context()), span)

    @contextmanager
    def attempt(self, attributes: Attributes) -> Iterator[str]:
        """One request to a replica: the `traceparent` to send with it, "" for none. It fails with
        the exception's type; what the exception says may be of the prompt."""
        if self._span is None:
            yield self.traceparent
            return
        from opentelemetry.trace import SpanKind, StatusCode

        span = tracer().start_span(
            "attempt", _under(self._span), kind=SpanKind.CLIENT, attributes=dict(attributes)
        )
        try:
            yield traceparent_of(span.get_span_context())
        except BaseException as error:
            span.set_status(StatusCode.ERROR)
            span.set_attribute("error.type", type(error).__name__)
            raise
        finally:
            span.end()

    def end(self, clock: StationClock | None, attributes: Attributes, *, failed: bool) -> None:
        """The generation has ended; its stations become spans now.

        Args:
            clock: None where it did not come so far.
        """
        if self._span is None:
            return
        if not self._span.is_recording():  # not sampled
            self._span = None
            return
        from opentelemetry.trace import StatusCode

        for name, begin, end in clock.spans() if clock is not None else ():
            self._station(name, begin, end)
        if clock is not None and clock.pre_check_at is not None:
            self._station("pre_check", clock.pre_check_at, clock.pre_check_at + clock.pre_check_s)
        if clock is not None and clock.first_text_at is not None:
            # The sum of what it took of each chunk.
            begin = clock.answered_at or clock.first_text_at
            self._station("post_check", begin, begin + clock.post_check_s)
        self._span.set_attributes(dict(attributes))
        if failed:
            self._span.set_status(StatusCode.ERROR)
        self._span.end()
        self._span = None

    def _station(self, name: str, begin: float, end: float) -> None:
        assert self._span is not None
        span = tracer().start_span(name, _under(self._span), start_time=_epoch_ns(begin))
        span.end(_epoch_ns(end))


def _below(traceparent: str) -> Context:
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, set_span_in_context

    parent = parent_of(traceparent)
    return Context() if parent is None else set_span_in_context(NonRecordingSpan(parent), Context())


def _under(span: Span) -> Context:
    from opentelemetry.context import Context
    from opentelemetry.trace import set_span_in_context

    return set_span_in_context(span, Context())


def _epoch_ns(monotonic: float) -> int:
    return time.time_ns() - int((time.monotonic() - monotonic) * 1e9)
