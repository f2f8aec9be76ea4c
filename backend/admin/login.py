"""The staff's sign-in: password, then a second factor, as on the page and under the same limits.

Staff without a second factor get no further than the page that adds one (second_factor.py); there
is no setting to go without. So the first operator, whom `make run` creates with a password, adds
an authenticator app on the first visit to the admin.
"""

from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme

from backend.accounts.hashing import PASSWORD_THREADS
from backend.accounts.models import User
from backend.accounts.second_factors import has_second_factor
from backend.admin.site import is_sso_session
from backend.api import throttling
from backend.api.devices import device_remember
from backend.api.sign_in import (
    SIGNED_IN_AT,
    is_recent,
    second_factor_await,
    sign_in_failed,
)
from backend.platform.errors import Overloaded, ParleyError, RateLimited

HOME = "/admin/"
SECOND_FACTOR = "/admin/second-factor/"
_WRONG = "The e-mail address or the password is wrong, or the account is not one of the staff's."


async def login(request: HttpRequest) -> HttpResponse:
    """`/admin/login/`: the form, or an attempt. Refused attempts show the form and say why."""
    if request.method != "POST":
        return await sync_to_async(_entry)(request)
    email = request.POST.get("username", "")
    try:
        await throttling.count_login(request, email)
        user = await PASSWORD_THREADS.run(_authenticated, request)
    except (RateLimited, Overloaded) as error:
        return await sync_to_async(_refusal)(request, error)
    if user is None:
        await sign_in_failed(email=email, why="wrong_credentials")
        return await sync_to_async(_form)(request, _WRONG)
    await throttling.forgive_login(request, email)
    next_page = next_of(request)
    await second_factor_await(request, user)
    response = to_second_factor(next_page)
    device_remember(request, response, email)
    return response


def to_second_factor(next_page: str) -> HttpResponse:
    return HttpResponseRedirect(f"{SECOND_FACTOR}?{urlencode({'next': next_page})}")


def next_of(request: HttpRequest) -> str:
    """Where a form leads in the end: a page of ours, or the admin's first."""
    wanted = request.POST.get("next") or request.GET.get("next") or HOME
    is_ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()})
    return wanted if is_ours else HOME


def _entry(request: HttpRequest) -> HttpResponse:
    """The form; straight to the second factor for staff who have signed in on the page lately."""
    user = request.user
    needs_factor = (
        user.is_active
        and user.is_staff
        and not is_sso_session(request)
        and not admin.site.has_permission(request)
        and has_second_factor(user_id=user.pk)
    )
    if needs_factor and is_recent(request.session.get(SIGNED_IN_AT)):
        return to_second_factor(next_of(request))
    return admin.site.login(request)


def _authenticated(request: HttpRequest) -> User | None:
    form = AdminAuthenticationForm(request, data=request.POST)
    user = form.get_user() if form.is_valid() else None
    return user if isinstance(user, User) else None


def _form(request: HttpRequest, message: str) -> HttpResponse:
    request.method = "GET"  # the empty form: what was sent is not looked at
    return admin.site.login(
        request, extra_context={"messages": [Message(constants.ERROR, message)]}
    )


def _refusal(request: HttpRequest, error: ParleyError) -> HttpResponse:
    response = _form(request, error.message)
    response.status_code = error.status
    for name, value in error.response_headers().items():
        response.headers[name] = value
    return response
