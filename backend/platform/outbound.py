"""Where a request to a customer's URL may go: to public addresses only.

A customer chooses the URL (a webhook, an identity provider) and we make the request, from inside
our network. So the name is resolved here, every address it has must be public, and the request
goes to the address that was checked: resolving again could give another one.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.platform.errors import InvalidRequest

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# All that IANA has given out as global unicast. The rest either is not routed or, as 64:ff9b::/96
# (NAT64), ::ffff:0:0/96 (mapped) and ::/96 (compatible), leads to an IPv4 address that it hides.
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_MAX_NAME = 253


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL: `url` names the address, `name` goes into TLS, `host` into the header."""

    url: str
    name: str
    host: str


def check_url(
    url: str, *, to_private: bool, what: str = "A URL", param: str = "url", switch: str = ""
) -> None:
    """InvalidRequest unless this is an http(s) URL that could be called (not resolved).

    Args:
        to_private: plain http, and addresses that are not public, are allowed too.
        what: begins the message of a refusal, which names the field `param`.
        switch: the setting that allows those, where whoever reads the refusal may know of it.
    """
    try:
        parts = urlsplit(url)
        is_url = parts.port != 0 and url.isprintable() and " " not in url
        _ascii_name(parts.hostname or "")
    except ValueError:
        is_url = False
    is_url = is_url and parts.scheme in {"https", "http"}
    if not is_url or parts.username or parts.fragment:
        raise InvalidRequest(
            f"{what} is an https URL with a valid host name, without user name or fragment.",
            param=param,
        )
    if not to_private and _is_private_name(parts.hostname or ""):
        raise _not_public(f"{what} is not a public address.", param, switch)
    if not to_private and parts.scheme == "http":
        raise _not_public(f"{what} is not an https URL.", param, switch)


def _not_public(message: str, param: str, switch: str) -> InvalidRequest:
    if not switch:
        return InvalidRequest(message, param=param)
    return InvalidRequest(
        f"{message} To allow private addresses and plain http, set {switch}=1.",
        param=param,
        code="address_not_public",
        details={"setting": switch},
    )


def _is_private_name(host: str) -> bool:
    """Return whether a name leads to a private address, as far as is known unresolved."""
    try:
        return not _is_public(ipaddress.ip_address(host))
    except ValueError:
        return host.lower().removesuffix(".").split(".")[-1] == "localhost"


def resolve(
    url: str, *, to_private: bool, what: str = "A URL", param: str = "url", switch: str = ""
) -> Target:
    """The address to connect to. Blocks for as long as the name's servers take.

    Raises:
        InvalidRequest: the URL is none, or one of its addresses is not public.
        OSError: the name cannot be resolved.
    """
    check_url(url, to_private=to_private, what=what, param=param, switch=switch)
    parts = urlsplit(url)
    name = _ascii_name(parts.hostname or "")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(info[4][0]) for info in found]
    if not to_private and not all(map(_is_public, addresses)):
        raise _not_public(f"{name} is not a public address.", param, switch)
    target = parts._replace(netloc=f"{_literal(addresses[0])}:{port}").geturl()
    return Target(target, name, _host_header(name, parts.port))


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    # 6to4 and Teredo hide an IPv4 address too.
    return address in _GLOBAL_UNICAST and address.sixtofour is None and address.teredo is None


def _ascii_name(host: str) -> str:
    """An address as it is, a name as DNS has it.

    Raises:
        ValueError: no resolver could look it up.
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        name = host.encode("idna").decode().lower().removesuffix(".")
    if len(name) > _MAX_NAME or not all(map(_LABEL.fullmatch, name.split("."))):
        raise ValueError(f"{host!r} is not a host name")
    return name


def _literal(address: Address) -> str:
    return f"[{address}]" if address.version == 6 else str(address)


def _host_header(name: str, port: int | None) -> str:
    host = f"[{name}]" if ":" in name else name
    return host if port is None else f"{host}:{port}"
