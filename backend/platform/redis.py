"""Every client of Redis: its pool waits for a connection instead of failing in a burst.

A connection belongs to the event loop that opened it, so `async_client` keeps one client for
each loop and profile: a web process has one loop, tests have many. `sync_client` is for commands,
Celery tasks and the admin. `new_client` makes one whose connections nobody else uses.
"""

import asyncio
from dataclasses import dataclass
from functools import cache
from typing import Any, cast
from weakref import WeakKeyDictionary

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from backend.platform.redis_address import address_of


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

# How each connection names itself. The library would look up its own version for each of them, in
# the files of its package: 0.4 ms.
_DRIVER = DriverInfo()

# Of a cluster's node or a Sentinels' master: their pools have no place where a caller waits.
_MAX_CONNECTIONS = 1000


def async_client(profile: Profile = REQUESTS) -> redis.asyncio.Redis:
    """The running event loop's client. Nobody closes it: it is shared."""
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    if profile not in clients:
        clients[profile] = _asynchronous(settings.REDIS_URL, profile, profile.timeout_s)
    return clients[profile]


@cache
def sync_client(profile: Profile = REQUESTS) -> redis.Redis:
    """The process's client for synchronous code. Thread safe."""
    return _synchronous(settings.REDIS_URL, profile)


@cache
def sync_stream_client() -> redis.Redis:
    """The same, for the Redis that holds the streams of answers."""
    return _synchronous(settings.STREAM_REDIS_URL, REQUESTS)


def new_client(profile: Profile) -> redis.asyncio.Redis:
    """A client of the caller's own, who closes it. It retries nothing: the caller knows better
    what a failure means."""
    return _of_its_own(settings.REDIS_URL, profile)


def new_stream_client(profile: Profile) -> redis.asyncio.Redis:
    """The same, for the Redis that holds the streams of answers, which may be a cluster: what one
    command or script touches there is of one slot."""
    return _of_its_own(settings.STREAM_REDIS_URL, profile)


def _of_its_own(url: str, profile: Profile) -> redis.asyncio.Redis:
    connect_s = profile.timeout_s if profile.timeout_s is not None else profile.wait_s
    return _asynchronous(url, profile, connect_s, retry=Retry(NoBackoff(), 0), protocol=2)


def _asynchronous(
    url: str, profile: Profile, connect_s: float | None, **options: Any
) -> redis.asyncio.Redis:
    address = address_of(url)
    options |= {
        "socket_timeout": profile.timeout_s,
        "socket_connect_timeout": connect_s,
        "driver_info": _DRIVER,
    }
    if address.kind == "server":
        return redis.asyncio.Redis.from_pool(
            redis.asyncio.BlockingConnectionPool.from_url(
                url, max_connections=profile.connections, timeout=profile.wait_s, **options
            )
        )
    # A cluster's client has the commands of a server's and no class in common with it.
    client = address.asynchronous(max_connections=_MAX_CONNECTIONS, **options)
    return cast(redis.asyncio.Redis, client)


def _synchronous(url: str, profile: Profile) -> redis.Redis:
    address = address_of(url)
    options: dict[str, Any] = {
        "socket_timeout": profile.timeout_s,
        "socket_connect_timeout": profile.timeout_s,
        "driver_info": _DRIVER,
    }
    if address.kind == "server":
        return redis.Redis.from_pool(
            redis.BlockingConnectionPool.from_url(
                url, max_connections=profile.connections, timeout=profile.wait_s, **options
            )
        )
    client = address.synchronous(max_connections=_MAX_CONNECTIONS, **options)
    return cast(redis.Redis, client)
