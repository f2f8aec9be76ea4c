"""`/api/auth`: sign up, in and out.

A wrong password and an unknown address take the same work and get the same answer. Hashing
runs in the request's thread, so the event loop serves others meanwhile, and few at a time:
argon2 is meant to need much memory.
"""

import asyncio

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth import alogin, alogout, authenticate
from django.http import HttpRequest
from ninja import Router, Status

from backend.accounts.authentication import principal_for_session
from backend.accounts.models import User
from backend.accounts.services import user_sign_up
from backend.api import throttling
from backend.api.authentication import AnonymousWithCsrf, Request, SessionOnly
from backend.api.identity import me_of
from backend.api.schemas.account import LoginRequest, Me, SignupRequest
from backend.api.websocket import session_group
from backend.platform.database import in_database
from backend.platform.errors import AuthenticationFailed

router = Router(tags=["account"])

# Each hash takes 100 MiB for some 50 ms.
_HASHES_AT_ONCE = asyncio.Semaphore(2)


@router.post("/signup", auth=AnonymousWithCsrf(), response={201: Me})
async def signup(request: HttpRequest, body: SignupRequest) -> Status:
    """Create an account and an organization of its own, and sign in."""
    await throttling.count_signup(request)
    async with _HASHES_AT_ONCE:
        user = await in_database(
            user_sign_up, email=body.email, password=body.password, name=body.name
        )
    return Status(201, await _sign_in(request, user))


@router.post("/login", auth=AnonymousWithCsrf(), response=Me)
async def login(request: HttpRequest, body: LoginRequest) -> Me:
    """Sign in. The session's key and the CSRF token are new afterwards."""
    await throttling.count_login(request, body.email)
    async with _HASHES_AT_ONCE:
        user = await sync_to_async(authenticate)(
            request, username=body.email, password=body.password
        )
    if not isinstance(user, User):
        raise AuthenticationFailed(
            "The e-mail address or the password is wrong.", code="wrong_credentials"
        )
    await throttling.forgive_login(request, body.email)
    return await _sign_in(request, user)


@router.post("/logout", auth=SessionOnly(), response={204: None})
async def logout(request: Request) -> Status:
    """Sign out here; other tabs of this session are told to leave."""
    session_key = request.session.session_key
    await alogout(request)
    if session_key:
        await get_channel_layer().group_send(session_group(session_key), {"type": "session.ended"})
    return Status(204, None)


async def _sign_in(request: HttpRequest, user: User) -> Me:
    if not request.session.is_empty():
        # Nothing that was put into a session before signing in may survive it.
        await request.session.aflush()
    await alogin(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return await me_of(await principal_for_session(user, None))
