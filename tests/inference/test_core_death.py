"""The core process is killed: what waited fails clearly, and a new core takes over."""

from __future__ import annotations

import json

import psutil
import pytest

from tests.inference.serving import serve, wait_for

pytestmark = pytest.mark.model


def test_core_is_replaced_when_killed(model_path):
    with serve(model_path, "--num-blocks", "520") as served:
        [core] = psutil.Process(served.process.pid).children()
        body = {"prompt": "Once", "max_tokens": 400, "ignore_eos": True, "stream": True}
        with served.http.stream("POST", "/v1/completions", json=body) as answer:
            lines = (line for line in answer.iter_lines() if line)
            next(lines)
            core.kill()
            rest = list(lines)
        assert rest[-1] == "data: [DONE]"
        error = json.loads(rest[-2].removeprefix("data: "))["error"]
        assert error["code"] == "engine_unavailable"

        wait_for(lambda: served.http.get("/ready").status_code == 200, timeout_s=90)
        [successor] = psutil.Process(served.process.pid).children()
        assert successor.pid != core.pid
        assert served.metric("parley:kv_blocks_used") == 0
        assert served.chat("What is the capital of France?", max_tokens=8).status_code == 200


def test_core_ends_when_its_server_is_killed(model_path):
    with serve(model_path, "--num-blocks", "520") as served:
        [core] = psutil.Process(served.process.pid).children()
        served.process.kill()
        served.process.wait()
        core.wait(timeout=60)
