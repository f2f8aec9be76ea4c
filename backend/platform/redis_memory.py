"""Redis' memory: warnings at start about settings that lose keys, and gauges of how full it is.

Parley keeps running answers, limits, lock-outs and queues in Redis and expects that a write fails
when memory is short. A policy that evicts keys would lose them without a word.
"""

from typing import Any

import structlog
from prometheus_client import Gauge
from redis.asyncio import Redis
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

USED = Gauge("parley_redis_used_bytes", "Memory that Redis holds.", multiprocess_mode="mostrecent")
BOUND = Gauge(
    "parley_redis_max_bytes",
    "Redis' maxmemory; 0 where it has no bound.",
    multiprocess_mode="mostrecent",
)
_WRITE_PROBE = "health:write"
_PROBE_S = 10


class RedisClusterError(Exception):
    """The URL of one server leads to a node of a cluster, which refuses most keys."""


async def settings_check(client: Redis, *, is_one_server: bool) -> None:
    """Log what an operator ought to change in Redis' settings.

    Args:
        is_one_server: the configured URL is `redis://` or `rediss://`.
    Raises:
        RedisClusterError: that server belongs to a cluster.
    """
    try:
        server, memory = await client.info("server"), await client.info("memory")
    except RedisError as error:  # away, or an ACL forbids it
        log.info("redis_settings_unknown", reason=repr(error))
        return
    # Valkey has the field under its own name.
    mode = server.get("redis_mode") or server.get("server_mode")
    if is_one_server and mode == "cluster":
        raise RedisClusterError(
            "REDIS_URL names a node of a Redis cluster: write redis+cluster://host:port,… instead."
        )
    for reason in memory_problems(memory):
        log.warning("redis_memory_setting", reason=reason)


def memory_problems(memory: dict[str, Any]) -> list[str]:
    """Return what is wrong in `INFO memory`, a sentence each."""
    found = []
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(
            f"maxmemory-policy is {policy}: under pressure Redis drops lock-outs, limits and"
            " running answers; set noeviction."
        )
    if not memory.get("maxmemory"):
        found.append(
            "maxmemory is 0: Redis may take all memory of its machine and be killed; set a bound."
        )
    return found


async def memory_refresh(client: Redis) -> None:
    """Set the gauges. Raises RedisError where Redis cannot be asked."""
    memory = await client.info("memory")
    USED.set(memory.get("used_memory", 0))
    BOUND.set(memory.get("maxmemory", 0))


async def write_check(client: Redis) -> None:
    """Raise RedisError unless Redis takes a write: when it is full, it still answers a PING."""
    await client.set(_WRITE_PROBE, 1, ex=_PROBE_S)
