"""How long a body may be, by its route, and who has to be known before it is read.

Anybody may send `FIRST_BYTES`. What is longer is read only where the route takes as much, and after
its own authentication has passed: nothing of a stranger's stays in memory or on disk.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import Any, cast

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

from backend.api.application import api, generation_paths
from backend.api.asgi import FIRST_BYTES
from backend.api.authentication import AnonymousWithCsrf
from backend.api.handler import route_for
from backend.enterprise.saml import MAX_RESPONSE_CHARACTERS
from backend.generation.voice import MAX_AUDIO_BYTES
from backend.platform.errors import AuthenticationFailed

ORDINARY_BYTES = 256 << 10
MAX_PART_BYTES = 64 << 20
_EVENT_BYTES = 512 << 10
# Boundary lines, part headers and the file's name, around the file itself.
_MULTIPART_OVERHEAD = 16 << 10

_SCIM = "api/scim/v2/<path:path>"
_ADMIN = "/admin/"

_WITH_PROMPTS = frozenset(
    {
        "v1/messages/count_tokens",
        "v1/embeddings",
        "v1/rerank",
        "v1/moderations",
        "v1/uploads/<upload_id>/complete",
        "v1/conversations",
        "v1/conversations/<openai_conversation_id>/items",
        "api/conversations/import",
        "api/conversations/<uuidstr:conversation_id>/messages",
        _SCIM,
    }
)
_RECORDINGS = frozenset(
    {"v1/audio/transcriptions", "v1/audio/translations", "api/audio/transcriptions"}
)

Authenticate = Callable[[HttpRequest], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class BodyDoor:
    """Attributes:
    limit: bytes that a body may have.
    authenticate: raises where the caller may not send them; None where anybody may.
    """

    limit: int
    authenticate: Authenticate | None

    async def admit(self, scope: MutableMapping[str, Any]) -> None:
        """Ask who calls, by the headers alone. Raises as the route's authentication does."""
        if self.authenticate is None:
            return
        request = ASGIRequest(cast(dict[str, Any], scope), BytesIO())
        sessions = import_module(settings.SESSION_ENGINE)
        request.session = sessions.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
        async with ThreadSensitiveContext():
            await self.authenticate(request)


def door_for(method: str, path: str) -> BodyDoor:
    """The door of a body that is longer than `FIRST_BYTES`."""
    route = route_for(path).route
    if path.startswith(_ADMIN):
        return BodyDoor(settings.DATA_UPLOAD_MAX_MEMORY_SIZE, _staff)
    if route == _SCIM:
        return BodyDoor(_limit(route), _directory)
    authenticate = _authentication().get((method, route))
    if authenticate is None or isinstance(authenticate, AnonymousWithCsrf):
        return BodyDoor(_of_anybody().get(route, FIRST_BYTES), None)
    return BodyDoor(_limit(route), authenticate)


def _limit(route: str) -> int:
    if route == "v1/files":
        return int(settings.MAX_FILE_BYTES) + _MULTIPART_OVERHEAD
    if route == "v1/uploads/<upload_id>/parts":
        return MAX_PART_BYTES + _MULTIPART_OVERHEAD
    if route == "api/attachments":
        return int(settings.ATTACHMENT_MAX_BYTES) + _MULTIPART_OVERHEAD
    if route in _RECORDINGS:
        return MAX_AUDIO_BYTES + _MULTIPART_OVERHEAD
    common = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if route in _WITH_PROMPTS or f"/{route}" in generation_paths():
        return common
    return min(ORDINARY_BYTES, common)


@cache
def _of_anybody() -> dict[str, int]:
    """Signed by their sender, which shows when they have been read."""
    # In a form, `+`, `/`, `=` and the line breaks of base64 take three bytes each.
    assertion = MAX_RESPONSE_CHARACTERS * 5 // 4
    return {
        "api/payments/stripe": _EVENT_BYTES,
        "api/auth/sso/saml/<uuidstr:connection_id>/acs": assertion,
    }


@cache
def _authentication() -> dict[tuple[str, str], Authenticate | None]:
    return api.authentication()


async def _staff(request: HttpRequest) -> None:
    user = await sync_to_async(get_user)(request)
    if not (user.is_authenticated and user.is_active and getattr(user, "is_staff", False)):
        raise AuthenticationFailed("You are not signed in.", code="not_signed_in")


async def _directory(request: HttpRequest) -> None:
    scim = await asyncio.to_thread(import_module, "backend.api.scim")
    await scim.directory_organization(request)
