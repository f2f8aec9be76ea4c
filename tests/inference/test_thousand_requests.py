"""Promise 6 over HTTP: after hundreds of mixed requests, a thousand at night, every block is free.

Long and short, streamed or not, some given up at random moments, priorities, stop strings,
several choices, deadlines, grammars, embeddings and what is refused, in a cache so small
that sequences are preempted all the time.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import httpx
import pytest

from tests.inference.serving import Served, serve
from tests.inference.tiny import make_tiny_model

AT_ONCE = 32
PROBE = {"prompt": "abcabcabc", "temperature": 0, "max_tokens": 40, "ignore_eos": True}


def body_of(rng: random.Random) -> tuple[str, dict]:
    """A path and what is asked there."""
    prompt = "system text that many share. " * rng.choice([0, 1, 5]) + "x" * rng.randint(1, 60)
    if rng.random() < 0.08:
        return "/v1/embeddings", {"input": [prompt] * rng.randint(1, 4)}
    body = {
        "prompt": prompt,
        "max_tokens": rng.choice([1, 2, 5, 20, 60]),
        "n": rng.choice([1, 1, 1, 2, 3]),
        "stop": rng.choice([None, None, "a", ["e", "ab"]]),
        "temperature": rng.choice([0, 0.7, 1.5]),
        "priority": rng.randint(-1, 2),
        "seed": rng.randrange(2**31),
        "stream": rng.random() < 0.6,
    }
    extra = rng.random()
    if extra < 0.1:
        body["timeout_s"] = rng.uniform(0.01, 0.5)
    elif extra < 0.15:
        body["guided_choice"] = ["yes", "no"]
    elif extra < 0.2:
        body["max_tokens"] = 5000  # more than the context: refused
    elif extra < 0.25:
        body |= {"best_of": 4, "stream": False}
    return "/v1/completions", body


async def ask(client: httpx.AsyncClient, seed: int) -> str:
    """Send one request; says how it ended."""
    rng = random.Random(seed)
    path, body = body_of(rng)
    timeout_s = rng.choice([0.01, 0.05, 0.2]) if rng.random() < 0.25 else 120
    try:
        async with asyncio.timeout(timeout_s):
            async with client.stream("POST", path, json=body) as response:
                text = (await response.aread()).decode()
    except TimeoutError:
        return "given up"
    if response.status_code != 200:
        assert response.status_code in (400, 503), text
        return str(response.status_code)
    assert '"error"' not in text, text
    if body.get("stream"):
        assert text.endswith("data: [DONE]\n\n")
    return "answered"


async def ask_all(url: str, requests: int) -> Counter[str]:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(client: httpx.AsyncClient, seed: int) -> str:
        async with places:
            return await ask(client, seed)

    async with httpx.AsyncClient(base_url=url, timeout=None) as client:
        return Counter(await asyncio.gather(*(one(client, seed) for seed in range(requests))))


def probe(served: Served) -> str:
    return served.http.post("/v1/completions", json=PROBE).json()["choices"][0]["text"]


@pytest.mark.parametrize(
    "requests",
    [
        150,
        pytest.param(
            1000,
            marks=pytest.mark.nightly(
                beside="tests/inference/test_thousand_requests.py"
                "::test_every_block_is_free_after_many_mixed_requests"
            ),
        ),
    ],
)
def test_every_block_is_free_after_many_mixed_requests(tmp_path, requests):
    options = ("--num-blocks", "40", "--max-num-seqs", "24", "--max-num-batched-tokens", "256")
    with serve(make_tiny_model(tmp_path), *options) as served:
        before = probe(served)
        ended = asyncio.run(ask_all(served.url, requests))
        assert sum(ended.values()) == requests
        assert ended["answered"] > requests // 2
        assert ended["given up"] > requests // 50
        assert ended["400"] > requests // 50
        served.wait_until_idle()
        assert served.metric("vllm:num_requests_running") == 0
        assert served.metric("vllm:num_requests_waiting") == 0
        assert served.metric("vllm:num_preemptions_total") > 0
        assert served.metric("vllm:prefix_cache_hits_total") > 0
        assert served.metric("vllm:spec_decode_num_accepted_tokens_total") > 0
        assert served.metric("parley:failed_steps_total") == 0
        assert probe(served) == before
