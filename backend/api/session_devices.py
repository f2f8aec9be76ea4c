"""Notes from which device a session is used: when it begins, and at most every five minutes."""

import time
from collections import OrderedDict

from django.http import HttpRequest

from backend.accounts.models import User
from backend.accounts.sessions import session_record
from backend.api.client_address import client_network
from backend.platform.database import in_database

_EVERY_S = 300
_REMEMBERED = 10_000
# By session key, in this process: a note too many costs one write.
_noted: OrderedDict[str, float] = OrderedDict()


async def session_note(request: HttpRequest, user: User) -> None:
    """Write the session of `request` down, if that is due."""
    key = request.session.session_key
    now = time.monotonic()
    if key is None or now - _noted.get(key, -_EVERY_S) < _EVERY_S:
        return
    _noted[key] = now
    _noted.move_to_end(key)
    if len(_noted) > _REMEMBERED:
        _noted.popitem(last=False)
    await in_database(
        session_record,
        user=user,
        session_key=key,
        address=_address(request),
        user_agent=request.headers.get("User-Agent", ""),
    )


def _address(request: HttpRequest) -> str:
    """The client's, of IPv6 the network; the nil address where it is not known."""
    network = client_network(request).partition("/")[0]
    return "0.0.0.0" if network == "unknown" else network  # noqa: S104 - nothing listens on it
