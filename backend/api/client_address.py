"""Where a request comes from, as far as limits and the abuse detector need to know."""

import ipaddress
from functools import lru_cache

from django.http import HttpRequest

from backend.platform.encryption import keyed_hash
from backend.platform.keys import Purpose

_NETWORKS_KEPT = 4096


def client_network(request: HttpRequest) -> str:
    """The client's address; of IPv6 the /64, because one client owns all of that.

    Behind a proxy that PARLEY_TRUSTED_PROXIES names it is the forwarded one
    (backend/api/proxies.py).
    """
    return _network_of(request.META.get("REMOTE_ADDR", ""))


@lru_cache(_NETWORKS_KEPT)
def _network_of(client: str) -> str:
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def client_hash(request: HttpRequest) -> str:
    """What is kept of the address with a generation: equal for equal addresses of this
    installation until the next rotation, and of no use without its keys."""
    return keyed_hash(client_network(request), purpose=Purpose.CLIENT_ADDRESS)
