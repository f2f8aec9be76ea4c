"""The request id: one name for everything that a request causes, in every process.

A client may choose it with `X-Request-Id`; it is then kept only if it is harmless in a log line
and in a header. The id is structlog's contextvar `request_id` from here on.
"""

import re
import uuid
from functools import cache

from django.http import HttpRequest

REQUEST_ID_HEADER = "X-Request-Id"

_WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def header_of(request: HttpRequest, name: str) -> str | None:
    """A header that the request came with. `request.headers` makes a mapping of all of them, which
    costs forty calls of functions; a request for a generation is asked for four."""
    found: str | None = request.META.get(_name_in_meta(name))
    return found


@cache
def _name_in_meta(name: str) -> str:
    return f"HTTP_{name.upper().replace('-', '_')}"


def request_id_from(header: str | None) -> str:
    """The client's own id where it is well-formed, else a fresh one (`req_` + 32 hex digits)."""
    if header and _WELL_FORMED.fullmatch(header):
        return header
    return f"req_{uuid.uuid4().hex}"
