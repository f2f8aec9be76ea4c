"""Every client of Redis: its pool waits for a connection instead of failing in a burst.

A connection belongs to the event loop that opened it, so `async_client` keeps one client for
each loop and profile: a web process has one loop, tests have many. `sync_client` is for commands,
Celery tasks and the admin. `new_client` makes one whose connections nobody else uses.
"""

import asyncio
from dataclasses import dataclass
from functools import cache
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


@dataclass(frozen=True, slots=True)
class Profile:
    """How long to wait for Redis, and with how many connections.

    Attributes:
        timeout_s: for connecting and for a reply; None waits for as long as a command blocks.
        connections: of one pool; a caller waits up to `wait_s` for a free one.
    """

    timeout_s: float | None = 5.0
    connections: int = 50
    wait_s: float = 5.0


REQUESTS = Profile()
# What the database can answer as well is not waited for.
CACHE = Profile(timeout_s=0.5, wait_s=0.5)

_Clients = dict[Profile, redis.asyncio.Redis]
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, _Clients] = WeakKeyDictionary()


def async_client(profile: Profile = REQUESTS) -> redis.asyncio.Redis:
    """The running event loop's client. Nobody closes it: it is shared."""
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    if profile not in clients:
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            settings.REDIS_URL,
            max_connections=profile.connections,
            timeout=profile.wait_s,
            socket_timeout=profile.timeout_s,
            socket_connect_timeout=profile.timeout_s,
        )
        clients[profile] = redis.asyncio.Redis.from_pool(pool)
    return clients[profile]


@cache
def sync_client(profile: Profile = REQUESTS) -> redis.Redis:
    """The process's client for synchronous code. Thread safe."""
    pool = redis.BlockingConnectionPool.from_url(
        settings.REDIS_URL,
        max_connections=profile.connections,
        timeout=profile.wait_s,
        socket_timeout=profile.timeout_s,
        socket_connect_timeout=profile.timeout_s,
    )
    return redis.Redis.from_pool(pool)


def new_client(profile: Profile) -> redis.asyncio.Redis:
    """A client of the caller's own, who closes it. It retries nothing: the caller knows better
    what a failure means."""
    connect_s = profile.timeout_s if profile.timeout_s is not None else profile.wait_s
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        settings.REDIS_URL,
        max_connections=profile.connections,
        timeout=profile.wait_s,
        socket_timeout=profile.timeout_s,
        socket_connect_timeout=connect_s,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
    )
    return redis.asyncio.Redis.from_pool(pool)
