"""The core process is killed: what waited fails clearly, and a new core takes over."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psutil
import pytest

from tests.inference.serving import Served, serve, wait_for
from tests.inference.tiny import make_tiny_model


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for both tests, in their order: the second one kills it."""
    model = make_tiny_model(tmp_path_factory.mktemp("tiny"), context=8192)
    with serve(model, "--num-blocks", "520") as served:
        yield served


def test_silent_stream_shows_that_its_server_lives(mortal: Served) -> None:
    """As while a long prompt is read: nothing comes of the core for a while."""
    [core] = psutil.Process(mortal.process.pid).children()
    core.suspend()
    body = {"prompt": "Once", "max_tokens": 4, "ignore_eos": True, "stream": True}
    with mortal.http.stream("POST", "/v1/completions", json=body) as answer:
        lines = (line for line in answer.iter_lines() if line)
        first = next(lines)
        core.resume()
        rest = list(lines)
    assert first == ": ping"
    assert rest[-1] == "data: [DONE]"


def test_frozen_core_ends_a_stream_that_is_kept_alive(mortal: Served) -> None:
    [core] = psutil.Process(mortal.process.pid).children()
    core.suspend()
    body = {"prompt": "Once", "max_tokens": 4, "ignore_eos": True, "stream": True}
    with mortal.http.stream("POST", "/v1/completions", json=body) as answer:
        *pings, error, done = [line for line in answer.iter_lines() if line]
    assert set(pings) <= {": ping"}
    assert json.loads(error.removeprefix("data: "))["error"]["code"] == "engine_unavailable"
    assert done == "data: [DONE]"
    wait_for(lambda: mortal.http.get("/ready").status_code == 200, timeout_s=90, every_s=0.2)


def test_core_is_replaced_when_killed(mortal: Served) -> None:
    [core] = psutil.Process(mortal.process.pid).children()
    body = {"prompt": "Once", "max_tokens": 8000, "ignore_eos": True, "stream": True}
    with mortal.http.stream("POST", "/v1/completions", json=body) as answer:
        lines = (line for line in answer.iter_lines() if line)
        next(lines)
        core.kill()
        rest = list(lines)
    assert rest[-1] == "data: [DONE]"
    error = json.loads(rest[-2].removeprefix("data: "))["error"]
    assert error["code"] == "engine_unavailable"

    wait_for(lambda: mortal.http.get("/ready").status_code == 200, timeout_s=90, every_s=0.2)
    [successor] = psutil.Process(mortal.process.pid).children()
    assert successor.pid != core.pid
    assert mortal.metric("parley:kv_blocks_used") == 0
    assert mortal.chat("What is the capital of France?", max_tokens=8).status_code == 200


def test_core_ends_when_its_server_is_killed(mortal: Served) -> None:
    [core] = psutil.Process(mortal.process.pid).children()
    mortal.process.kill()
    mortal.process.wait()
    core.wait(timeout=60)
