"""Redis, as billing uses it: one client for each event loop, one for synchronous code.

Their pools block: a burst of requests waits for a connection for a moment instead of failing.
"""

import asyncio
from functools import cache
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from django.conf import settings

CONNECTIONS = 50
WAIT_S = 5.0
"""For a connection; a Redis that is away is noticed by the connection itself."""

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, redis.asyncio.Redis] = WeakKeyDictionary()


def async_client() -> redis.asyncio.Redis:
    """The running event loop's client; connections belong to the loop that made them."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            settings.REDIS_URL, max_connections=CONNECTIONS, timeout=WAIT_S
        )
        client = redis.asyncio.Redis.from_pool(pool)
        _clients[loop] = client
    return client


@cache
def sync_client() -> redis.Redis:
    """The process's client for commands and Celery tasks. Thread safe."""
    pool = redis.BlockingConnectionPool.from_url(
        settings.REDIS_URL, max_connections=CONNECTIONS, timeout=WAIT_S
    )
    return redis.Redis.from_pool(pool)
