"""Redis as the master that Sentinels name: each client finds the one that has taken its place."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kombu
import pytest
import redis
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.core.cache.backends.redis import RedisCache

from backend.platform.redis import REQUESTS, _asynchronous, _synchronous
from backend.platform.redis_address import address_of
from backend.platform.redis_libraries import celery_broker, channel_layer_host
from tests.support.redis_cluster import sentinels

TIMEOUT_S = 30.0


def test_clients_and_libraries_go_on_with_the_next_master(tmp_path: Path) -> None:
    with sentinels(tmp_path) as (url, master):
        cache = RedisCache(
            [url], {"OPTIONS": {"pool_class": "backend.platform.redis_libraries.CachePool"}}
        )
        uses = {
            "synchronous": lambda: _synchronous(url, REQUESTS).incr("synchronous"),
            "asynchronous": lambda: asyncio.run(_incremented(url)),
            "cache": lambda: cache.set("name", 1, timeout=60),
            "broker": lambda: _published(url),
            "channels": lambda: asyncio.run(_sent(url)),
        }
        for use in uses.values():
            use()
        before = _synchronous(url, REQUESTS).info("server")["tcp_port"]
        master.kill()
        for name, use in uses.items():
            _until_it_works(name, use)
        # The Sentinel may hold a master that is slow for lost, and then names none for a moment.
        _until_it_works("the next one", lambda: _not_at(url, before))


def _not_at(url: str, port: int) -> None:
    assert _synchronous(url, REQUESTS).info("server")["tcp_port"] != port


async def _incremented(url: str) -> int:
    client = _asynchronous(url, REQUESTS, REQUESTS.timeout_s)
    try:
        return int(await client.incr("asynchronous"))
    finally:
        await client.aclose()


def _published(url: str) -> None:
    broker = celery_broker(address_of(url))
    with kombu.Connection(broker.url, transport_options=broker.transport_options) as connection:
        queue = connection.SimpleQueue("test")
        queue.put("a task")
        assert queue.get(timeout=5).payload == "a task"
        queue.close()


async def _sent(url: str) -> None:
    layer = RedisPubSubChannelLayer(hosts=[channel_layer_host(address_of(url))])
    try:
        channel = await layer.new_channel()
        await layer.send(channel, {"type": "message"})
        assert (await asyncio.wait_for(layer.receive(channel), 5))["type"] == "message"
    finally:
        await layer.flush()


def _until_it_works(name: str, use: Callable[[], Any]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            use()
            return
        except (redis.RedisError, OSError, TimeoutError, kombu.exceptions.KombuError) as error:
            assert time.monotonic() < deadline, f"{name}: {error!r}"
            time.sleep(0.2)


@pytest.mark.parametrize(
    ("url", "kind", "hosts"),
    [
        ("redis://:word@cache:6380/2", "server", ()),
        ("redis+sentinel://a,b:26380/main/3", "sentinel", (("a", 26379), ("b", 26380))),
        ("rediss+cluster://user:word@a,b:7001", "cluster", (("a", 6379), ("b", 7001))),
    ],
)
def test_url_says_which_kind_of_redis_it_is(
    url: str, kind: str, hosts: tuple[tuple[str, int], ...]
) -> None:
    address = address_of(url)
    assert (address.kind, address.hosts) == (kind, hosts)
    assert address.options.get("ssl", False) is url.startswith("rediss")


@pytest.mark.parametrize(
    "url", ["http://cache:6379", "redis+nothing://cache", "redis+sentinel://a", "redis+cluster://"]
)
def test_url_of_no_redis_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"Redis|service"):
        address_of(url)
