"""Redis, as billing uses it: one client for each event loop, one for synchronous code."""

import asyncio
from functools import cache
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from django.conf import settings

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, redis.asyncio.Redis] = WeakKeyDictionary()


def async_client() -> redis.asyncio.Redis:
    """The running event loop's client; connections belong to the loop that made them."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = redis.asyncio.Redis.from_url(settings.REDIS_URL)
        _clients[loop] = client
    return client


@cache
def sync_client() -> redis.Redis:
    """The process's client for commands and Celery tasks. Thread safe."""
    client: redis.Redis = redis.Redis.from_url(settings.REDIS_URL)
    return client
