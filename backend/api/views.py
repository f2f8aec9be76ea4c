"""Answers that are not the API's: the page, its robots file, the API reference, last resorts."""

import asyncio
import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from backend.api.app_files import document_for
from backend.api.application import api
from backend.api.errors import InternalError, error_response
from backend.api.security import ARTIFACT_PATH, DIAGRAM_PATH, PYTHON_PATH
from backend.platform.errors import InvalidRequest, NotFound, PermissionDenied

_BUILT = settings.BASE_DIR / "backend" / "static" / "app"
INDEX_FILE = _BUILT / "index.html"
_FRAME_FILES = {
    DIAGRAM_PATH: _BUILT / "diagram" / "diagram.html",
    ARTIFACT_PATH: _BUILT / "artifact" / "artifact.html",
    PYTHON_PATH: _BUILT / "python" / "python.html",
}
SERVICE_WORKER_FILE = _BUILT / "service-worker.js"

_API_PREFIXES = ("/api/", "/v1/")
# A last path segment with an extension names a file, and files live under /static/.
_FILE_PATH = re.compile(r"(^/static/|\.[A-Za-z0-9]{1,8}$)")

NOT_BUILT = (
    "The page is not built yet. Run `make run`, which builds it, or `make frontend`."
    " The API works without it.\n"
)


@csrf_exempt  # it changes nothing: a POST is refused as such, and not for want of a token
async def page(request: HttpRequest) -> HttpResponse:
    """The single-page app, for every GET that no other route answers; sets the CSRF cookie."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    if _FILE_PATH.search(request.path):
        return plain_not_found()
    get_token(request)
    if not INDEX_FILE.is_file():
        return _built(INDEX_FILE)
    response = HttpResponse(
        document_for(request, INDEX_FILE), headers={"Cache-Control": "no-cache"}
    )
    patch_vary_headers(response, ["Accept-Language"])
    if request.path.startswith("/share/"):
        response.headers["X-Robots-Tag"] = "noindex"
    return response


@csrf_exempt  # as the page
async def frame(request: HttpRequest) -> HttpResponse:
    """A frame for what a model has written (frontend/src/*-frame), for anyone."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    return _built(_FRAME_FILES[request.path])


@csrf_exempt  # as the page
async def service_worker(request: HttpRequest) -> HttpResponse:
    """The page's service worker, at the root: what lies there may reach the whole site."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    return _built(SERVICE_WORKER_FILE, "text/javascript; charset=utf-8")


def _built(file: Path, content_type: str = "text/html; charset=utf-8") -> HttpResponse:
    if not file.is_file():
        return HttpResponse(NOT_BUILT, status=503, content_type="text/plain; charset=utf-8")
    content = _read(file, file.stat().st_mtime_ns)
    return HttpResponse(content, content_type, headers={"Cache-Control": "no-cache"})


@lru_cache(maxsize=8)
def _read(file: Path, modified_ns: int) -> bytes:
    """The file's bytes, read again only when it has changed."""
    return file.read_bytes()


async def robots(request: HttpRequest) -> HttpResponse:
    """The page may be found, with its sign-in; what is behind is private. Shared conversations may
    be read by whoever has the link, crawlers too, which are told there to list none of them."""
    rules = "".join(f"Disallow: {prefix}\n" for prefix in ("/api/", "/v1/", "/admin/", "/outbox"))
    return HttpResponse(f"User-agent: *\n{rules}", content_type="text/plain")


async def socket_only(request: HttpRequest) -> HttpResponse:
    """Answer a plain request for the page's socket with 426 (RFC 9110, section 15.5.22)."""
    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
    text = "This address is a WebSocket.\n"
    return HttpResponse(text, status=426, content_type="text/plain", headers=headers)


@csrf_exempt
async def api_not_found(request: HttpRequest) -> HttpResponse:
    """An API path that does not exist."""
    if request.path.startswith("/v1/realtime"):
        return error_response(
            InvalidRequest(
                "The Realtime API ('/v1/realtime') is not supported by this server. Use"
                " /v1/chat/completions or /v1/responses with 'stream'.",
                code="unsupported_endpoint",
            )
        )
    if request.path.startswith("/v1/organization/certificates"):
        return error_response(
            InvalidRequest(
                "Client certificates ('/v1/organization/certificates') are not supported by this"
                " server. Restrict the networks that a key may be used from instead.",
                code="unsupported_endpoint",
            )
        )
    return error_response(
        NotFound(
            f"Unknown request URL: {request.method} {request.path}. The routes are listed at"
            f" {settings.PUBLIC_URL}/docs.",
            code="unknown_url",
        )
    )


@require_safe
async def openapi_document(request: HttpRequest) -> HttpResponseBase:
    """The OpenAPI schema of the whole API, built once by each process."""
    document = await asyncio.to_thread(api.document)
    headers = {"ETag": document.etag, "Cache-Control": "no-cache"}
    response = HttpResponse(document.body, content_type="application/json", headers=headers)
    return get_conditional_response(request, etag=document.etag, response=response) or response


async def reference(request: HttpRequest) -> HttpResponse:
    """The API reference, with Swagger UI from our own origin."""
    get_token(request)
    context = {
        "stylesheet": static("ninja/swagger-ui.css"),
        "bundle": static("ninja/swagger-ui-bundle.js"),
        "start": static("api/reference.js"),
    }
    return render(request, "api/reference.html", context)


def plain_not_found() -> HttpResponse:
    return HttpResponse("Not found.\n", status=404, content_type="text/plain")


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith(_API_PREFIXES)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's own views (the admin) answer a failed CSRF check with this."""
    error = PermissionDenied(f"{reason} Reload the page and try again.", code="csrf_failed")
    return error_response(error)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400: a forged Host, a malformed body of a Django view."""
    return error_response(InvalidRequest("The request is malformed, or its Host is not ours."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler403."""
    return error_response(PermissionDenied("You may not do this."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404."""
    return error_response(NotFound("It does not exist.")) if _is_api(request) else plain_not_found()


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500: the log has the cause under the request id."""
    return error_response(
        InternalError("Something went wrong on our side. Report the X-Request-Id of this answer.")
    )
