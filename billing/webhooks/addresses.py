"""Where a webhook may go: to public addresses only.

A customer chooses the URL and we make the request, from inside our network. So the name is
resolved here, every address it has must be public, and the request goes to the address that was
checked: resolving again could give another one.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from backend.platform.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL: `url` names the address, `name` goes into TLS, `host` into the header."""

    url: str
    name: str
    host: str


def check_url(url: str) -> None:
    """InvalidRequest unless this is an http(s) URL that could be a webhook (not resolved)."""
    try:
        parts = urlsplit(url)
        is_url = bool(parts.hostname) and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:
        is_url = False
    schemes = {"https", "http"} if settings.BILLING_WEBHOOKS_TO_PRIVATE else {"https"}
    if not is_url or parts.scheme not in schemes or parts.username or parts.fragment:
        raise InvalidRequest("A webhook is an https URL without a user name.", param="url")


def resolve(url: str) -> Target:
    """The address to connect to.

    Raises:
        InvalidRequest: the URL is none, or one of its addresses is not public.
        OSError: the name cannot be resolved.
    """
    check_url(url)
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(info[4][0]) for info in found]
    if not settings.BILLING_WEBHOOKS_TO_PRIVATE and not all(
        address.is_global and not address.is_multicast for address in addresses
    ):
        raise InvalidRequest(f"{host} is not a public address.", param="url")
    address = addresses[0]
    literal = f"[{address}]" if address.version == 6 else str(address)
    target = parts._replace(netloc=f"{literal}:{port}").geturl()
    return Target(target, host, parts.netloc)
