"""Services that are configured from outside: reachable, or a clear sentence.

A configured URL is never shadowed by an embedded server, so a wrong one must be said at once
and not after a minute of retries in six processes.
"""

import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

import psycopg
import redis

from infra.launcher.errors import LaunchError

_TIMEOUT_SECONDS = 5


def check(environment: Mapping[str, str]) -> None:
    """Try each service that `environment` configures.

    Raises:
        LaunchError: one cannot be reached; the message names the variable, never a password.
    """
    if url := environment.get("DATABASE_URL"):
        _check_database(url)
    if url := environment.get("REDIS_URL"):
        _check_redis(url)
    if servers := environment.get("KAFKA_BOOTSTRAP_SERVERS"):
        _check_kafka(servers)


def _check_database(url: str) -> None:
    try:
        psycopg.connect(url, connect_timeout=_TIMEOUT_SECONDS).close()
    except (psycopg.Error, ValueError) as error:
        raise _unreachable("DATABASE_URL", _host(url), error) from None


def _check_redis(url: str) -> None:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=_TIMEOUT_SECONDS) as client:
            client.ping()
    except (redis.RedisError, ValueError, OSError) as error:
        raise _unreachable("REDIS_URL", _host(url), error) from None


def _check_kafka(servers: str) -> None:
    """One of the bootstrap servers listens. Clients do the rest, and survive its absence."""
    last_error: Exception = ValueError("no host:port in it")
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_TIMEOUT_SECONDS).close()
            return
        except (OSError, ValueError) as error:
            last_error = error
    raise _unreachable("KAFKA_BOOTSTRAP_SERVERS", servers, last_error)


def _host(url: str) -> str:
    parts = urlsplit(url)
    return parts.hostname or "its host"


def _unreachable(variable: str, host: str, error: Exception) -> LaunchError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return LaunchError(
        f"{variable} is set, but {host} cannot be used ({reason}): "
        "correct it, or unset it to run an embedded service."
    )
