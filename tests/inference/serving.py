"""A served engine for tests: the real command, on a free port, ended with the test run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from infra.services.ports import free_port
from tests.support.forkserver import Forked, fork

MODEL_NAME = "smollm2-135m"


class Served:
    """A running server, spoken to over HTTP only."""

    def __init__(self, url: str, process: Forked | subprocess.Popen[bytes]) -> None:
        self.url = url
        self.process = process
        self.http = httpx.Client(base_url=url, timeout=120)

    def metric(self, name: str) -> float:
        text = self.http.get("/metrics").text
        found = re.search(rf"^{re.escape(name)}{{[^}}]*}} (\S+)$", text, re.MULTILINE)
        assert found, f"no metric {name}"
        return float(found[1])

    def chat(self, content: str, **fields) -> httpx.Response:
        body = {"messages": [{"role": "user", "content": content}], "temperature": 0, **fields}
        return self.http.post("/v1/chat/completions", json=body)

    def wait_until_idle(self, timeout_s: float = 120) -> None:
        wait_for(lambda: self.metric("parley:kv_blocks_used") == 0, timeout_s)


def wait_for(condition, timeout_s: float = 120, *, every_s: float = 0.02) -> None:
    """Poll until `condition()` holds; fail after `timeout_s`. To ask costs processor time: what
    takes seconds, as a start does, is asked for seldom."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(every_s)


def start(module: str, *arguments: str) -> Forked:
    """`python -m MODULE …` with our environment and output, forked from what has torch."""
    command = ("python", "-m", module, *arguments)
    with os.fdopen(os.dup(2), "wb") as output:
        return fork(command, environment=os.environ, output=output, kind="engine")


@contextmanager
def serve(model: Path, *options: str) -> Iterator[Served]:
    port = free_port()
    process = start(
        *("tests.inference.forked_engine", "serve", "--model", str(model)),
        *("--port", str(port), "--served-model-name", MODEL_NAME, "--threads", "1"),
        "--no-api-key",
        *options,
    )
    served = Served(f"http://127.0.0.1:{port}", process)
    try:
        wait_for(lambda: is_ready(served), timeout_s=170, every_s=0.2)
        yield served
    finally:
        served.http.close()
        process.terminate()
        process.wait()


def is_ready(served: Served) -> bool:
    assert served.process.poll() is None, "the server ended while it started"
    try:
        return served.http.get("/ready").status_code == 200
    except httpx.TransportError:
        return False
