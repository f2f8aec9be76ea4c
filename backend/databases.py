"""Django's `DATABASES`, from the URLs of the environment.

    DATABASE_URL          the primary, or a pooler in front of it; several hosts as libpq has them
    DATABASE_DIRECT_URL   the primary itself, where DATABASE_URL is pgbouncer in transaction mode
    DATABASE_REPLICA_URL  a streaming replica, for reports (`backend/platform/replica.py`)

Behind such a pooler each transaction may be on another connection of the server's. So nothing may
stay in a session: no cursor outside a transaction, no prepared statement, no lock or setting of a
session. What needs a session, or changes the schema, goes
directly (`backend/platform/database.py`). Decision 0301.
"""

from typing import Any
from urllib.parse import urlsplit

import dj_database_url

from backend.platform.connections import PooledConnection, connect_for_waiting

_POSTGRESQL_PORT = "5432"
_PREPARED_FROM = 5
"""From which execution on a connection keeps a statement, planned."""
_CONNECT_TIMEOUT_S = 5
"""For a server that takes a connection and says nothing: its machine hangs, or has gone while
another has its address. By themselves those who connect would wait for over two minutes."""
_REPLICA_TIMEOUT_S = 2
"""For a connection of the replica's: the primary is there where it does not answer."""


def databases(
    url: str, *, pool: int, direct_url: str = "", replica_url: str = ""
) -> dict[str, dict[str, Any]]:
    """
    Args:
        pool: the largest number of connections of one process, to each.
        direct_url: empty where `url` is the server itself.
        replica_url: empty where there is none.
    """
    primary = _connection(url, pool=pool)
    if direct_url:
        # A cursor that is read in parts outlives its transaction. Without them a result is read
        # whole, so what may be large is read in pages (backend/platform/pages.py).
        primary["DISABLE_SERVER_SIDE_CURSORS"] = True
    else:
        # Those of backend/platform/together.py; Django's own cursors prepare none.
        primary["OPTIONS"]["prepare_threshold"] = _PREPARED_FROM
    if not replica_url:
        return {"default": primary}
    replica = _connection(replica_url, pool=pool)
    replica["OPTIONS"]["connect_timeout"] = _REPLICA_TIMEOUT_S
    replica["OPTIONS"]["pool"] |= {"min_size": 0, "timeout": _REPLICA_TIMEOUT_S}
    if direct_url:  # where one is behind a pooler the other may be
        replica["DISABLE_SERVER_SIDE_CURSORS"] = True
    return {"default": primary, "replica": replica}


def _connection(url: str, *, pool: int) -> dict[str, Any]:
    parsed = _parsed(url)
    options = {
        # A pool, not CONN_MAX_AGE: under ASGI a persistent connection is tied to a thread.
        "pool": {
            "min_size": 1,
            "max_size": pool,
            "timeout": 10,
            "connection_class": PooledConnection,
            # Then it tries anew, at once. With the usual 300 s the waits between its attempts
            # double without end: after a long outage nothing would reconnect for a minute.
            "reconnect_timeout": 1,
            "reconnect_failed": connect_for_waiting,
        },
    }
    return {
        **parsed,
        "OPTIONS": {
            "connect_timeout": _CONNECT_TIMEOUT_S,
            **parsed.get("OPTIONS", {}),
            **options,
        },
        # A connection that a restarted server has ended is replaced, not given to a request.
        "CONN_HEALTH_CHECKS": True,
    }


def _parsed(url: str) -> dict[str, Any]:
    """Read a URL, also one with several hosts as libpq has it (`host1:5432,host2:5432`).

    Source: PostgreSQL's documentation, "Connection Strings", "Specifying Multiple Hosts".
    """
    parts = urlsplit(url)
    account, at, places = parts.netloc.rpartition("@")
    if "," not in places:
        return dict(dj_database_url.parse(url))
    hosts, ports = zip(*(_host_and_port(place) for place in places.split(",")), strict=True)
    one = parts._replace(netloc=f"{account}{at}{hosts[0]}").geturl()
    parsed: dict[str, Any] = dict(dj_database_url.parse(one))
    return {**parsed, "HOST": ",".join(hosts), "PORT": ",".join(ports)}


def _host_and_port(place: str) -> tuple[str, str]:
    host, _, port = place.rpartition(":") if ":" in place else (place, "", "")
    return host, port or _POSTGRESQL_PORT
