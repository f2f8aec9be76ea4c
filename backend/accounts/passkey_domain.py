"""Under which name passkeys are made and asked for (WebAuthn's relying party id).

It is the host name of the page, so that a passkey works where it was made. Where staff have a host
name of their own (PARLEY_ADMIN_HOST), one passkey serves both only under a domain that holds both:
the page's own host, where the admin's is below it (`example.com`, `admin.example.com`), or what
PARLEY_PASSKEY_DOMAIN names (`example.com` for `chat.example.com` and `admin.example.com`).
Source: W3C Web Authentication level 3, 5.1.2 (rp.id is the origin's domain or a suffix of it).
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port


def name_of(host: str) -> str:
    """A Host header without its port, in lower case."""
    return split_domain_port(host.lower())[0]


def relying_party(host: str) -> str:
    """The relying party id for a page opened under `host`."""
    name, domain = name_of(host), settings.PASSKEY_DOMAIN
    return domain if domain and is_within(name, domain) else name


def passkeys_serve(host: str) -> bool:
    """Whether the passkeys that people make on the page can be used under `host`."""
    is_admin = bool(settings.ADMIN_HOST) and name_of(host) == name_of(settings.ADMIN_HOST)
    return not is_admin or relying_party(host) == relying_party(page_name())


def page_name() -> str:
    """The host name that people know the page by."""
    return urlsplit(settings.PUBLIC_URL).hostname or ""


def is_within(name: str, domain: str) -> bool:
    """Whether `name` is `domain` or below it."""
    return name == domain or name.endswith(f".{domain}")
