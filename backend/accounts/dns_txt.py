"""The port to DNS: what the TXT records of a name say, asked of the network now.

PARLEY_DNS_SERVERS names the servers to ask, as `address` or `address:port`; without it the
system's are. An answer is not cached: who has just published a record wants to see it found.
"""

import dns.exception
import dns.resolver
from django.conf import settings

_TIMEOUT_S = 5.0


class DnsUnavailable(Exception):
    """No server answered in time; nothing is known of the name."""


def txt_records(name: str) -> list[str]:
    """The TXT records of `name`, each joined from its parts; none where there is no such name.

    Raises:
        DnsUnavailable: no server answered, or with a failure.
    """
    try:
        answer = _resolver().resolve(name, "TXT", lifetime=_TIMEOUT_S, search=False)
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    except (dns.exception.DNSException, OSError) as error:
        raise DnsUnavailable(str(error)) from error
    return [b"".join(record.strings).decode("utf-8", "replace") for record in answer]


def _resolver() -> dns.resolver.Resolver:
    servers = settings.DNS_SERVERS
    resolver = dns.resolver.Resolver(configure=not servers)
    if servers:
        resolver.nameservers = [
            dns.nameserver.Do53Nameserver(host, int(port or 53))
            for host, _, port in (server.rpartition(":") for server in _with_ports(servers))
        ]
    return resolver


def _with_ports(servers: list[str]) -> list[str]:
    return [server if ":" in server else f"{server}:53" for server in servers]
