"""A client that leaves gives everything back: promise 6 through the front door."""

from __future__ import annotations

import random
import threading
from contextlib import suppress

import httpx
import pytest

from tests.inference.serving import Served, wait_for

pytestmark = pytest.mark.model

LONG = {
    "messages": [{"role": "user", "content": "Tell me a very long story."}],
    "max_tokens": 1500,
    "ignore_eos": True,
}


def test_closing_a_stream_frees_its_blocks(served: Served):
    with served.http.stream("POST", "/v1/chat/completions", json=LONG | {"stream": True}) as answer:
        lines = answer.iter_lines()
        next(lines)
        assert served.metric("vllm:num_requests_running") == 1
        assert served.metric("parley:kv_blocks_used") > 0
    wait_for(lambda: served.metric("parley:kv_blocks_used") == 0, timeout_s=60)
    assert served.metric("vllm:num_requests_running") == 0


def test_closing_a_connection_that_waits_for_the_whole_answer_frees_its_blocks(served: Served):
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{served.url}/v1/chat/completions", json=LONG, timeout=0.7)
    wait_for(lambda: served.metric("parley:kv_blocks_used") == 0, timeout_s=60)


def test_closing_frees_all_choices_and_waiting_ones_too(served: Served):
    body = LONG | {"stream": True, "n": 12}  # 8 seats
    with served.http.stream("POST", "/v1/chat/completions", json=body) as answer:
        lines = answer.iter_lines()  # kept: httpx closes the connection with its iterator
        next(lines)
        wait_for(lambda: served.metric("vllm:num_requests_waiting") > 0)
    wait_for(lambda: served.metric("parley:kv_blocks_used") == 0, timeout_s=60)
    assert served.metric("vllm:num_requests_waiting") == 0


def test_many_mixed_requests_leave_every_block_free(served: Served):
    """Aborts at random moments, stop strings, several choices, priorities, long and short."""
    rng = random.Random(5)

    def one(seed: int) -> None:
        own = random.Random(seed)
        body = {
            "prompt": "word " * own.randint(1, 200),
            "max_tokens": own.randint(1, 8),
            "n": own.choice([1, 1, 2]),
            "stop": own.choice([None, "word", [" the", "."]]),
            "priority": own.randint(-1, 2),
            "seed": seed,
            "stream": own.random() < 0.6,
        }
        timeout = own.choice([0.05, 0.3, 60, 60])
        with suppress(httpx.TimeoutException):
            httpx.post(f"{served.url}/v1/completions", json=body, timeout=timeout)

    for _ in range(3):
        threads = [threading.Thread(target=one, args=(rng.randrange(10**6),)) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    wait_for(lambda: served.metric("parley:kv_blocks_used") == 0)
    assert served.metric("vllm:num_requests_running") == 0
    assert served.metric("vllm:num_requests_waiting") == 0
