"""Every URL of the site. What no other route answers is the page's."""

import asyncio
from importlib import import_module

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import RedirectView

from backend.admin.login import login
from backend.admin.second_factor import second_factor
from backend.api import app_files, health, views
from backend.api.application import api
from backend.api.outbox import outbox

admin.autodiscover()  # see AdminConfig


@csrf_exempt  # a bearer token, and no cookie is looked at
async def scim(request: HttpRequest, path: str) -> HttpResponse:
    """Imported when a directory first asks: its library reads its own source for its models' words,
    which took each process half a second at its start."""
    view = await asyncio.to_thread(import_module, "backend.api.scim")
    response: HttpResponse = await view.answer(request, path)
    return response


urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("robots.txt", views.robots),
    path("service-worker.js", views.service_worker),
    path("manifest.webmanifest", app_files.manifest),
    path("outbox", outbox),
    path("ws/events", views.socket_only),
    path("openapi.json", views.openapi_document),
    path("docs", views.reference),
    path("frames/diagram", views.frame),
    path("frames/artifact", views.frame),
    path("frames/python", views.frame),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/login/", login),
    path("admin/second-factor/", second_factor),
    path("admin/", admin.site.urls),
    path("api/scim/v2/<path:path>", scim),
    path("", views.page),  # before ninja, which would claim the root for itself
    path("", api.urls),
    re_path(r"^(?:api|v1)(?:/|$)", views.api_not_found),
    re_path(r"", views.page),
]

handler400 = views.bad_request
handler403 = views.permission_denied
handler404 = views.not_found
handler500 = views.server_error
