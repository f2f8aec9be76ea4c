"""Middleware of the web process. Every class runs natively async.

Django's own classes adapt each hook through the thread-sensitive executor when they run under
ASGI: a thread hop per hook and request. Their hooks do no I/O except the session's save, so
here they are called directly, and the save is awaited (tests/api/test_middleware.py).
"""

import re
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

import structlog
from asgiref.sync import markcoroutinefunction
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.http import http_date

from backend.api import metrics
from backend.api.admin_host import host_serves
from backend.api.context import REQUEST_ID_HEADER, header_of, request_id_from
from backend.api.request_logs.note import request_note
from backend.api.response_headers import add_missing
from backend.api.security import headers_for
from backend.audit.context import origin_set
from backend.generation.stations import SERVER_TIMING
from backend.platform.encryption import django_keys_follow
from backend.platform.metrics import series
from backend.platform.received import received

NextLayer = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

_PARAMETER = re.compile(r"<(?:(\w+):)?\w+>")
_IDS = {"uuid", "uuidstr", "int"}

access_log = structlog.get_logger("parley.access")


class RequestContextMiddleware:
    """Names the request, and accounts for it once: one log line, one set of metrics."""

    async_capable = True
    sync_capable = False

    def __init__(self, get_response: NextLayer) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        django_keys_follow()
        request_id = request_id_from(header_of(request, REQUEST_ID_HEADER))
        request.request_id = request_id  # type: ignore[attr-defined]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        origin_set(
            address=request.META.get("REMOTE_ADDR", ""),
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
        )
        came = received()
        started = time.perf_counter()
        metrics.IN_FLIGHT.inc()
        try:
            response = await self.get_response(request)
        except BaseException:
            # Only a client that left before there was a response gets here: Django has
            # turned every other exception into a response below this class.
            _account(request, None, started=started)
            raise
        response.headers[REQUEST_ID_HEADER] = request_id
        _note_time(response, time.monotonic() - came.at)
        # The ASGI handler closes a response after its last byte, or after a disconnect.
        response._resource_closers.append(  # type: ignore[attr-defined]
            lambda: _account(request, response, started=started)
        )
        return response


def _note_time(response: HttpResponseBase, seconds: float) -> None:
    """What is known when the headers are sent, and how long that took in all."""
    known = response.headers.get(SERVER_TIMING)
    total = f"total;dur={seconds * 1000:.2f}"
    response.headers[SERVER_TIMING] = f"{known}, {total}" if known else total


def _account(request: HttpRequest, response: HttpResponseBase | None, *, started: float) -> None:
    seconds = time.perf_counter() - started
    status = 499 if response is None else response.status_code
    request_note(request, response, status=status, seconds=seconds)
    method, route = metrics.method_label(request), metrics.route_label(request)
    metrics.IN_FLIGHT.dec()
    series(metrics.REQUESTS, method, route, str(status)).inc()
    series(metrics.DURATION, method, route).observe(seconds)
    principal = getattr(request, "auth", None)
    access_log.info(
        "request",
        request_id=request.request_id,  # type: ignore[attr-defined]
        method=method,
        route=route,
        path=_logged_path(request, route),
        status=status,
        error_code=getattr(response, "error_code", None),
        duration_ms=round(seconds * 1000, 1),
        organization_id=str(getattr(principal, "organization_id", "")) or None,
        key_id=str(getattr(principal, "key_id", None) or "") or None,
        client=request.META.get("REMOTE_ADDR"),
    )


def _logged_path(request: HttpRequest, route: str) -> str:
    """The path where it is its route's own words and ids; else the route. Any other text in a path
    may be a secret, as the token of a shared conversation is."""
    kinds = _PARAMETER.findall(route)
    has_ids = bool(kinds) and all(kind in _IDS for kind in kinds)
    return request.path if has_ids or route == request.path else route


class SecurityHeadersMiddleware:
    """Sets the security headers of backend/api/security.py, and refuses unknown hosts and what a
    host does not serve (admin_host.py).

    The host is checked here for every path but the probes, which an orchestrator calls by
    address: nothing below may build a URL from a forged Host.
    """

    async_capable = True
    sync_capable = False
    probes = frozenset({"/healthz", "/readyz", "/metrics"})

    def __init__(self, get_response: NextLayer) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase
        if request.path in self.probes or host_serves(request.get_host(), request.path):
            response = await self.get_response(request)
        else:
            response = HttpResponseNotFound(content_type="text/plain")
        add_missing(response, headers_for(request.path))
        return response


class AsyncSessionMiddleware(SessionMiddleware):
    """Django's sessions, loaded when first used and saved without a thread hop."""

    sync_capable = False
    get_response: NextLayer

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        self.process_request(request)  # builds an empty store; loads nothing
        response = await self.get_response(request)
        session = request.session
        cookie_sent = settings.SESSION_COOKIE_NAME in request.COOKIES
        if cookie_sent and session.is_empty():
            response.delete_cookie(settings.SESSION_COOKIE_NAME, **_cookie_scope())
            patch_vary_headers(response, ("Cookie",))
            return response
        if session.accessed:
            patch_vary_headers(response, ("Cookie",))
        if session.modified and not session.is_empty() and response.status_code < 500:
            await _save_session(session)
            max_age = await session.aget_expiry_age()
            response.set_cookie(
                settings.SESSION_COOKIE_NAME,
                session.session_key or "",
                max_age=max_age,
                expires=http_date(time.time() + max_age),
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=settings.SESSION_COOKIE_HTTPONLY,
                **_cookie_scope(),
            )
        return response


def _cookie_scope() -> dict[str, Any]:
    return {
        "path": settings.SESSION_COOKIE_PATH,
        "domain": settings.SESSION_COOKIE_DOMAIN,
        "samesite": settings.SESSION_COOKIE_SAMESITE,
    }


async def _save_session(session: Any) -> None:
    try:
        await session.asave()
    except UpdateError as error:
        raise SessionInterrupted(
            "The session ended in another request while this one ran."
        ) from error


class AsyncCsrfViewMiddleware(CsrfViewMiddleware):
    """Django's CSRF check for its own views (the admin).

    Ninja's views are exempt here; their session authentication calls `csrf_failure_reason`,
    after it knows that the caller came with a cookie and not with a key.
    """

    sync_capable = False
    get_response: NextLayer

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        self.process_request(request)
        response = await self.get_response(request)
        return self.process_response(request, response)

    async def process_view(  # type: ignore[override]
        self, request: HttpRequest, callback: Any, callback_args: Any, callback_kwargs: Any
    ) -> HttpResponseBase | None:
        return super().process_view(request, callback, callback_args, callback_kwargs)


class AsyncAuthenticationMiddleware(AuthenticationMiddleware):
    """`request.user` for the admin, `request.auser()` for everything async; both lazy."""

    sync_capable = False
    get_response: NextLayer

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        self.process_request(request)
        return await self.get_response(request)


class AdminOnlyMessageMiddleware(MessageMiddleware):
    """Django's flash messages, which only the admin uses and which read the session."""

    sync_capable = False
    get_response: NextLayer

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith("/admin/"):
            return await self.get_response(request)
        self.process_request(request)
        response = await self.get_response(request)
        return self.process_response(request, cast(HttpResponse, response))
