"""`python -m infra.load.tracing`: what the trace of a generation costs the web process.

Ten thousand times what a generation does: it begins, makes one request to a replica, ends and
writes its stations. Once without an endpoint, once sending to one that takes everything.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from backend.generation.stations import StationClock
from backend.generation.trace import GenerationTrace

_TIMES = 10_000
_HEADER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class _Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def cpu_us() -> float:
    """CPU of this thread for one generation, in microseconds."""
    began = time.thread_time()
    for _ in range(_TIMES):
        now = time.monotonic()
        clock = StationClock(now, now)
        trace = GenerationTrace.begin(clock, _HEADER)
        clock.pre_check_at = now
        clock.admitted()
        clock.granted()
        with trace.attempt({"parley.replica": "a", "parley.choice": 0}):
            clock.answered()
            clock.first_text(0.0)
        clock.generated(0.0)
        clock.stored()
        trace.end(clock, {"parley.state": "completed"}, failed=False)
    return (time.thread_time() - began) / _TIMES * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", action="store_true", help="measure as the environment has it")
    if parser.parse_args().one:
        print(f"{cpu_us():.1f}")
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_address[1]}"}
    sampler = {"OTEL_TRACES_SAMPLER": "always_off"}
    for name, more in (
        ("off", {}),
        ("on, not sampled", {**endpoint, **sampler}),
        ("on", endpoint),
    ):
        command = [sys.executable, "-m", "infra.load.tracing", "--one"]
        done = subprocess.run(
            command, env={**os.environ, **more}, capture_output=True, text=True, check=True
        )
        print(f"{name}: {done.stdout.strip()} µs of CPU a generation")
    server.shutdown()


if __name__ == "__main__":
    main()
