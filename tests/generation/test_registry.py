"""Engines that announce themselves get work, and those that are gone get none."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec
import pytest
from structlog.testing import capture_logs

from backend.generation.pools import registry
from backend.generation.pools.config import PoolConfig, Pools
from backend.generation.pools.registry import (
    EngineRecord,
    FleetPools,
    Registry,
    announce,
    opened,
    sealed,
)
from backend.generation.settings import GatewaySettings
from backend.platform.cancellation import end_tasks
from backend.platform.redis import async_client
from billing.models import UsageRecord
from inference.cli import main
from inference.config import KEY_VARIABLE
from infra.load.upstream import SyntheticUpstream
from tests.generation.admission_queue import Clock
from tests.support.gateway import ask, caller, chat, pools_of, running_gateway

KEY = "a key of engines"
RECORD = EngineRecord(
    id="e1", name="one", model="synthetic", url="http://127.0.0.1:7001", state="ready"
)


def holding(*records: EngineRecord, key: str = KEY) -> dict[str, bytes | None]:
    return {record.id: sealed(record, key) for record in records}


def test_signed_record_is_read_back() -> None:
    assert opened(sealed(RECORD, KEY), KEY) == RECORD


@pytest.mark.parametrize(
    "raw",
    [
        sealed(RECORD, "another key"),
        sealed(RECORD, KEY).replace(b"7001", b"7002"),
        sealed(RECORD, KEY).partition(b"\n")[2],
        b"",
        b"\n",
        sealed(msgspec.structs.replace(RECORD, url="file:///etc/passwd"), KEY),
        sealed(msgspec.structs.replace(RECORD, url="http://host/path"), KEY),
        sealed(msgspec.structs.replace(RECORD, name="x" * 101), KEY),
    ],
)
def test_record_that_no_engine_signed_or_that_is_none_is_dropped(raw: bytes) -> None:
    assert opened(raw, KEY) is None


def test_no_engine_registers_without_a_key() -> None:
    assert opened(sealed(RECORD, ""), "") is None


def test_engine_is_gone_when_its_record_is() -> None:
    clock = Clock()
    known = Registry(KEY, clock=clock)
    known.take(holding(RECORD))
    clock.now += 1.0
    known.take({})
    assert known.engines == [RECORD], "Redis may just have been emptied"
    clock.now += 0.5
    known.take({})
    assert known.engines == []


def test_engines_are_kept_while_redis_cannot_be_asked() -> None:
    clock = Clock()
    known = Registry(KEY, clock=clock)
    known.take(holding(RECORD))
    clock.now += 100
    known.hold()
    known.take({})
    assert known.engines == [RECORD]


async def test_registry_is_read_more_often_once_an_engine_has_come() -> None:
    known = Registry(KEY)
    reader = registry.RegistryReader(async_client(), known, on_read=lambda: None)
    alone = reader.pause_s
    known.take(holding(RECORD))
    assert reader.pause_s < alone


def test_engine_of_a_known_address_is_the_configured_replica() -> None:
    upstream = SyntheticUpstream()
    upstream.port = 7001
    known = Registry(KEY)
    pools = FleetPools(pools_of(upstream), known)
    [before] = pools.models
    other = msgspec.structs.replace(RECORD, id="e2", name="two", url="http://127.0.0.1:7002")
    foreign = msgspec.structs.replace(RECORD, id="e3", model="of another pool")
    known.take(holding(RECORD, other, foreign))
    [pool] = pools.models
    assert [(one.name, one.url) for one in pool.replicas] == [
        ("replica-0", upstream.url),
        ("two", other.url),
    ]
    known.take(holding(RECORD, other, foreign))
    assert pools.models[0] is pool, "the same object as long as nothing has changed"
    assert registry.unserved(known.engines, pools) == [foreign]
    assert before.replicas == pool.replicas[:1]


def test_engine_that_only_computes_prompts_gets_no_requests() -> None:
    upstream = SyntheticUpstream()
    upstream.port = 7001
    known = Registry(KEY)
    pools = FleetPools(pools_of(upstream), known)
    prefills, decodes, both = (
        msgspec.structs.replace(
            RECORD, id=name, name=name, url=f"http://127.0.0.1:{port}", roles=roles
        )
        for name, port, roles in (
            ("prefills", 7002, ("prefill",)),
            ("decodes", 7003, ("decode",)),
            ("both", 7004, ("prefill", "decode")),
        )
    )
    known.take(holding(prefills, decodes, both))
    [pool] = pools.models
    assert {one.name for one in pool.replicas} == {"replica-0", "decodes", "both"}


def test_engine_gets_nothing_of_a_region_that_it_is_not_in() -> None:
    known = registry.Registry(KEY)
    where = {"here": "eu", "there": "us", "somewhere": ""}
    records = [
        msgspec.structs.replace(RECORD, id=name, name=name, url=f"http://{name}:1", region=region)
        for name, region in where.items()
    ]
    known.take(holding(*records))
    (anywhere,) = pools_of().models
    europe = replace(anywhere, region="eu")

    def names(pool: PoolConfig) -> set[str]:
        return {replica.name for replica in registry.with_engines(pool, known).replicas}

    assert (names(europe), names(anywhere)) == ({"here"}, set(where))
    unserved = registry.unserved(known.engines, Pools((europe,)))
    assert {record.name for record in unserved} == {"there", "somewhere"}


def test_adapters_of_engines_are_models_of_their_own() -> None:
    upstream = SyntheticUpstream()
    upstream.port = 7001
    known = Registry(KEY)
    pools = FleetPools(pools_of(upstream), known)
    [base] = pools.models
    having = msgspec.structs.replace(RECORD, adapters=("poet", "batch"))
    other = msgspec.structs.replace(RECORD, id="e2", name="two", url="http://127.0.0.1:7002")
    known.take(holding(having, other))
    _, adapted = pools.models
    assert (adapted.id, adapted.upstream_model) == (
        f"{base.id}:poet",
        f"{base.upstream_model}:poet",
    )
    assert [one.url for one in adapted.replicas] == [RECORD.url], "the other engine has it not"
    assert adapted.price_per_1k == base.price_per_1k
    assert pools.find(f"{base.id}:poet") is adapted
    known.take(holding(RECORD, msgspec.structs.replace(other, adapters=("poet",))))
    assert [one.url for one in pools.models[1].replicas] == [other.url], "it was loaded elsewhere"
    known.take(holding(RECORD, other))
    assert len(pools.models) == 1


async def test_requests_that_name_an_adapter_go_to_an_engine_that_has_it(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    record = msgspec.structs.replace(RECORD, url=upstream.url, adapters=("poet",))
    pools = pools_of(replicas=())
    name = f"{pools.models[0].id}:poet"
    async with running_gateway(pools, engine_key=KEY) as gateway, announced(record):
        await until(lambda: name in gateway.queues and gateway.queues[name].replicas.any_healthy)
        _, answer = await ask(replace(chat(await caller()), model=name))
        assert answer.done and answer.error is None
        assert upstream.served[-1].body["model"] == f"{pools.models[0].upstream_model}:poet"
    assert (await UsageRecord.objects.aget()).model == name


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.05)


@asynccontextmanager
async def announced(record: EngineRecord) -> AsyncIterator[None]:
    """`record` is announced again and again, as its engine would."""

    async def beat() -> None:
        while True:
            await announce(async_client(), record, KEY)
            await asyncio.sleep(0.5)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        await end_tasks([beating])


async def test_new_engine_gets_work_without_a_restart_and_none_once_it_is_gone(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    record = msgspec.structs.replace(RECORD, url=upstream.url)
    pools = pools_of(replicas=())
    async with running_gateway(pools, engine_key=KEY) as gateway:
        replicas = gateway.queues[pools.models[0].id].replicas
        async with announced(record), asyncio.timeout(60):
            while not replicas.any_healthy:
                await asyncio.sleep(0.05)
            _, answer = await ask(chat(await caller()))
            assert answer.done and answer.error is None
            assert upstream.served[-1].headers["authorization"] == f"Bearer {KEY}"
        await until(lambda: not replicas.replicas)


async def test_draining_engine_gets_nothing_new(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    record = msgspec.structs.replace(RECORD, url=upstream.url)
    pools = pools_of(upstream)
    async with running_gateway(pools, engine_key=KEY) as gateway:
        replicas = gateway.queues[pools.models[0].id].replicas
        assert replicas.any_healthy
        draining = msgspec.structs.replace(record, state="draining")
        async with announced(draining), asyncio.timeout(60):
            while replicas.any_healthy:
                await asyncio.sleep(0.05)


def test_plain_http_is_refused_where_tls_is_required() -> None:
    strict = replace(GatewaySettings.from_django(), engine_tls=True)
    assert strict.may_register("https://gpu-1:8001")
    assert strict.may_register("http://127.0.0.1:8001")
    assert not strict.may_register("http://gpu-1:8001")
    assert replace(strict, engine_tls=False).may_register("http://gpu-1:8001")


def test_engine_without_a_key_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert main(["serve", "--model", "none.gguf"]) == 2
    assert KEY_VARIABLE in capsys.readouterr().err


async def test_gateway_that_no_engine_has_found_yet_has_nothing_to_warn_of(
    transactional_db: None,
) -> None:
    async with running_gateway(pools_of(replicas=()), engine_key=KEY) as gateway:
        with capture_logs() as logs:
            await gateway.monitor.probe_all()
        assert [one for one in logs if one["log_level"] == "warning"] == []
