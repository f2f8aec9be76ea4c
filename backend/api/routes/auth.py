"""`/api/auth`: sign up, in and out.

A wrong password and an unknown address take the same work and get the same answer. Hashing runs
in threads of its own, few at a time (backend/accounts/hashing.py).
"""

from channels.layers import get_channel_layer
from django.contrib.auth import alogin, alogout, authenticate
from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from backend.accounts.authentication import principal_for_session
from backend.accounts.hashing import PASSWORD_THREADS
from backend.accounts.models import User
from backend.accounts.services import user_sign_up
from backend.api import throttling
from backend.api.authentication import AnonymousWithCsrf, Request, SessionOnly
from backend.api.devices import device_remember
from backend.api.identity import me_of
from backend.api.schemas.account import LoginRequest, Me, SignupRequest
from backend.api.websocket import session_group
from backend.platform.errors import AuthenticationFailed

router = Router(tags=["account"])


@router.post("/signup", auth=AnonymousWithCsrf(), response={201: Me})
async def signup(request: HttpRequest, response: HttpResponse, body: SignupRequest) -> Status:
    """Create an account and an organization of its own, and sign in."""
    await throttling.count_signup(request)
    user = await PASSWORD_THREADS.run(
        user_sign_up, email=body.email, password=body.password, name=body.name
    )
    device_remember(request, response, user.email)
    return Status(201, await _sign_in(request, user))


@router.post("/login", auth=AnonymousWithCsrf(), response=Me)
async def login(request: HttpRequest, response: HttpResponse, body: LoginRequest) -> Me:
    """Sign in. The session's key and the CSRF token are new afterwards."""
    await throttling.count_login(request, body.email)
    user = await PASSWORD_THREADS.run(
        authenticate, request, username=body.email, password=body.password
    )
    if not isinstance(user, User):
        raise AuthenticationFailed(
            "The e-mail address or the password is wrong.", code="wrong_credentials"
        )
    await throttling.forgive_login(request, body.email)
    device_remember(request, response, user.email)
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
