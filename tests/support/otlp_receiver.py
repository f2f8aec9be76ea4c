"""An OTLP/HTTP receiver of the tests: it keeps the spans that processes send it."""

import gzip
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

_WAIT_S = 30.0


class Span:
    """One span as it was received."""

    def __init__(self, service: str, received: Any) -> None:
        self.service = service
        self.name: str = received.name
        self.trace_id: str = received.trace_id.hex()
        self.id: str = received.span_id.hex()
        self.parent_id: str = received.parent_span_id.hex()
        self.begin: int = received.start_time_unix_nano
        self.end: int = received.end_time_unix_nano
        self.failed: bool = received.status.code == 2
        self.attributes: dict[str, Any] = {
            one.key: getattr(one.value, one.value.WhichOneof("value"))
            for one in received.attributes
        }
        # All but the ids, whose bytes may look like anything.
        content = (received.attributes, received.events, received.links, received.trace_state)
        self.text = " ".join([received.name, received.status.message, *map(str, content)])

    def __repr__(self) -> str:
        return f"{self.service}:{self.name}"


class OtlpReceiver:
    """Listens on a free port of loopback; `endpoint` is for OTEL_EXPORTER_OTLP_ENDPOINT."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """For a process whose spans are to come here at once."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "200"}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def trace(self, trace_id: str) -> list[Span]:
        return [span for span in list(self._spans) if span.trace_id == trace_id]

    def wait_for(self, trace_id: str, done: Callable[[list[Span]], object]) -> list[Span]:
        """The spans of a trace, when they are as `done` wants them."""
        deadline = time.monotonic() + _WAIT_S
        while not done(spans := self.trace(trace_id)):
            assert time.monotonic() < deadline, f"received of the trace: {spans}"
            time.sleep(0.05)
        return spans

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        spans = self._spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces"
                spans.extend(_spans_of(ExportTraceServiceRequest.FromString(body)))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _spans_of(request: ExportTraceServiceRequest) -> Iterable[Span]:
    for of_process in request.resource_spans:
        attributes = {one.key: one.value.string_value for one in of_process.resource.attributes}
        for scope in of_process.scope_spans:
            for received in scope.spans:
                yield Span(attributes["service.name"], received)
