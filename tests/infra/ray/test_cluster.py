"""Engines on a Ray cluster of this machine, placed, healed, scaled and rolled: `make test-ray`.

Not in the usual run: Ray is 499 MB, and a run takes minutes. What Ray heals is printed with the
seconds that it took (`-s`), a table of healing times.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import yaml
from django.conf import settings
from structlog.testing import capture_logs

from backend.accounts.principal import Principal
from backend.generation.pools.registry import EngineRecord
from backend.generation.request import SamplingParams
from backend.platform.database import in_database
from infra.launcher.procfile import ROOT
from infra.ray.pool import PoolOnRay
from safety.audit.services import policy_save
from tests.infra.ray.cluster import (
    KEY,
    RayCluster,
    actor_of,
    family_of,
    followers_of,
    node_of,
    node_of_rank,
    running_cluster,
    server_of,
)
from tests.support.gateway import Answer, ask, caller, chat, pools_of, running_gateway

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PARLEY_TEST_RAY"), reason="needs Ray: make test-ray"),
    pytest.mark.timeout(600),
]

HEADERS = {"Authorization": f"Bearer {KEY}"}
MODEL = "tiny"
SEQUENCES = 2


@pytest.fixture(scope="session")
def tiny(scratch: Path) -> Path:
    from tests.inference.tiny import (
        make_tiny_model,  # imports torch, which a run without Ray spares
    )

    return make_tiny_model(scratch / "tiny-on-ray", context=4096, ends=False)


# Of the session: tests with a database run first, the others after those of other modules, and a
# process cannot start a second cluster.
@pytest.fixture(scope="session")
def cluster(services: None, scratch: Path) -> Iterator[RayCluster]:
    with running_cluster(settings.REDIS_URL, scratch) as cluster:
        yield cluster


@pytest.fixture
def pool(tiny: Path, cluster: RayCluster) -> Iterator[dict[str, Any]]:
    """The arguments of a pool; what a test has deployed is gone after it."""
    yield {
        "pool": pools_of(replicas=()).models[0].id,
        "served_model_name": MODEL,
        "model": str(tiny),
        "sequences": SEQUENCES,
        "arguments": ["--threads", "1", "--num-blocks", "600"],
        "cpus": 0.1,
        "resources": {"place": 1},
        "longest_answer_s": 120,
        "start_timeout_s": 170,
    }
    cluster.delete()
    cluster.until(lambda: not cluster.announced())


def fixed(replicas: int) -> dict[str, Any]:
    return {"min_replicas": replicas, "max_replicas": replicas, "up_after_s": 0}


def deploy(cluster: RayCluster, *arguments: dict[str, Any]) -> None:
    merged: dict[str, Any] = {}
    for one in arguments:
        merged |= one
    cluster.deploy(PoolOnRay.model_validate(merged))


def completion(url: str, tokens: int = 8) -> dict[str, Any]:
    body = {"prompt": "abc", "max_tokens": tokens, "temperature": 0}
    response = httpx.post(f"{url}/v1/completions", json=body, headers=HEADERS, timeout=120)
    assert response.status_code == 200, response.text
    given: dict[str, Any] = response.json()
    return given


def test_replicas_are_placed_and_what_is_lost_is_brought_back(
    cluster: RayCluster, pool: dict[str, Any]
) -> None:
    deploy(cluster, pool, {"replicas_per_node": 1, "scaling": fixed(2)})
    cluster.until(lambda: cluster.has(2))
    assert len({node_of(engine) for engine in cluster.engines()}) == 2, "each on another node"
    for engine in cluster.engines():
        assert completion(engine.url)["usage"]["completion_tokens"] == 8

    for what, lose in LOSSES.items():
        _check_healing(cluster, what, lose)


def _check_healing(cluster: RayCluster, what: str, lose: Callable[[RayCluster, Any], None]) -> None:
    """Lose something of one of two replicas: the other goes on, another one comes, and no orphan
    keeps what its successor needs."""
    lost, other = cluster.engines()
    family = family_of(lost)
    began = time.monotonic()
    lose(cluster, lost)
    cluster.until(lambda: cluster.has(2) and lost.id not in _ids(cluster))
    print(f"| {what} | {time.monotonic() - began:.1f} s |", flush=True)
    assert other.id in _ids(cluster), "the other one went on"
    cluster.until(lambda: not any(_runs(process) for process in family))
    [successor] = [engine for engine in cluster.engines() if engine.id != other.id]
    assert completion(successor.url)["usage"]["completion_tokens"] == 8


def test_serve_accepts_the_example() -> None:
    from ray.serve.schema import ServeDeploySchema

    from infra.ray.application import pool as application

    text = (ROOT / "infra" / "ray" / "serve.yaml").read_text()
    found = ServeDeploySchema.model_validate(yaml.safe_load(text))
    assert found.proxy_location == "Disabled"
    for one in found.applications:
        application(PoolOnRay.model_validate(one.args))


def _kill_engine(cluster: RayCluster, engine: EngineRecord) -> None:
    server_of(engine).kill()


def _freeze_engine(cluster: RayCluster, engine: EngineRecord) -> None:
    server_of(engine).send_signal(signal.SIGSTOP)


def _kill_actor(cluster: RayCluster, engine: EngineRecord) -> None:
    actor_of(engine).kill()


def _remove_node(cluster: RayCluster, engine: EngineRecord) -> None:
    cluster.remove_node(node_of(engine))


LOSSES = {
    "engine killed": _kill_engine,
    "engine frozen": _freeze_engine,
    "actor killed": _kill_actor,
    "node removed": _remove_node,
}


def _ids(cluster: RayCluster) -> set[str]:
    return {engine.id for engine in cluster.announced()}


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_ranks_of_an_engine_are_on_distinct_nodes_and_are_replaced_together(
    cluster: RayCluster, pool: dict[str, Any]
) -> None:
    deploy(cluster, pool, {"scaling": fixed(1)})
    cluster.until(lambda: cluster.has(1))
    [single] = cluster.engines()
    expected = completion(single.url)["choices"][0]["text"]
    cluster.delete()
    cluster.until(lambda: not cluster.announced())

    deploy(
        cluster,
        pool,
        {"tensor_parallel": 1, "pipeline_parallel": 2, "placement": "STRICT_SPREAD"},
        {"scaling": fixed(1)},
    )
    cluster.until(lambda: cluster.has(1))
    [engine] = cluster.engines()
    assert (engine.tensor_parallel, engine.pipeline_parallel) == (1, 2)
    assert completion(engine.url)["choices"][0]["text"] == expected
    [follower] = followers_of(engine)
    assert follower.environ()["MASTER_ADDR"] == node_of(engine)
    assert node_of_rank(follower) != node_of(engine), "the other rank is on another node"

    began = time.monotonic()
    follower.kill()
    cluster.until(lambda: cluster.has(1) and engine.id not in _ids(cluster))
    print(f"| a rank of two killed | {time.monotonic() - began:.1f} s |", flush=True)
    [successor] = cluster.engines()
    assert completion(successor.url)["choices"][0]["text"] == expected


async def test_tensor_parallel_engine_on_several_nodes_answers_as_one_rank_and_survives_a_node(
    transactional_db: None, cluster: RayCluster, pool: dict[str, Any], model_file: Path
) -> None:
    """The small model, asked through the gateway, which finds each engine by its announcement. Its
    three key-value heads go to three ranks; a fourth node takes the place of one that is lost."""
    cluster.complete(4)
    arguments = ["--threads", "1", "--num-blocks", "64", "--max-model-len", "1024"]
    small = {**pool, "model": str(model_file), "arguments": arguments, "scaling": fixed(1)}
    split = {"tensor_parallel": 3, "placement": "STRICT_SPREAD"}
    principal = await lenient_caller()
    pools = pools_of(replicas=(), upstream_model=MODEL)
    async with running_gateway(pools, engine_key=KEY) as gateway:
        replicas = gateway.queues[pools.models[0].id].replicas

        async def greedy_text() -> str:
            """Of the only engine, once the gateway sends there and nowhere else."""
            await cluster.until_async(
                lambda: (
                    [one.config.url for one in replicas.replicas if one.available]
                    == [engine.url for engine in cluster.announced()]
                )
            )
            params = SamplingParams(max_tokens=32, temperature=0.0)
            _, answer = await ask(chat(principal, params=params))
            assert answer.error is None
            return answer.text

        await asyncio.to_thread(deploy, cluster, small)
        expected = await greedy_text()
        assert len(expected.split()) > 5
        await asyncio.to_thread(cluster.delete)
        await cluster.until_async(lambda: not cluster.announced())

        await asyncio.to_thread(deploy, cluster, small, split)
        assert await greedy_text() == expected
        [engine] = cluster.engines()
        assert engine.tensor_parallel == 3
        ranks = followers_of(engine)
        lost = node_of_rank(ranks[0])
        assert len({node_of(engine), *map(node_of_rank, ranks)}) == 3, "each on another node"
        family = [*family_of(engine), *ranks]

        began = time.monotonic()
        await asyncio.to_thread(cluster.remove_node, lost)
        await cluster.until_async(lambda: cluster.has(1) and engine.id not in _ids(cluster))
        print(f"| node of a rank of three removed | {time.monotonic() - began:.1f} s |", flush=True)
        await cluster.until_async(lambda: not any(_runs(process) for process in family))
        [successor] = cluster.engines()
        nodes = {node_of(successor), *map(node_of_rank, followers_of(successor))}
        assert len(nodes - {lost}) == 3, "on three nodes again"
        assert await greedy_text() == expected


def test_engines_serve_on_without_the_gcs_and_heal_once_it_is_back(
    cluster: RayCluster, pool: dict[str, Any]
) -> None:
    deploy(cluster, pool, {"scaling": fixed(1)})
    cluster.until(lambda: cluster.has(1))
    [engine] = cluster.engines()
    cluster.head.kill_gcs_server()
    server_of(engine).kill()
    cluster.until(lambda: not cluster.announced())
    began = time.monotonic()
    cluster.head.start_gcs_server()
    cluster.until(lambda: cluster.has(1))
    print(f"| engine killed while the GCS was away, from its return | "
          f"{time.monotonic() - began:.1f} s |", flush=True)  # fmt: skip


async def test_pool_follows_its_queue_and_no_answer_is_cut(
    transactional_db: None, cluster: RayCluster, pool: dict[str, Any]
) -> None:
    scaling = {"min_replicas": 1, "max_replicas": 3, "up_after_s": 1, "down_after_s": 4}
    deploy(cluster, pool, {"scaling": scaling})
    await cluster.until_async(lambda: cluster.has(1))
    pools = pools_of(replicas=(), upstream_model=MODEL, max_concurrency=SEQUENCES)
    async with running_gateway(pools, engine_key=KEY, shared_queue=True) as gateway:
        replicas = gateway.queues[pools.models[0].id].replicas
        await cluster.until_async(lambda: replicas.any_healthy)
        began = time.monotonic()
        answers = Answers()
        # Twelve at once, where one replica has two places; a new one for each that ends.
        await answers.begin(12, tokens=900)
        while len(cluster.engines()) < 3:
            assert time.monotonic() - began < 150, cluster.seen()
            await answers.keep(12, tokens=900)
        print(f"| 1 to 3 replicas by the queue | {time.monotonic() - began:.1f} s |", flush=True)
        await answers.all_whole(900)

        # Two long ones keep running while the pool shrinks around them.
        began = time.monotonic()
        answers = Answers()
        with capture_logs() as logs:
            await answers.begin(2, tokens=3_000)
            while not (cluster.has(1) and answers.ended):
                assert time.monotonic() - began < 150, cluster.seen()
                await asyncio.sleep(0.1)
        print(f"| 3 to 1 replicas, drained | {time.monotonic() - began:.1f} s |", flush=True)
        await answers.all_whole(3_000)
        assert not _cut(logs)


async def test_new_version_serves_before_the_old_one_has_drained(
    transactional_db: None, cluster: RayCluster, pool: dict[str, Any]
) -> None:
    def version(name: str) -> dict[str, Any]:
        arguments = [*pool["arguments"], "--revision", name]
        return {**pool, "arguments": arguments, "scaling": fixed(1)}

    deploy(cluster, version("one"))
    await cluster.until_async(lambda: cluster.has(1))
    pools = pools_of(replicas=(), upstream_model=MODEL, max_concurrency=SEQUENCES)
    async with running_gateway(pools, engine_key=KEY, shared_queue=True) as gateway:
        replicas = gateway.queues[pools.models[0].id].replicas
        await cluster.until_async(lambda: replicas.any_healthy)
        answers = Answers()
        # More than one engine holds: the old one is at work whenever it is told to drain.
        await answers.begin(2 * SEQUENCES, tokens=3_000)
        deploying = asyncio.create_task(asyncio.to_thread(deploy, cluster, version("two")))
        began, served, drained = time.monotonic(), set[int](), False
        with capture_logs() as logs:
            while {engine.revision for engine in cluster.announced()} != {"two"}:
                assert time.monotonic() - began < 150, cluster.seen()
                served.add(len(cluster.engines()))
                drained |= any(_waits_for_answers(engine) for engine in cluster.announced())
                await answers.keep(2 * SEQUENCES, tokens=3_000)
        print(f"| a version rolled | {time.monotonic() - began:.1f} s |", flush=True)
        await deploying
        assert 0 not in served, "one takes work at any time"
        assert drained, "the old one waited for what it had begun"
        await answers.all_whole(3_000)
        assert not _cut(logs)


def _waits_for_answers(engine: EngineRecord) -> bool:
    return engine.state == "draining" and engine.load.running > 0


def _cut(logs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Answers that a replica had begun and another had to go on with."""
    return [one for one in logs if one["event"] == "replica_failed" and one["tokens"]]


