"""`/api/me/…`: what keeps the signed-in person's account safe.

What changes it needs a sign-in of the last ten minutes (`POST /reauthenticate` renews it), is
counted by user, and is mailed to them. No API key opens any of it.
"""

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, alogout
from django.http import HttpResponse
from ninja import Router, Status

from backend.accounts.account_events import account_event_record
from backend.accounts.addresses import address_change_begin
from backend.accounts.hashing import PASSWORD_THREADS
from backend.accounts.models import User
from backend.accounts.passkeys import passkey_add, passkey_begin, passkey_challenge, passkey_use
from backend.accounts.passwords import password_change
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.second_factors import (
    has_second_factor,
    passkey_remove,
    recovery_codes_renew,
    second_factors_get,
    totp_activate,
    totp_begin,
    totp_remove,
    totp_seal,
    totp_unseal,
)
from backend.accounts.sessions import session_end, sessions_end, sessions_list
from backend.api import throttling
from backend.api.authentication import SessionOnly
from backend.api.devices import device_remember
from backend.api.schemas.account import (
    CodeBody,
    Credential,
    EmailBody,
    PasskeyCreate,
    PasskeyOptions,
    PasswordBody,
    Reauthentication,
    RecoveryCodesOut,
    SecurityOut,
    SentOut,
    SessionListOut,
    SessionOut,
    TotpOut,
)
from backend.api.second_step import code_given
from backend.api.session_devices import session_note
from backend.api.sign_in import (
    ADDRESS_ASKED,
    FACTOR,
    SIGNED_IN_AT,
    is_confined,
    is_recent,
    may_act_elsewhere,
    may_change,
    proof_note,
    sign_in_failed,
)
from backend.audit.actions import Action
from backend.platform.database import in_database
from backend.platform.errors import AuthenticationFailed, InvalidRequest

router = Router(tags=["account"], auth=SessionOnly(gate=False))

_TOTP = "totp_enrolment"  # in the session: the sealed secret, and since when


@router.get("/security", response=SecurityOut)
async def security(request: AuthenticatedRequest) -> SecurityOut:
    """The second factors, without their secrets."""
    factors = await in_database(second_factors_get, user_id=request.auth.user_id)
    proven = not factors.any or bool(await request.session.aget(FACTOR))
    return SecurityOut.model_validate(
        {
            "totp": factors.totp,
            "recovery_codes": factors.recovery_codes,
            "passkeys": factors.passkeys,
            "recent_sign_in": proven and is_recent(await request.session.aget(SIGNED_IN_AT)),
        }
    )


@router.post("/reauthenticate", response={204: None})
async def reauthenticate(request: AuthenticatedRequest, body: Reauthentication) -> Status:
    """The password again, and a code where the account has a second factor, before something of the
    account's security changes."""
    user = await _user(request)
    await throttling.count_code(user.pk)
    # Not 401: the session is good, and the page would leave it.
    if not await PASSWORD_THREADS.run(user.check_password, body.password):
        raise InvalidRequest("The password is wrong.", param="password", code="wrong_credentials")
    await throttling.forgive_codes(user.pk)
    factor = None
    if await in_database(has_second_factor, user_id=user.pk):
        factor = await code_given(user, body.code) if body.code else None
        if factor is None:
            await sign_in_failed(user=user, why="wrong_code")
            raise InvalidRequest(
                "Give a code of your authenticator app, or a recovery code, that was not used"
                " before.",
                param="code",
                code="wrong_code",
            )
    await proof_note(request, factor)
    return Status(204, None)


@router.post("/reauthenticate/passkey/options", response=PasskeyOptions)
async def begin_passkey_proof(request: AuthenticatedRequest) -> PasskeyOptions:
    """A challenge for one of the person's passkeys, which proves both factors."""
    user = await _user(request)
    return PasskeyOptions(options=await in_database(passkey_challenge, request=request, user=user))


@router.post("/reauthenticate/passkey", response={204: None})
async def reauthenticate_by_passkey(request: AuthenticatedRequest, body: Credential) -> Status:
    """As `reauthenticate`, by a passkey alone."""
    user = await _user(request)
    await throttling.count_code(user.pk)
    try:
        await in_database(passkey_use, request=request, user=user, credential=body.credential)
    except AuthenticationFailed as refused:
        await sign_in_failed(user=user, why="wrong_passkey")
        raise InvalidRequest(refused.message, param="credential", code="wrong_passkey") from None
    await throttling.forgive_codes(user.pk)
    await proof_note(request, "webauthn")
    return Status(204, None)


@router.post("/password", response={204: None})
async def change_password(
    request: AuthenticatedRequest, response: HttpResponse, body: PasswordBody
) -> Status:
    """Choose another password. Every other session ends."""
    await may_change(request, request.auth.user_id)
    user = await PASSWORD_THREADS.run(
        password_change,
        user_id=request.auth.user_id,
        password=body.password,
        session_key=request.session.session_key,
    )
    # As Django's aupdate_session_auth_hash, which asks for request.user and so for the database.
    await request.session.acycle_key()
    await request.session.aset(HASH_SESSION_KEY, user.get_session_auth_hash())
    await session_note(request, user)
    device_remember(request, response, user.email)
    return Status(204, None)


