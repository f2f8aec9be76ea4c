"""The streams of answers in a Redis Cluster with TLS: real nodes, one of which is lost."""

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from backend.accounts.principal import Principal
from backend.generation.stream import keys
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    TURN,
    cancel,
    chat,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    read,
    running_gateway,
    start,
    until_ended,
)
from tests.support.redis_cluster import ClusterNode, empty, tls_cluster

TIMEOUT_S = 150.0
SHARDS = 8
HELD = 30
"""Tokens after which an answer waits for what the test does to it, however late that is."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[ClusterNode]]]:
    with tls_cluster(tmp_path_factory.mktemp("cluster")) as url_and_nodes:
        yield url_and_nodes


@pytest.fixture
def nodes(
    transactional_db: None,
    cluster: tuple[str, list[ClusterNode]],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> list[ClusterNode]:
    """They hold nothing."""
    # Each of the connections would read the machine's roots of trust, 27 ms: only our own counts.
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: None)
    url, nodes = cluster
    empty(nodes)
    settings.STREAM_REDIS_URL, settings.STREAM_SHARDS = url, SHARDS
    return nodes


def one_in_each_shard() -> list[UUID]:
    """Ids of generations, by which every node has some."""
    found: dict[int, UUID] = {}
    while len(found) < SHARDS:
        one = uuid4()
        found.setdefault(keys.shard_of(one), one)
    return list(found.values())


async def test_answers_of_a_process_that_ended_go_on_in_another(
    nodes: list[ClusterNode], upstream: SyntheticUpstream, principal: Principal
) -> None:
    pools = pools_of(upstream)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    first = await doomed_gateway(pools, grace_s=TIMEOUT_S)
    request = chat(principal, max_tokens=50, turn=TURN, on_disconnect="grace")
    started = [await start(replace(request, generation_id=one)) for one in one_in_each_shard()]
    begun = await asyncio.gather(
        *(read(one.id, principal, until=lambda events: len(events) > 5) for one in started)
    )
    await kill_gateway(first)
    upstream.behaviour.hang_after = None

    async with (
        asyncio.timeout(TIMEOUT_S),
        running_gateway(pools, grace_s=TIMEOUT_S),
        running_gateway(pools, grace_s=TIMEOUT_S),
    ):
        # The newest process reads, and any of the two continues them.
        rest = await asyncio.gather(
            *(
                read(one.id, principal, after=len(answer.events))
                for one, answer in zip(started, begun, strict=True)
            )
        )
        for one, answer, end in zip(started, begun, rest, strict=True):
            end.check_order(after=len(answer.events))
            assert "".join((answer.text, end.text)) == words(0, 50)
            await check_billed(one.id, output_tokens=50, state="completed")
    assert all(_events(node) for node in nodes)


async def test_answer_is_cancelled_by_another_process(
    nodes: list[ClusterNode], upstream: SyntheticUpstream, principal: Principal
) -> None:
    pools = pools_of(upstream)
    upstream.behaviour.rate = 20.0
    async with asyncio.timeout(TIMEOUT_S), running_gateway(pools):
        started = await start(chat(principal, max_tokens=1000, turn=TURN))
        async with running_gateway(pools):
            await cancel(started.id, principal=principal)
            row = await until_ended(started.id)
    assert row.state == "cancelled"


async def test_lost_node_is_a_pause_for_its_own_answers(
    nodes: list[ClusterNode], upstream: SyntheticUpstream, principal: Principal
) -> None:
    """It comes back empty: what the web process has is written again."""
    upstream.behaviour.rate, upstream.behaviour.hang_after = 15.0, HELD
    async with asyncio.timeout(TIMEOUT_S), running_gateway(pools_of(upstream)):
        request = chat(principal, max_tokens=45, turn=TURN)
        started = [await start(replace(request, generation_id=one)) for one in one_in_each_shard()]
        reading = [asyncio.create_task(read(one.id, principal)) for one in started]
        await asyncio.sleep(0.8)
        await asyncio.to_thread(nodes[0].kill)
        await asyncio.sleep(0.8)
        await asyncio.to_thread(nodes[0].start)
        upstream.behaviour.hang_after = None
        answers = await asyncio.gather(*reading)
        for one, answer in zip(started, answers, strict=True):
            answer.check_order()
            assert answer.text == words(0, 45)
            await check_billed(one.id, output_tokens=45, state="completed")
            assert (await read(one.id, principal)).events == answer.events
    assert all(_events(node) for node in nodes)


def _events(node: ClusterNode) -> list[bytes]:
    with node.client() as client:
        return list(client.scan_iter("gen:*:events"))
