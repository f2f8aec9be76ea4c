"""Where Redis is, as one URL: a server, the master that Sentinels name, or a cluster.

    redis://[user:password@]host:port/db                       one server
    redis+sentinel://[user:password@]host:port,…/service/db    the service's master
    redis+cluster://[user:password@]host:port,…                any nodes of it

With `rediss` in the place of `redis` the connections have TLS; redis-py's options stand in the
query (`?ssl_ca_certs=/etc/ssl/redis.pem`). Sentinels are asked with the same TLS and no password.
"""

from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

import redis.asyncio
import redis.asyncio.sentinel
import redis.cluster
import redis.sentinel

Kind = Literal["server", "sentinel", "cluster"]
_KINDS: dict[str, Kind] = {"": "server", "sentinel": "sentinel", "cluster": "cluster"}
_PORTS: dict[Kind, int] = {"server": 6379, "sentinel": 26379, "cluster": 6379}
_TLS_PREFIX = "ssl"


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """What a URL says.

    Attributes:
        url: of one server, as redis-py reads it; "" for the others.
        hosts: of the Sentinels or of the cluster.
        service: which master the Sentinels are asked for.
        options: of a connection (db, username, password, ssl…), as redis-py names them.
    """

    kind: Kind
    url: str = ""
    hosts: tuple[tuple[str, int], ...] = ()
    service: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def tls(self) -> dict[str, Any]:
        return {k: v for k, v in self.options.items() if k.startswith(_TLS_PREFIX)}

    def asynchronous(self, **options: Any) -> redis.asyncio.Redis | redis.asyncio.RedisCluster:
        """A client of Sentinels' master or of a cluster, on one event loop."""
        options = {**self.options, **options}
        if self.kind == "cluster":
            nodes = [redis.asyncio.cluster.ClusterNode(*host) for host in self.hosts]
            # Never read all slots anew because some have moved: it would close the connections
            # that other tasks wait on. One that has moved is learnt with the answer that says so.
            options["reinitialize_steps"] = 0
            return redis.asyncio.RedisCluster(startup_nodes=nodes, **options)
        sentinel = redis.asyncio.sentinel.Sentinel(
            self.hosts, sentinel_kwargs=self._of_sentinels(options), **options
        )
        return sentinel.master_for(self.service)

    def synchronous(self, **options: Any) -> redis.Redis | redis.RedisCluster:
        """The same, for threads."""
        options = {**self.options, **options}
        if self.kind == "cluster":
            nodes = [redis.cluster.ClusterNode(*host) for host in self.hosts]
            return redis.RedisCluster(startup_nodes=nodes, **options)
        sentinel = redis.sentinel.Sentinel(
            self.hosts, sentinel_kwargs=self._of_sentinels(options), **options
        )
        return sentinel.master_for(self.service)

    def _of_sentinels(self, options: dict[str, Any]) -> dict[str, Any]:
        timeouts = {k: v for k, v in options.items() if k.startswith("socket_")}
        return {**self.tls, **timeouts}


def address_of(url: str) -> RedisAddress:
    """What `url` says. Raises ValueError where it is none of the three."""
    parts = urlsplit(url)
    scheme, _, kind_name = parts.scheme.partition("+")
    kind = _KINDS.get(kind_name)
    if scheme not in ("redis", "rediss", "unix") or kind is None:
        raise ValueError(f"{parts.scheme}: no scheme of Redis")
    if kind == "server":
        return RedisAddress(kind, url=url)
    credentials, at, hosts = parts.netloc.rpartition("@")
    service, _, db = parts.path.strip("/").partition("/")
    if kind == "sentinel" and not service:
        raise ValueError("a URL of Sentinels names its service: redis+sentinel://host:port/service")
    path = f"/{db}" if db else ""
    # redis-py reads user, password, db and the options of the query, whichever host has them.
    plain = urlunsplit((scheme, f"{credentials}{at}host", path, parts.query, ""))
    options = dict(redis.asyncio.connection.parse_url(plain))
    options.pop("host", None)
    if options.pop("connection_class", None) is not None:
        options["ssl"] = True
    return RedisAddress(
        kind,
        hosts=tuple(_host(host, _PORTS[kind]) for host in hosts.split(",")),
        service=service,
        options=options,
    )


def _host(text: str, port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError(f"{text!r}: no host of Redis")
    return parts.hostname, parts.port or port