@router.post("/email", response={202: SentOut})
async def change_email(request: AuthenticatedRequest, body: EmailBody) -> Status:
    """Ask for another address: a link goes there, and one that stops it to the old address."""
    await may_change(request, request.auth.user_id)
    if await throttling.may_mail(request, body.email):
        kept = await in_database(
            address_change_begin, user_id=request.auth.user_id, email=body.email
        )
        await request.session.aset(ADDRESS_ASKED, kept)
    return Status(202, SentOut(local_outbox=not settings.EMAIL_HOST))


@router.post("/totp", response=TotpOut)
async def begin_totp(request: AuthenticatedRequest) -> TotpOut:
    """A secret for an authenticator app; it counts from `PUT` with its first code on."""
    await may_change(request, request.auth.user_id)
    enrolment = await in_database(totp_begin, user=await _user(request))
    await request.session.aset(_TOTP, totp_seal(enrolment.secret))
    return TotpOut.model_validate(enrolment)


@router.put("/totp", response=RecoveryCodesOut)
async def activate_totp(request: AuthenticatedRequest, body: CodeBody) -> RecoveryCodesOut:
    """The app's first code: from now on signing in asks for one."""
    await may_change(request, request.auth.user_id)
    sealed = await request.session.aget(_TOTP)
    if sealed is None:
        raise InvalidRequest("Begin with POST /api/me/totp.", param="code")
    user = await _user(request)
    await throttling.count_code(user.pk)
    codes = await in_database(totp_activate, user=user, secret=totp_unseal(sealed), code=body.code)
    await throttling.forgive_codes(user.pk)
    await request.session.apop(_TOTP, None)
    await request.session.aset(FACTOR, "totp")
    return RecoveryCodesOut(recovery_codes=codes)


@router.delete("/totp", response={204: None})
async def remove_totp(request: AuthenticatedRequest) -> Status:
    """Remove the authenticator app."""
    await may_change(request, request.auth.user_id)
    await in_database(totp_remove, user=await _user(request))
    return Status(204, None)


@router.post("/recovery-codes", response=RecoveryCodesOut)
async def renew_recovery_codes(request: AuthenticatedRequest) -> RecoveryCodesOut:
    """Ten other recovery codes; the earlier ones work no longer."""
    await may_change(request, request.auth.user_id)
    codes = await in_database(recovery_codes_renew, user=await _user(request))
    return RecoveryCodesOut(recovery_codes=codes)


@router.post("/passkeys/options", response=PasskeyOptions)
async def begin_passkey(request: AuthenticatedRequest) -> PasskeyOptions:
    """A challenge to make a passkey with."""
    await may_change(request, request.auth.user_id)
    options = await in_database(passkey_begin, request=request, user=await _user(request))
    return PasskeyOptions(options=options)


@router.post("/passkeys", response={201: RecoveryCodesOut})
async def add_passkey(request: AuthenticatedRequest, body: PasskeyCreate) -> Status:
    """Keep the passkey that was made."""
    await may_change(request, request.auth.user_id)
    codes = await in_database(
        passkey_add,
        request=request,
        user=await _user(request),
        name=body.name,
        credential=body.credential,
    )
    await request.session.aset(FACTOR, "webauthn")
    return Status(201, RecoveryCodesOut(recovery_codes=codes))


@router.delete("/passkeys/{int:passkey_id}", response={204: None})
async def remove_passkey(request: AuthenticatedRequest, passkey_id: int) -> Status:
    """Remove a passkey; the device may keep its half, which opens nothing any more."""
    await may_change(request, request.auth.user_id)
    await in_database(passkey_remove, user=await _user(request), passkey_id=passkey_id)
    return Status(204, None)


@router.get("/sessions", response=SessionListOut)
async def list_sessions(request: AuthenticatedRequest) -> SessionListOut:
    """Where one is signed in, the last used first; the newest hundred. A session of an identity
    provider sees itself alone, where the account has other organizations."""
    rows = await in_database(sessions_list, user_id=request.auth.user_id)
    here = request.session.session_key
    if await is_confined(request, request.auth.user_id):
        rows = [row for row in rows if row.session_key == here]
    return SessionListOut(
        data=[
            SessionOut(
                id=row.pk,
                ip=row.ip,
                user_agent=row.user_agent,
                created_at=row.created_at,
                last_seen_at=row.last_seen_at,
                current=row.session_key == here,
            )
            for row in rows
        ]
    )


@router.delete("/sessions", response={204: None})
async def end_sessions(request: AuthenticatedRequest) -> Status:
    """Sign out everywhere, here too. What is open elsewhere closes within seconds."""
    await may_act_elsewhere(request, request.auth.user_id)
    await in_database(sessions_end, user_id=request.auth.user_id)
    await in_database(
        account_event_record,
        Action.SESSION_ENDED,
        user_id=request.auth.user_id,
        details={"which": "all"},
    )
    await alogout(request)
    return Status(204, None)


@router.delete("/sessions/{int:session_id}", response={204: None})
async def end_session(request: AuthenticatedRequest, session_id: int) -> Status:
    """Sign one device out."""
    await may_act_elsewhere(request, request.auth.user_id)
    await in_database(session_end, user_id=request.auth.user_id, session_id=session_id)
    await in_database(
        account_event_record,
        Action.SESSION_ENDED,
        user_id=request.auth.user_id,
        details={"which": str(session_id)},
    )
    return Status(204, None)


async def _user(request: AuthenticatedRequest) -> User:
    """The signed-in person; SessionOnly has loaded them already."""
    user = await request.auser()
    if not isinstance(user, User):  # for type checkers
        raise AuthenticationFailed("You are not signed in.", code="not_signed_in")
    return user
