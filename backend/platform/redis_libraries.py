"""The same Redis as settings of the libraries that connect by themselves."""

import functools
from typing import Any, NamedTuple
from urllib.parse import quote

from redis import ConnectionPool, RedisCluster

from backend.platform.redis_address import RedisAddress, address_of


class Broker(NamedTuple):
    """Celery's settings of its broker."""

    url: str
    transport_options: dict[str, Any]
    use_ssl: dict[str, Any] | bool


def celery_broker(address: RedisAddress) -> Broker:
    if address.kind == "server":
        return Broker(address.url, {}, False)
    options, tls = address.options, address.tls
    user, password = options.get("username", ""), options.get("password", "")
    credentials = f"{quote(user)}:{quote(password)}@" if password else ""
    urls = (
        f"sentinel://{credentials}{host}:{port}/{options.get('db', 0)}"
        for host, port in address.hosts
    )
    return Broker(
        ";".join(urls),
        {"master_name": address.service, "sentinel_kwargs": tls},
        {name: value for name, value in tls.items() if name != "ssl"} if tls else False,
    )


def channel_layer_host(address: RedisAddress) -> dict[str, Any]:
    """One of `hosts` of channels_redis."""
    if address.kind == "server":
        return {"address": address.url}
    return {
        **address.options,
        "master_name": address.service,
        "sentinels": list(address.hosts),
        "sentinel_kwargs": address.tls,
    }


class CachePool:
    """The `pool_class` of Django's cache, which Django makes anew for each request: a server's
    connections are shared by all of the process, since to open one is a fifth of a request."""

    @staticmethod
    def from_url(url: str, **options: Any) -> ConnectionPool:
        address = address_of(url)
        if address.kind == "server":
            return _pool(url, **options)
        master = address.synchronous(**options)
        if isinstance(master, RedisCluster):
            raise ValueError("Django's cache knows no cluster of Redis")
        return master.connection_pool


@functools.cache
def _pool(url: str, **options: Any) -> ConnectionPool:
    """Safe for threads, and for a process that forks."""
    return ConnectionPool.from_url(url, **options)
