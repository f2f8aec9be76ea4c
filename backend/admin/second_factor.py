"""`/admin/second-factor/`: staff give their second factor, or add their first one.

It opens after the right password of the last ten minutes, here or on the page. The first factor is
added only after the password at the admin's own sign-in. A session that an identity provider began
does not count.
"""

from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from backend.accounts.models import User
from backend.accounts.passkey_domain import page_name, passkeys_serve
from backend.accounts.passkeys import PASSKEYS_ELSEWHERE
from backend.accounts.second_factors import (
    second_factors_get,
    totp_activate,
    totp_begin,
    totp_seal,
    totp_shown,
    totp_unseal,
)
from backend.accounts.sessions import SSO_ORGANIZATION
from backend.admin.login import next_of
from backend.api import throttling
from backend.api.second_step import code_given
from backend.api.sign_in import (
    FACTOR,
    SIGNED_IN_AT,
    is_recent,
    pending_user,
    session_start,
    sign_in_failed,
)
from backend.platform.database import in_database
from backend.platform.errors import ParleyError

_ENROLMENT = "totp_enrolment"


async def second_factor(request: HttpRequest) -> HttpResponse:
    """The form, or an attempt."""
    next_page = next_of(request)
    pending = await pending_user(request)
    user = pending or await _signed_in_lately(request)
    if user is None or not user.is_staff:
        return HttpResponseRedirect("/admin/login/")
    factors = await in_database(second_factors_get, user_id=user.pk)
    if not factors.any:
        if pending is None:
            return HttpResponseRedirect("/admin/login/")
        return await _enrol(request, user, next_page)
    error = ""
    if request.method == "POST":
        try:
            factor = await code_given(user, request.POST.get("code", "")[:40])
        except ParleyError as refused:
            return await _page(request, {"error": refused.message}, status=refused.status)
        if factor is not None:
            if pending is not None:
                await session_start(request, user, factor=factor)
            else:
                await request.session.aset(FACTOR, factor)
            return HttpResponseRedirect(next_page)
        error = "The code is wrong, or was used already."
        await sign_in_failed(user=user, why="wrong_code")
    serve = passkeys_serve(request.get_host())
    offered = {
        "codes": factors.totp or factors.recovery_codes,
        "passkeys": factors.passkeys and serve,
        "elsewhere": PASSKEYS_ELSEWHERE.format(page_name())
        if factors.passkeys and not serve
        else "",
    }
    return await _page(request, {**offered, "error": error, "next": next_page})


async def _enrol(request: HttpRequest, user: User, next_page: str) -> HttpResponse:
    """An authenticator app is added, then the recovery codes are shown, then the admin opens."""
    sealed = await request.session.aget(_ENROLMENT)
    if sealed is None:
        enrolment = await in_database(totp_begin, user=user)
        await request.session.aset(_ENROLMENT, totp_seal(enrolment.secret))
    else:
        enrolment = await in_database(totp_shown, user=user, secret=totp_unseal(sealed))
    shown: dict[str, Any] = {"enrolment": enrolment, "next": next_page}
    if request.method != "POST":
        return await _page(request, shown)
    try:
        await throttling.count_code(user.pk)
        codes = await in_database(
            totp_activate,
            user=user,
            secret=enrolment.secret,
            code=request.POST.get("code", "")[:40],
        )
    except ParleyError as refused:
        return await _page(request, {**shown, "error": refused.message}, status=refused.status)
    await throttling.forgive_codes(user.pk)
    await session_start(request, user, factor="totp")  # a new session, without the secret
    return await _page(request, {"recovery_codes": codes, "next": next_page})


async def _signed_in_lately(request: HttpRequest) -> User | None:
    user = await request.auser()
    if not isinstance(user, User) or await request.session.aget(SSO_ORGANIZATION):
        return None
    return user if is_recent(await request.session.aget(SIGNED_IN_AT)) else None


async def _page(
    request: HttpRequest, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    def rendered() -> HttpResponse:
        everywhere = admin.site.each_context(request)
        response = render(
            request, "admin/second_factor.html", {**everywhere, **context}, status=status
        )
        response.headers["Cache-Control"] = "no-store"  # secrets and codes are on it
        return response

    return await sync_to_async(rendered)()
