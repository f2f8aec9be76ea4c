"""`/api/auth`: sign up, in and out; what the links of mails lead to.

Nothing here shows who is registered: a wrong password and an unknown address take the same work
and get the same answer, and so do sign-ups and resets of known and unknown addresses
(docs/decisions/0034). Hashing runs in threads of its own, few at a time
(backend/accounts/hashing.py).
"""

from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth import alogout, authenticate
from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from backend.accounts.account_events import account_event_record
from backend.accounts.addresses import (
    address_change_stop,
    address_confirm,
    address_is_verified,
    address_verification_send,
)
from backend.accounts.hashing import PASSWORD_THREADS
from backend.accounts.invitations import invitation_read
from backend.accounts.models import User
from backend.accounts.passkeys import passkey_challenge, passkey_claimed, passkey_use
from backend.accounts.passwords import password_reset_begin, password_reset_complete
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.second_factors import second_factors_get
from backend.accounts.sign_up import sign_up_begin, sign_up_complete
from backend.api import sso, throttling
from backend.api.authentication import AnonymousWithCsrf, SessionOnly
from backend.api.devices import device_remember
from backend.api.schemas.account import (
    AddressConfirm,
    CodeBody,
    Credential,
    EmailBody,
    LinkConfirm,
    LoginRequest,
    Me,
    PasskeyOptions,
    PasswordResetConfirm,
    SecondFactorNeeded,
    SentOut,
    SignedOut,
    SignupConfirm,
    SignupRequest,
)
from backend.api.schemas.teams import OfferOut
from backend.api.second_step import code_given
from backend.api.sign_in import (
    ADDRESS_ASKED,
    pending_user,
    require_pending_user,
    second_factor_pending,
    sign_in,
    sign_in_failed,
)
from backend.api.websocket import session_group
from backend.audit.actions import Action
from backend.enterprise.connections import password_is_refused
from backend.platform.database import in_database
from backend.platform.errors import AuthenticationFailed, PermissionDenied
from backend.platform.languages import asked_in

router = Router(tags=["account"])

_SIGNED_UP = "signed_up"  # in the session: which link needs no password here


@router.post("/signup", auth=AnonymousWithCsrf(), response={202: SentOut})
async def signup(request: HttpRequest, body: SignupRequest) -> Status:
    """Ask for an account: a link goes to the address, which makes it and an organization."""
    await throttling.count_signup(request)
    kept = await PASSWORD_THREADS.run(
        sign_up_begin,
        email=body.email,
        password=body.password,
        name=body.name,
        may_mail=await throttling.may_mail(request, body.email),
        invitation=body.invitation,
        language=asked_in(request),
    )
    await request.session.aset(_SIGNED_UP, kept)
    return Status(202, _sent())


@router.post("/signup/confirm", auth=AnonymousWithCsrf(), response=Me)
async def confirm_signup(request: HttpRequest, response: HttpResponse, body: SignupConfirm) -> Me:
    """Make the account of a sign-up's link, and sign in."""
    await throttling.count_link(request)
    user = await PASSWORD_THREADS.run(
        sign_up_complete,
        token=body.token,
        kept=await request.session.aget(_SIGNED_UP),
        password=body.password,
    )
    device_remember(request, response, user.email)
    return await sign_in(request, user)


@router.post("/invitation", auth=AnonymousWithCsrf(), response=OfferOut)
async def read_invitation(request: HttpRequest, body: LinkConfirm) -> OfferOut:
    """What the link of an invitation offers, before anybody has signed in."""
    await throttling.count_link(request)
    invitation = await in_database(invitation_read, token=body.token)
    return OfferOut(
        organization=invitation.organization.name,
        role=invitation.role,
        for_address=bool(invitation.email),
        expires_at=invitation.expires_at,
    )


@router.post("/login", auth=AnonymousWithCsrf(), response={200: Me, 202: SecondFactorNeeded})
async def login(request: HttpRequest, response: HttpResponse, body: LoginRequest) -> Status:
    """Sign in. The session's key and the CSRF token are new afterwards. 202 where the account has
    a second factor: the session waits ten minutes for it."""
    await throttling.count_login(request, body.email)
    user = await PASSWORD_THREADS.run(
        authenticate, request, username=body.email, password=body.password
    )
    if not isinstance(user, User):
        await sign_in_failed(email=body.email, why="wrong_credentials")
        raise AuthenticationFailed(
            "The e-mail address or the password is wrong.", code="wrong_credentials"
        )
    await throttling.forgive_login(request, body.email)
    await _require_verified(request, user)
    await _require_password_allowed(user)
    device_remember(request, response, user.email)
    if not await second_factor_pending(request, user):
        return Status(200, await sign_in(request, user))
    factors = await in_database(second_factors_get, user_id=user.pk)
    offered = {
        "totp": factors.totp,
        "webauthn": bool(factors.passkeys),
        "recovery_codes": bool(factors.recovery_codes),
    }
    needed = [name for name, has in offered.items() if has]
    return Status(202, SecondFactorNeeded.model_validate({"second_factor": needed}))


