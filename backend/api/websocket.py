"""`/ws/events`: keeps a user's tabs in step.

It is for our own page only: a session cookie, and an Origin that is ours, because
browsers send cookies with cross-site WebSocket requests too. What arrives on the user's group
of the channel layer goes out as JSON, from the moment on that the socket is open; what a client
sends is ignored.

Close codes: 4401, not signed in or no longer (signed out, deactivated, another password, in no
organization any more), and the page then stops and asks for a sign-in; 4403, the organization lets
nobody in from this address, or without its identity provider; 4429, too many sockets.
"""

import asyncio
import hashlib
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from channels.auth import AuthMiddlewareStack
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import URLRouter
from django.conf import settings
from django.urls import path, re_path

from backend.accounts.access import Access
from backend.accounts.authentication import principal_for_session
from backend.accounts.sessions import SSO_ORGANIZATION
from backend.api import metrics
from backend.api.access_watch import access_watch
from backend.api.admin_host import host_serves
from backend.api.authentication import SESSION_ORGANIZATION
from backend.enterprise.gate import Door
from backend.platform.encryption import django_keys_follow
from backend.platform.errors import PermissionDenied
from backend.platform.json import encode_json

NOT_SIGNED_IN = 4401
NOT_ALLOWED = 4403
_NO_SUCH_SOCKET = 4404
TOO_MANY_SOCKETS = 4429
MAX_SOCKETS_PER_USER = 50  # in one process: tabs, of one person


def user_group(user_id: object) -> str:
    """The group that every tab of one user is in."""
    return f"user.{user_id}"


def session_group(session_key: str) -> str:
    """The group of one session's tabs; hashed, because the key itself is a credential."""
    return f"session.{hashlib.sha256(session_key.encode()).hexdigest()[:40]}"


class EventsConsumer(AsyncWebsocketConsumer):
    """One tab."""

    groups_joined: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._watching = ExitStack()
        self._closing: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        user = self.scope["user"]
        if not user.is_authenticated:
            # A refusal before accepting reaches the page as a bare network error.
            await self.accept()
            await self.close(code=NOT_SIGNED_IN)
            return
        if access_watch().count_sockets(user.pk) >= MAX_SOCKETS_PER_USER:
            await self.accept()
            await self.close(code=TOO_MANY_SOCKETS)
            return
        door = await self._door()
        if door is None or await door.refusal():
            await self.accept()
            await self.close(code=NOT_ALLOWED if door else NOT_SIGNED_IN)
            return
        session_key = self.scope["session"].session_key
        self.groups_joined = (
            user_group(user.pk),
            session_group(session_key),
        )
        metrics.WEBSOCKETS.inc()
        for group in self.groups_joined:
            await self.channel_layer.group_add(group, self.channel_name)
        access = Access(user.pk, session_key=session_key, password=user.password)
        self._watching.enter_context(access_watch().watching(access, self._end, door=door))
        # Last: when the page sees its socket open, nothing that happens from then on is lost.
        await self.accept()

    async def _door(self) -> Door | None:
        """Of the organization that the page shows now; None where the user is in none any more."""
        session = self.scope["session"]
        confined = await session.aget(SSO_ORGANIZATION)
        chosen = confined or await session.aget(SESSION_ORGANIZATION)
        try:
            principal = await principal_for_session(
                self.scope["user"], UUID(chosen) if chosen else None, gate=False
            )
        except PermissionDenied:
            return None
        client = self.scope.get("client") or ("",)
        return Door(principal, str(client[0]), confined)

    async def disconnect(self, code: int) -> None:
        self._watching.close()
        if self.groups_joined:
            metrics.WEBSOCKETS.dec()
        for group in self.groups_joined:
            await self.channel_layer.group_discard(group, self.channel_name)

    def _end(self, refusal: PermissionDenied | None) -> None:
        code = NOT_ALLOWED if refusal else NOT_SIGNED_IN
        # Kept, or it could be collected before it has run.
        self._closing = asyncio.create_task(self.close(code=code))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Clients have nothing to say here."""

    async def forward(self, event: dict[str, Any]) -> None:
        await self.send(text_data=encode_json(event).decode())

    conversation_changed = forward
    conversation_deleted = forward
    generation_started = forward
    generation_finished = forward

    async def session_ended(self, event: dict[str, Any]) -> None:
        await self.close(code=NOT_SIGNED_IN)


class _Refuse(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        await self.close(code=_NO_SUCH_SOCKET)


class SameOriginOnly:
    """Refuses (403) a socket whose Origin is missing or another site's."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        django_keys_follow()
        headers = {name: value.decode("latin1") for name, value in scope["headers"]}
        host = headers.get(b"host")
        if is_own_origin(headers.get(b"origin"), host) and host_serves(host or "", scope["path"]):
            await self.application(scope, receive, send)
            return
        await receive()  # the connect message that this answers
        await send({"type": "websocket.close", "code": 4403})


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Whether `origin` is the public address, or the very host that was asked."""
    if origin is None:
        return False
    scheme = "https" if settings.HTTPS else "http"
    return origin in settings.CSRF_TRUSTED_ORIGINS or origin == f"{scheme}://{host}"


websocket_application = SameOriginOnly(
    AuthMiddlewareStack(
        URLRouter([path("ws/events", EventsConsumer.as_asgi()), re_path("", _Refuse.as_asgi())])
    )
)
