"""A client that leaves gives everything back: promise 6 through the front door."""

from __future__ import annotations

import httpx
import pytest

from tests.inference.serving import Served, wait_for

pytestmark = pytest.mark.model

LONG = {
    "messages": [{"role": "user", "content": "Tell me a very long story."}],
    "max_tokens": 1500,
    "ignore_eos": True,
}


def test_closed_stream_frees_its_blocks(served: Served):
    with served.http.stream("POST", "/v1/chat/completions", json=LONG | {"stream": True}) as answer:
        lines = answer.iter_lines()
        next(lines)
        assert served.metric("vllm:num_requests_running") == 1
        assert served.metric("parley:kv_blocks_used") > 0
    wait_for(lambda: served.metric("parley:kv_blocks_used") == 0, timeout_s=60)
    assert served.metric("vllm:num_requests_running") == 0


def test_closed_connection_frees_its_blocks_when_not_streaming(served: Served):
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{served.url}/v1/chat/completions", json=LONG, timeout=0.7)
    wait_for(lambda: served.metric("parley:kv_blocks_used") == 0, timeout_s=60)


def test_closed_stream_frees_all_choices_and_waiting_ones(served: Served):
    body = LONG | {"stream": True, "n": 12}  # 8 seats
    with served.http.stream("POST", "/v1/chat/completions", json=body) as answer:
        lines = answer.iter_lines()  # kept: httpx closes the connection with its iterator
        next(lines)
        wait_for(lambda: served.metric("vllm:num_requests_waiting") > 0)
    wait_for(lambda: served.metric("parley:kv_blocks_used") == 0, timeout_s=60)
    assert served.metric("vllm:num_requests_waiting") == 0
