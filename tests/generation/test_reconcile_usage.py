"""A generation whose process and stream are both gone is billed what the engine counted."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from backend.generation.finish.reconcile_usage import (
    EndedRequest,
    usage_of,
)
from backend.generation.models import Generation
from backend.generation.pools.chunks import PromptDetails, ReportedUsage
from backend.generation.pools.config import Pools, ReplicaConfig
from backend.generation.request import SamplingParams
from backend.generation.usage import Usage
from infra.load.upstream import SyntheticUpstream
from tests.support.engine import ENGINE_HEADERS, ENGINE_KEY, Engine
from tests.support.gateway import (
    TURN,
    caller,
    chat,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    read,
    running_gateway,
    start,
    until_ended,
    usage_records,
)


async def lose_everything(pools: Pools) -> tuple[Generation, int]:
    """Begin a long answer, read some of it, lose the process and Redis; wait for the reaper.

    Returns:
        The generation as it ended, and how many events with text its reader had seen.
    """
    principal = await caller()
    first = await doomed_gateway(pools)
    params = SamplingParams(max_tokens=2000, ignore_eos=True)
    started = await start(chat(principal, params=params, turn=TURN))
    seen = await read(started.id, principal, until=lambda events: len(events) >= 8)
    await kill_gateway(first)
    await first.redis.flushall()
    async with running_gateway(pools, reap_after_s=0.1):
        row = await until_ended(started.id, timeout_s=60)
    return row, sum(bool(chunk.get("choices")) for chunk in seen.chunks)


@pytest.mark.model
async def test_orphaned_generation_is_billed_what_the_engine_counted(
    transactional_db: None, model_engine: Engine
) -> None:
    pools = pools_of(upstream_model="smollm2-135m")
    [pool] = pools.models
    # One replica that has never heard of it, one that served it.
    replicas = (
        ReplicaConfig("gone", "http://127.0.0.1:9"),
        ReplicaConfig("e", model_engine.url, ENGINE_KEY),
    )
    row, seen = await lose_everything(Pools((replace(pool, replicas=replicas),)))

    asked = httpx.get(f"{model_engine.url}/usage/{row.id}", headers=ENGINE_HEADERS)
    [counted] = asked.json()["requests"]
    usage = counted["usage"]
    assert counted["request_id"] == f"{row.request_id}-0"
    assert seen - 1 <= usage["completion_tokens"] < 2000  # it was aborted, not run to its end
    await check_billed(row.id, output_tokens=usage["completion_tokens"], state="failed")
    [record] = await usage_records(row.id)
    assert (record.input_tokens, record.pool) == (usage["prompt_tokens"], pool.id)
    assert row.error_code == "lost"


async def test_orphaned_generation_is_billed_nothing_when_upstream_keeps_no_count(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    row, seen = await lose_everything(pools_of(upstream))
    assert seen > 0
    await check_billed(row.id, output_tokens=0, state="failed")


@pytest.mark.model
async def test_engine_keeps_usage_of_requests_with_a_key_only(model_engine: Engine) -> None:
    async with httpx.AsyncClient(
        base_url=model_engine.url, timeout=60, headers=ENGINE_HEADERS
    ) as client:
        body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 3}
        for key in ("test-kept", "test-kept", "not well formed"):
            headers = {"X-Usage-Key": key}
            answer = await client.post("/v1/chat/completions", json=body, headers=headers)
            assert answer.status_code == 200
        found = (await client.get("/usage/test-kept")).json()["requests"]
        totals = [each["usage"]["total_tokens"] for each in found]
        assert totals == [answer.json()["usage"]["total_tokens"]] * 2
        for unknown in ("test-other", "not%20well%20formed"):
            assert (await client.get(f"/usage/{unknown}")).status_code == 404


def ended(
    choice: int | str, at: float, prompt: int, completion: int, cached: int = 0
) -> EndedRequest:
    usage = ReportedUsage(prompt, completion, PromptDetails(cached))
    return EndedRequest(f"req_1-{choice}", at, usage)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([], None),
        ([ended(0, 1, 10, 0)], None),
        ([ended(0, 1, 10, 7, cached=4)], Usage(10, 4, 7)),
        # Continued: of the 7 of the first request, 5 had been delivered.
        ([ended(0, 2, 15, 20), ended(0, 1, 10, 7)], Usage(10, 0, 25)),
        # The first replica refused, the second was broken off, a third went to the end.
        ([ended(0, 1, 10, 0), ended(0, 2, 10, 3), ended(0, 3, 13, 2)], Usage(10, 0, 5)),
        # Two prompts with two choices each; one of them was continued.
        (
            [
                ended("0.0", 1, 10, 7),
                ended("0.1", 2, 10, 1),
                ended("1.2", 3, 20, 2),
                ended("1.3", 4, 20, 2),
                ended("1.3", 5, 21, 4),
            ],
            Usage(30, 0, 15),
        ),
        # Two choices share the prompt.
        ([ended(0, 2, 10, 7), ended(1, 3, 10, 9)], Usage(10, 0, 16)),
    ],
)
def test_usage_of_all_requests_of_a_generation_is_summed(
    requests: list[EndedRequest], expected: Usage | None
) -> None:
    assert usage_of(requests) == expected


async def test_invalid_usage_of_an_upstream_is_ignored(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"requests": [{"usage": "a lot"}]}'
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    server = await asyncio.start_server(nonsense, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pools = pools_of(upstream)
    [pool] = pools.models
    inconsistent = ReplicaConfig("inconsistent", f"http://127.0.0.1:{port}")
    async with server:
        row, _ = await lose_everything(
            Pools((replace(pool, replicas=(*pool.replicas, inconsistent)),))
        )
    await check_billed(row.id, output_tokens=0, state="failed")
