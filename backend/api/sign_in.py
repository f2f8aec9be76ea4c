"""A session from the right password to the last factor, and what it remembers of that.

In the session: since when and by what the person is signed in (`SIGNED_IN_AT`, `FACTOR`), or, when
the password was right and a second factor is missing, whose password it was (`_PENDING`). What
changes an account's security needs a sign-in of the last ten minutes.
"""

import time
from typing import Any, Final
from uuid import UUID

from django.contrib.auth import alogin
from django.http import HttpRequest

from backend.accounts import metrics
from backend.accounts.account_events import account_event_record
from backend.accounts.authentication import principal_for_session
from backend.accounts.models import User
from backend.accounts.second_factors import has_second_factor
from backend.accounts.selectors import is_member_elsewhere
from backend.accounts.sessions import SSO_ORGANIZATION
from backend.api import throttling
from backend.api.authentication import SESSION_ORGANIZATION
from backend.api.identity import me_of
from backend.api.schemas.account import Me
from backend.api.session_devices import session_note
from backend.audit.actions import Action
from backend.enterprise.connections import password_organization
from backend.platform.database import in_database
from backend.platform.errors import AuthenticationFailed, PermissionDenied

SIGNED_IN_AT: Final = "signed_in_at"
FACTOR: Final = "second_factor"
ADDRESS_ASKED: Final = "address_asked"  # which link to a new address needs no password here
_PENDING: Final = "pending_sign_in"
PENDING_S = 600
RECENT_S = 600


async def sign_in(request: HttpRequest, user: User, *, factor: str | None = None) -> Me:
    """Start the page's session, in an organization that the password opens."""
    await session_start(request, user, factor=factor)
    organization_id = await in_database(password_organization, user_id=user.pk)
    if organization_id is not None:
        await request.session.aset(SESSION_ORGANIZATION, str(organization_id))
    return await me_of(await principal_for_session(user, organization_id, gate=False))


async def session_start(
    request: HttpRequest, user: User, *, factor: str | None = None, method: str = "password"
) -> None:
    """`user` is signed in from here on, in a new session.

    Args:
        factor: the second factor that was given: `totp`, `recovery_codes`, `webauthn`.
        method: what opened the account, for the audit log and the metrics.
    """
    await _start_anew(request)
    await alogin(request, user, backend="django.contrib.auth.backends.ModelBackend")
    await request.session.aset(SIGNED_IN_AT, time.time())
    if factor is not None:
        await request.session.aset(FACTOR, factor)
    await session_note(request, user)
    await in_database(
        account_event_record,
        Action.LOGIN_SUCCEEDED,
        user_id=user.pk,
        details={"method": factor or method},
    )
    metrics.SIGN_INS.labels(factor or method).inc()


async def sign_in_failed(*, email: str | None = None, user: User | None = None, why: str) -> None:
    """Note it for the organizations of `user`, or of whose address `email` is."""
    await in_database(_record_failure, email, user, why)


def _record_failure(email: str | None, user: User | None, why: str) -> None:
    if user is None:
        user = User.objects.with_address((email or "").replace("\x00", "")).first()
    account_event_record(
        Action.LOGIN_FAILED, user_id=user.pk if user else None, details={"reason": why}
    )


async def second_factor_pending(request: HttpRequest, user: User) -> bool:
    """Whether `user`, whose password was right, has to give a second factor; the session then
    waits for it, as `second_factor_await` has it."""
    if not await in_database(has_second_factor, user_id=user.pk):
        return False
    await second_factor_await(request, user)
    return True


async def second_factor_await(request: HttpRequest, user: User) -> None:
    """Note that the password of `user` was right. The session stays anonymous until their second
    factor comes (`pending_user`)."""
    await _start_anew(request)
    await request.session.acycle_key()
    note = {"user": str(user.pk), "at": time.time(), "hash": user.get_session_auth_hash()}
    await request.session.aset(_PENDING, note)


async def pending_user(request: HttpRequest) -> User | None:
    """Who gave the right password in this session, in the last ten minutes; it is still theirs."""
    note: dict[str, Any] | None = await request.session.aget(_PENDING)
    if not note or time.time() - note["at"] > PENDING_S:
        return None
    user = await in_database(User.objects.filter(pk=UUID(note["user"]), is_active=True).first)
    if user is None or user.get_session_auth_hash() != note["hash"]:
        return None
    return user


async def require_pending_user(request: HttpRequest) -> User:
    """Raises AuthenticationFailed where no sign-in waits."""
    user = await pending_user(request)
    if user is None:
        raise AuthenticationFailed("Sign in with your password first.", code="password_first")
    return user


async def may_change(request: HttpRequest, user_id: UUID) -> None:
    """Count a change of the account's security, and refuse it without a recent sign-in.

    Raises:
        RateLimited: too many changes. PermissionDenied: `reauthentication_required`, or
            `sso_session`: an identity provider opens one organization, and not the account.
    """
    await require_own_session(request)
    await throttling.count_change(user_id)
    await require_recent(request)
    if not await request.session.aget(FACTOR) and await in_database(
        has_second_factor, user_id=user_id
    ):
        # The account has a factor that was never given in this session.
        raise _proof_needed()


async def proof_note(request: HttpRequest, factor: str | None) -> None:
    """The person has shown again who they are.

    Args:
        factor: the second factor that was given; None only where the account has none.
    """
    await request.session.aset(SIGNED_IN_AT, time.time())
    if factor is not None:
        await request.session.aset(FACTOR, factor)


async def require_own_session(request: HttpRequest) -> None:
    """PermissionDenied, `sso_session`, in a session that an identity provider began."""
    if await request.session.aget(SSO_ORGANIZATION):
        raise _sso_session()


async def may_act_elsewhere(request: HttpRequest, user_id: UUID) -> None:
    """Refuse what other organizations would notice, in a session that one organization's identity
    provider began. An account that belongs to that organization alone has no others.

    Raises PermissionDenied: `sso_session`.
    """
    if await is_confined(request, user_id):
        raise _sso_session()


async def is_confined(request: HttpRequest, user_id: UUID) -> bool:
    """Return whether a provider began the session of an account with other organizations."""
    began = await request.session.aget(SSO_ORGANIZATION)
    return bool(began) and await in_database(is_member_elsewhere, user_id=user_id, but=UUID(began))


def _sso_session() -> PermissionDenied:
    return PermissionDenied(
        "You signed in through your organization, which does not change what opens your account"
        " elsewhere: sign in with your password, or a passkey, for that.",
        code="sso_session",
    )


async def require_recent(request: HttpRequest) -> None:
    """PermissionDenied, `reauthentication_required`, without a sign-in of the last ten minutes."""
    if not is_recent(await request.session.aget(SIGNED_IN_AT)):
        raise _proof_needed()


def _proof_needed() -> PermissionDenied:
    return PermissionDenied(
        "Show again that it is you before you change this: by your password, and a code where you"
        " have a second factor.",
        code="reauthentication_required",
    )


def is_recent(signed_in_at: float | None) -> bool:
    return signed_in_at is not None and time.time() - signed_in_at < RECENT_S


async def _start_anew(request: HttpRequest) -> None:
    if not request.session.is_empty():
        # Nothing that was put into a session before signing in may survive it.
        await request.session.aflush()
