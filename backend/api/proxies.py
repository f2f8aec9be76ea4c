"""Which address a request comes from when proxies stand in front: PARLEY_TRUSTED_PROXIES.

`X-Forwarded-For` is a list that each proxy appends the address of its own peer to, and that a
client may begin with whatever it likes. So it is read from the right, and only as far as the
setting trusts: networks, whose members are believed, or a count of proxies that every request
passes. What an untrusted peer says is dropped before anything reads it. Everything behind this
takes `scope["client"]` (Django: `REMOTE_ADDR`) for the truth.

Source of the rule: MDN, "X-Forwarded-For", section "Selecting an IP address".
"""

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.core.exceptions import ImproperlyConfigured

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]

FORWARDED_BY_UNTRUSTED = "parley.forwarded_by_untrusted"
_FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"})
_MAX_HOPS = 10

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """Whose word about a client's address counts: those in `networks`, or the last `hops`."""

    networks: tuple[Network, ...] = ()
    hops: int = 0

    def include(self, peer: str) -> bool:
        """Whether `peer` is one of them."""
        return self.hops > 0 or is_within(peer, self.networks)

    def client(self, peer: str, forwarded: Sequence[str]) -> str:
        """The client's address.

        Args:
            peer: who opened the connection.
            forwarded: the entries of `X-Forwarded-For`, the nearest proxy's last.
        Returns:
            `peer` itself where it forwarded nothing that can be believed.
        """
        if not forwarded or not self.include(peer):
            return peer
        if self.hops:
            # Fewer entries than proxies: the request went around them, and may say anything.
            found = address_in(forwarded[-self.hops]) if len(forwarded) >= self.hops else None
            return str(found) if found else peer
        believed = peer
        for entry in reversed(forwarded):
            address = address_in(entry)
            if address is None:
                return believed
            believed = str(address)
            if not is_within(believed, self.networks):
                return believed
        return believed


def proxies_from(value: str) -> TrustedProxies:
    """Read the setting: nothing, a count, or networks and addresses, comma separated.

    Raises:
        ImproperlyConfigured: it is none of them.
    """
    value = value.strip()
    if value.isdecimal():
        hops = int(value)
        if hops > _MAX_HOPS:
            raise ImproperlyConfigured(
                f"PARLEY_TRUSTED_PROXIES is {hops} proxies; at most {_MAX_HOPS} make sense."
            )
        return TrustedProxies(hops=hops)
    return TrustedProxies(networks=networks_from(value, name="PARLEY_TRUSTED_PROXIES"))


def networks_from(value: str, *, name: str) -> tuple[Network, ...]:
    """Networks and addresses, comma separated. Raises ImproperlyConfigured."""
    entries = [entry.strip() for entry in value.split(",") if entry.strip()]
    try:
        return tuple(ipaddress.ip_network(entry) for entry in entries)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} must be networks such as 10.0.0.0/8, comma separated: {error}."
        ) from error


def address_in(entry: str) -> Address | None:
    """The address in an entry of `X-Forwarded-For`, which may carry a port; None for no address."""
    entry = entry.strip()
    if entry.startswith("["):
        entry = entry[1:].partition("]")[0]
    elif entry.count(":") == 1:
        entry = entry.partition(":")[0]
    try:
        address = ipaddress.ip_address(entry)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped  # what a dual-stack socket says of an IPv4 client
    return address


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """Whether `address` is one, and of one of `networks`."""
    found = address_in(address)
    return found is not None and any(found in network for network in networks)


class ForwardedClient:
    """Puts the client's address into the scope, for HTTP and WebSockets alike.

    Of a peer that is no trusted proxy the forwarding headers are removed, and the scope says so:
    such a request came by a proxy that is not configured, so its address is no proof of anything.
    """

    def __init__(self, application: Application, proxies: TrustedProxies) -> None:
        self.application = application
        self.proxies = proxies
        self._warned = False

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in {"http", "websocket"}:
            self._settle(scope)
        await self.application(scope, receive, send)

    def _settle(self, scope: Scope) -> None:
        if not any(name in _FORWARDED for name, _ in scope["headers"]):
            return
        host, _ = scope.get("client") or ("", 0)
        if not self.proxies.include(host):
            self._drop(scope)
            return
        lists = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        entries = b",".join(lists).decode("latin1").split(",") if lists else []
        client = self.proxies.client(host, entries)
        if client != host:
            scope["client"] = (client, 0)

    def _drop(self, scope: Scope) -> None:
        scope["headers"] = [(n, v) for n, v in scope["headers"] if n not in _FORWARDED]
        scope[FORWARDED_BY_UNTRUSTED] = True
        if not self._warned:
            self._warned = True
            log.warning("forwarded_headers_ignored", setting="PARLEY_TRUSTED_PROXIES")
