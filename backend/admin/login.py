"""The staff's sign-in: Django's own view, behind the same throttle and the same bound on hashes as
the page's. Without a second factor so far (docs/operations.md says how to keep it private)."""

from asgiref.sync import sync_to_async
from django.contrib import admin
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest, HttpResponse

from backend.accounts.hashing import PASSWORD_THREADS
from backend.api import throttling
from backend.api.devices import device_remember
from backend.platform.errors import Overloaded, ParleyError, RateLimited


async def login(request: HttpRequest) -> HttpResponse:
    """`/admin/login/`: the form, or an attempt. Refused attempts show the form and say when."""
    if request.method != "POST":
        return await sync_to_async(_login)(request)
    email = request.POST.get("username", "")
    try:
        await throttling.count_login(request, email)
        response = await PASSWORD_THREADS.run(_login, request)
    except (RateLimited, Overloaded) as error:
        return await sync_to_async(_refusal)(request, error)
    if response.status_code == 302:  # anything else is the form with what was wrong
        await throttling.forgive_login(request, email)
        device_remember(request, response, email)
    return response


def _login(request: HttpRequest, **extra_context: object) -> HttpResponse:
    return admin.site.login(request, extra_context=extra_context)


def _refusal(request: HttpRequest, error: ParleyError) -> HttpResponse:
    request.method = "GET"  # the empty form: what was sent is not looked at
    response = _login(request, messages=[Message(constants.ERROR, error.message)])
    response.status_code = error.status
    for name, value in error.response_headers().items():
        response.headers[name] = value
    return response
