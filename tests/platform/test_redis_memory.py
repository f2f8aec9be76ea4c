"""Redis that is full, that has no bound, that drops keys, or that belongs to a cluster."""

import asyncio
from collections.abc import Iterator

import pytest
import redis
import redis.asyncio
from redis.exceptions import OutOfMemoryError
from structlog.testing import capture_logs

from backend.platform import redis_memory
from infra.services.valkey import ValkeyService
from tests.support.redis_cluster import ClusterNode


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyService]:
    service = ValkeyService(tmp_path_factory.mktemp("valkey"), durable=False)
    service.start()
    yield service
    service.destroy()


def ask(server: ValkeyService, **settings: str) -> list[str]:
    """Return what is logged of a server with these settings."""
    with redis.Redis.from_url(server.url) as client:
        for name, value in settings.items():
            client.config_set(name.replace("_", "-"), value)

    async def checked() -> None:
        async with redis.asyncio.Redis.from_url(server.url) as client:
            await redis_memory.settings_check(client, is_one_server=True)

    with capture_logs() as logs:
        asyncio.run(checked())
    return [line["reason"] for line in logs if line["event"] == "redis_memory_setting"]


def test_embedded_server_has_a_bound_and_evicts_nothing(server: ValkeyService) -> None:
    assert ask(server) == []


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"maxmemory": "0", "maxmemory_policy": "noeviction"}, "maxmemory is 0"),
        (
            {"maxmemory": "1gb", "maxmemory_policy": "allkeys-lru"},
            "maxmemory-policy is allkeys-lru",
        ),
    ],
)
def test_setting_that_loses_keys_is_named(
    server: ValkeyService, settings: dict[str, str], named: str
) -> None:
    [reason] = ask(server, **settings)
    assert reason.startswith(named)


def test_full_server_fails_the_check(server: ValkeyService) -> None:
    ask(server, maxmemory="1mb", maxmemory_policy="noeviction")

    async def write() -> None:
        async with redis.asyncio.Redis.from_url(server.url) as client:
            await client.ping()
            await redis_memory.write_check(client)

    with pytest.raises(OutOfMemoryError):
        asyncio.run(write())
    ask(server, maxmemory="1gb")
    asyncio.run(write())


def test_node_of_a_cluster_is_no_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    node = ClusterNode(tmp_path_factory.mktemp("node"), announced=0)
    node.start()
    try:
        with pytest.raises(redis_memory.RedisClusterError, match=r"redis\+cluster://"):
            ask(node)
    finally:
        node.destroy()