async def lenient_caller() -> Principal:
    """Whose answers are judged and not stopped: of a random model's thousands of words some make a
    bad sentence."""
    principal = await caller()
    await in_database(
        policy_save,
        organization_id=principal.organization_id,
        model="",
        document={"dry_run": True},
        created_by_id=None,
    )
    return principal


class Answers:
    """Requests through the gateway, by somebody new."""

    def __init__(self) -> None:
        self._asking: list[asyncio.Task[Answer]] = []
        self._principal: Any = None

    @property
    def ended(self) -> bool:
        return all(one.done() for one in self._asking)

    async def begin(self, count: int, *, tokens: int) -> None:
        if self._principal is None:
            self._principal = await lenient_caller()
        for _ in range(count):
            self._asking.append(asyncio.create_task(self._ask(tokens)))

    async def keep(self, count: int, *, tokens: int) -> None:
        """Have so many under way, and wait a moment."""
        under_way = sum(not one.done() for one in self._asking)
        await self.begin(max(0, count - under_way), tokens=tokens)
        await asyncio.sleep(0.1)

    async def all_whole(self, tokens: int) -> None:
        """Wait for all; each has every token, once."""
        for answer in await asyncio.gather(*self._asking):
            assert answer.error is None
            assert answer.finish_reason == "length"
            answer.check_order()
            assert answer.chunks[-1]["usage"]["completion_tokens"] == tokens

    async def _ask(self, tokens: int) -> Answer:
        _, answer = await ask(chat(self._principal, max_tokens=tokens, stream_usage=True))
        return answer