@router.post("/second-factor", auth=AnonymousWithCsrf(), response=Me)
async def second_factor(request: HttpRequest, body: CodeBody) -> Me:
    """A code of the authenticator app or a recovery code, after the right password."""
    user = await require_pending_user(request)
    factor = await code_given(user, body.code)
    if factor is None:
        await sign_in_failed(user=user, why="wrong_code")
        raise AuthenticationFailed("The code is wrong, or was used already.", code="wrong_code")
    return await sign_in(request, user, factor=factor)


@router.post("/passkey/options", auth=AnonymousWithCsrf(), response=PasskeyOptions)
async def passkey_options(request: HttpRequest) -> PasskeyOptions:
    """A challenge: for the user whose password was right, or for any user with a passkey."""
    await throttling.count_link(request)
    user = await pending_user(request)
    return PasskeyOptions(options=await in_database(passkey_challenge, request=request, user=user))


@router.post("/passkey", auth=AnonymousWithCsrf(), response=Me)
async def passkey(request: HttpRequest, response: HttpResponse, body: Credential) -> Me:
    """Sign in with a passkey, which is both factors."""
    await throttling.count_link(request)
    pending = await pending_user(request)
    try:
        user = await in_database(
            passkey_use, request=request, user=pending, credential=body.credential
        )
    except AuthenticationFailed:
        claimed = pending or await in_database(passkey_claimed, body.credential)
        await sign_in_failed(user=claimed, why="wrong_passkey")
        raise
    await _require_verified(request, user)
    await _require_password_allowed(user)
    device_remember(request, response, user.email)
    return await sign_in(request, user, factor="webauthn")


@router.post("/logout", auth=SessionOnly(gate=False), response={200: SignedOut, 204: None})
async def logout(request: AuthenticatedRequest) -> Status:
    """Sign out here; other tabs of this session leave. 200 where the browser should go on to sign
    out at its identity provider too."""
    session_key = request.session.session_key
    elsewhere = await sso.at_provider(request)
    await in_database(account_event_record, Action.LOGOUT_SUCCEEDED, user_id=request.auth.user_id)
    await alogout(request)
    if session_key:
        await get_channel_layer().group_send(session_group(session_key), {"type": "session.ended"})
    url = await sso.sign_out_url(elsewhere)
    return Status(200, SignedOut(url=url)) if url else Status(204, None)


@router.post("/password-reset", auth=AnonymousWithCsrf(), response={202: SentOut})
async def password_reset(request: HttpRequest, body: EmailBody) -> Status:
    """Mail a link to choose another password; the answer is the same for every address."""
    if await throttling.may_mail(request, body.email):
        await in_database(
            password_reset_begin,
            email=body.email,
            language=asked_in(request),
        )
    return Status(202, _sent())


@router.post("/password-reset/confirm", auth=AnonymousWithCsrf(), response={204: None})
async def confirm_password_reset(request: HttpRequest, body: PasswordResetConfirm) -> Status:
    """Choose another password; all sessions end. Signing in still asks for a second factor."""
    await throttling.count_link(request)
    await PASSWORD_THREADS.run(
        password_reset_complete,
        token=body.token,
        password=body.password,
        revoke_keys=body.revoke_keys,
    )
    return Status(204, None)


@router.post("/address/confirm", auth=AnonymousWithCsrf(), response={204: None})
async def confirm_address(request: HttpRequest, body: AddressConfirm) -> Status:
    """Do what the link in a mail to a new or unverified address says. It signs no user in. 403,
    `address_password_required`, in another browser than the one that asked for it."""
    await throttling.count_link(request)
    if body.password is not None:
        await throttling.count_link_password(body.token)
    await PASSWORD_THREADS.run(
        address_confirm,
        token=body.token,
        kept=await request.session.aget(ADDRESS_ASKED),
        password=body.password,
    )
    return Status(204, None)


@router.post("/address/stop", auth=AnonymousWithCsrf(), response={204: None})
async def stop_address_change(request: HttpRequest, body: LinkConfirm) -> Status:
    """Stop the change of address that the link in a mail to the old address is about."""
    await throttling.count_link(request)
    await in_database(address_change_stop, token=body.token)
    return Status(204, None)


async def _require_verified(request: HttpRequest, user: User) -> None:
    """Only after the right password: the answer shows that the account exists."""
    if await in_database(address_is_verified, user):
        return
    if await throttling.may_mail(request, user.email):
        kept = await in_database(address_verification_send, user=user)
        await request.session.aset(ADDRESS_ASKED, kept)
    raise PermissionDenied(
        f"Confirm your address first: we have sent a link to {user.email}.",
        code="address_unverified",
    )


async def _require_password_allowed(user: User) -> None:
    """Only after the right password, too."""
    if await in_database(password_is_refused, user=user):
        await sign_in_failed(user=user, why="sso_required")
        raise PermissionDenied(
            "Your organization signs in through its identity provider: choose single sign-on.",
            code="sso_required",
        )


def _sent() -> SentOut:
    return SentOut(local_outbox=not settings.EMAIL_HOST)
