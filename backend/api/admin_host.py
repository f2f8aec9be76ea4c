"""The staff's site on a host name of its own, where PARLEY_ADMIN_HOST names one.

Then `/admin/` is not there under any other name, and that host serves nothing else but static
files and the two calls of a passkey: the page's scripts and cookies and those of the admin are
different origins, and a proxy can keep the name inside one's own network. Where none is named,
every host serves both.
"""

from django.conf import settings
from django.http.request import split_domain_port

_STATIC = "/static/"
# The staff's second factor asks and answers there (static/api/passkey.js).
_PASSKEY = frozenset({"/api/auth/passkey", "/api/auth/passkey/options"})


def host_serves(host: str, path: str) -> bool:
    """Whether the part of the site that `path` belongs to is served under `host`."""
    if not settings.ADMIN_HOST:
        return True
    is_admin = path == "/admin" or path.startswith("/admin/")
    if _is_admin_host(host):
        return is_admin or path.startswith(_STATIC) or path in _PASSKEY
    return not is_admin


def _is_admin_host(host: str) -> bool:
    """With a port in the setting, the port counts too."""
    host = host.lower()
    name, _ = split_domain_port(host)
    return settings.ADMIN_HOST in {host, name}
